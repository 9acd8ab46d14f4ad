"""What a long broadcast's waits and memory amount to."""

import pytest

from loadtest.soak import Options, Wait, compare

pytestmark = pytest.mark.unit

HOUR = Options(minutes=60.0)


def test_the_end_is_compared_with_the_start_after_the_warm_up() -> None:
    waits = [
        Wait(60.0, 9.0),
        *(Wait(float(t), 1.0) for t in range(120, 3300, 10)),
        Wait(3400.0, 1.5),
        Wait(3500.0, 2.0),
    ]
    found = compare(HOUR, 3600.0, waits, [500.0, 530.0, 510.0])
    assert (found.first.cues, found.first.p50, found.first.p95) == (30, 1.0, 1.0)
    assert (found.last.cues, found.last.p50, found.last.p95) == (2, 1.5, 2.0)
    assert found.slower == 1.5
    assert found.memory_mib == (500.0, 530.0, 510.0)


def test_the_longest_time_without_a_subtitle_counts_the_ends_too() -> None:
    assert compare(HOUR, 3600.0, [Wait(100.0, 1.0), Wait(900.0, 1.0)], []).longest_silence_s == 2700.0
    assert compare(HOUR, 3600.0, [], []).longest_silence_s == 3600.0


def test_a_short_soak_compares_thirds() -> None:
    short = Options(minutes=3.0)
    assert (short.warm_s, short.window_s) == (60.0, 60.0)
    found = compare(short, 180.0, [Wait(70.0, 1.0), Wait(130.0, 1.1)], [])
    assert found.slower == pytest.approx(1.1)
