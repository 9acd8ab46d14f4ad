"""Pace and SendClock."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.pacing import Pace, SendClock

pytestmark = pytest.mark.unit


def test_a_frame_is_due_when_its_last_sample_would_have_been_heard() -> None:
    pace = Pace(100.0)
    assert pace.due(0.04, 100.0) == pytest.approx(100.04)
    assert pace.due(60.0, 159.9) == pytest.approx(160.0)


def test_a_small_delay_is_caught_up_so_the_stream_does_not_drift() -> None:
    pace = Pace(0.0)
    assert pace.due(1.0, 1.3) == pytest.approx(1.0)
    assert pace.due(1.04, 1.3) == pytest.approx(1.04)


def test_after_a_stall_the_plan_moves_so_there_is_no_burst() -> None:
    pace = Pace(0.0)
    assert pace.due(1.0, 4.0) == pytest.approx(4.0)
    assert pace.due(1.04, 4.0) == pytest.approx(4.04)


@given(st.lists(st.floats(0.0, 3.0), min_size=1, max_size=60))
def test_frames_never_leave_much_faster_than_real_time(delays: list[float]) -> None:
    pace, now = Pace(0.0), 0.0
    sent = []
    for number, delay in enumerate(delays, start=1):
        now = max(now + delay, pace.due(number * 0.04, now + delay))
        sent.append(now)
    assert all(later >= earlier for earlier, later in pairwise(sent))
    assert len(sent) * 0.04 <= sent[-1] + 0.04 + 1e-6


def test_the_send_clock_tells_when_each_second_left() -> None:
    clock = SendClock()
    clock.sent(0.04, 10.04)
    clock.sent(0.08, 10.50)
    assert clock.when(0.04) == pytest.approx(10.04)
    assert clock.when(0.06) == pytest.approx(10.48)
    assert clock.when(0.2) is None
    assert clock.seconds == pytest.approx(0.08)


def test_the_send_clock_forgets_what_is_long_past() -> None:
    clock = SendClock()
    for number in range(1, 6_001):
        clock.sent(number * 0.04, number * 0.04)
    assert clock.when(1.0) is None
    assert clock.when(239.0) == pytest.approx(239.0)
