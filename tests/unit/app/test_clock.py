"""app/clock.py"""

import pytest

from app.clock import Clock, wall_now_ms

pytestmark = pytest.mark.unit


def test_loop_time_goes_to_epoch_milliseconds_and_back() -> None:
    clock = Clock(lambda: 100.0)
    assert clock.loop_time(clock.epoch_ms(123.456)) == pytest.approx(123.456, abs=0.001)


def test_now_is_the_wall_clock_s_now() -> None:
    before = wall_now_ms()
    assert before <= Clock(lambda: 5.0).now_ms() <= wall_now_ms()


def test_a_step_of_the_wall_clock_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(lambda: 1.0)
    was = clock.epoch_ms(2.0)
    monkeypatch.setattr("app.clock.wall_now_ms", lambda: 0)
    assert clock.epoch_ms(2.0) == was
