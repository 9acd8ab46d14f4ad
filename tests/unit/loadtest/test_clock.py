"""ClockOffset."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.clock import ClockOffset

pytestmark = pytest.mark.unit


def test_hello_gives_a_first_guess_and_a_ping_a_better_one() -> None:
    clock = ClockOffset()
    assert clock.server_ms(5.0) == 5.0
    clock.hello(1_000.0, 100.0)
    assert clock.server_ms(100.0) == 1_000.0
    clock.pong(100.0, 1_020.0, 120.0)
    assert clock.server_ms(120.0) == 1_030.0


@given(
    offset=st.floats(-1e6, 1e6),
    trips=st.lists(st.tuples(st.floats(0, 500), st.floats(0, 500)), min_size=1, max_size=20),
)
def test_the_error_is_at_most_half_the_quickest_recent_round_trip(
    offset: float, trips: list[tuple[float, float]]
) -> None:
    clock, now = ClockOffset(), 0.0
    for there, back in trips:
        clock.pong(now, now + there + offset, now + there + back)
        now += 1_000.0
    quickest = min(there + back for there, back in trips[-8:])
    assert abs(clock.server_ms(now) - (now + offset)) <= quickest / 2 + 1e-3
