import pytest

from engines.batching.health import Health
from engines.errors import Unavailable

pytestmark = pytest.mark.unit

FAULT = Unavailable("no answer", hint="wait")


def down() -> Health:
    health = Health("health-test")
    for _ in range(3):
        health.faulted(FAULT, 100.0)
    return health


def test_three_faults_in_a_row_mark_an_engine_down() -> None:
    assert down().fault is FAULT


def test_a_good_call_between_them_starts_the_count_anew() -> None:
    health = Health("health-test")
    for _ in range(5):
        health.faulted(FAULT, 0.0)
        health.faulted(FAULT, 0.0)
        health.answered()
    assert health.fault is None


def test_probes_come_later_each_time_up_to_a_minute() -> None:
    health = down()
    waits, now = [], 100.0
    for _ in range(6):
        waits.append(health.probe_at - now)
        now = health.probe_at
        health.probed(FAULT, now)
    assert waits == [5, 10, 20, 40, 60, 60]


def test_a_good_probe_brings_it_back_and_the_next_trouble_starts_from_the_first_wait() -> None:
    health = down()
    health.probed(FAULT, 105.0)
    health.probed(None, 115.0)
    assert health.fault is None
    for _ in range(3):
        health.faulted(FAULT, 200.0)
    assert health.probe_at == 205.0


def test_a_late_answer_of_an_engine_that_is_down_does_not_bring_it_back() -> None:
    health = down()
    health.answered()
    assert health.fault is FAULT
