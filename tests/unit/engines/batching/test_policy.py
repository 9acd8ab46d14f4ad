import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.batching.policy import AskAgain, BatchingSettings, BatchPolicy, Pace, Run
from engines.batching.ticket import Tier
from engines.engine import Capacity

pytestmark = pytest.mark.unit


def policy(max_batch: int, *preferred: int, delay_s: float = 0.005) -> BatchPolicy:
    settings = BatchingSettings(preferred_batch_size=preferred, max_queue_delay_microseconds=round(delay_s * 1e6))
    return BatchPolicy(settings, Capacity(max_batch=max_batch, concurrency=1))


@pytest.mark.parametrize("preferred", [(), (4, 8)])
def test_an_engine_of_one_row_a_call_never_waits(preferred: tuple[int, ...]) -> None:
    assert policy(1, *preferred).decide(3, since=0.0, now=0.0) == Run(1)


def test_a_full_call_runs_at_once() -> None:
    assert policy(32).decide(40, since=0.0, now=0.0) == Run(32)


def test_rows_wait_for_company_and_run_when_the_delay_is_over() -> None:
    assert policy(32).decide(3, since=1.0, now=1.001) == AskAgain(1.005)
    assert policy(32).decide(3, since=1.0, now=1.005) == Run(3)


def test_a_row_that_comes_alone_does_not_wait_while_rows_are_rare() -> None:
    rare = policy(32)
    for at in (0.0, 0.4, 0.9):
        rare.arrived(at)
    assert rare.decide(1, since=0.9, now=0.9) == Run(1)


def test_rows_wait_again_once_they_come_thick() -> None:
    busy = policy(32)
    for at in (0.0, 0.5, 1.0, *(1.0 + 0.001 * number for number in range(1, 40))):
        busy.arrived(at)
    assert busy.decide(7, since=1.038, now=1.039) == AskAgain(1.043)


def test_the_largest_preferred_size_that_is_there_runs_at_once() -> None:
    assert policy(32, 4, 8, 64).decide(11, since=0.0, now=0.0) == Run(8)


@given(
    st.integers(1, 64), st.lists(st.integers(1, 64), max_size=3), st.integers(1, 200), st.floats(0, 1), st.floats(0, 2)
)
def test_a_call_never_exceeds_what_waits_or_fits_and_no_row_waits_beyond_the_delay(
    max_batch: int, preferred: list[int], waiting: int, delay_s: float, now: float
) -> None:
    decision = policy(max_batch, *preferred, delay_s=delay_s).decide(waiting, since=0.0, now=now)
    if isinstance(decision, Run):
        assert 1 <= decision.rows <= min(waiting, max_batch)
    else:
        assert now < decision.at <= delay_s + 1e-6  # the delay is set in whole microseconds


def test_the_usual_time_is_what_nine_calls_in_ten_kept_to_lately() -> None:
    pace = Pace()
    assert pace.usual_s == 0.0
    for took_s in [9.0] * 5 + [0.1] * 28 + [0.5] * 4:
        pace.observe(took_s)
    assert pace.usual_s == 0.5
    for _ in range(32):
        pace.observe(0.1)
    assert pace.usual_s == 0.1


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_queue_delay_microseconds": -1},
        {"max_queue_size": 0},
        {"premium_weight": 0},
        {"preferred_batch_size": [0]},
        {"x": 1},
    ],
)
def test_settings_out_of_bounds_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, BatchingSettings)


def test_tiers_have_the_weights_of_the_settings() -> None:
    settings = BatchingSettings(background_weight=2)
    assert [settings.weight(tier) for tier in Tier] == [8, 4, 2]


def test_the_mean_is_of_the_calls_that_are_remembered() -> None:
    pace = Pace()
    assert pace.mean_s == 0.0
    for took_s in (0.2, 0.4, 0.9):
        pace.observe(took_s)
    assert pace.mean_s == pytest.approx(0.5)
