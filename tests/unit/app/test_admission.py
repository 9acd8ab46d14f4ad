import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.admission import Admission
from app.errors import ServiceError

pytestmark = pytest.mark.unit


def admission(mean_s: float, *, concurrency: int = 1, most: int = 0) -> Admission:
    return Admission(lambda: mean_s, concurrency=concurrency, interval_s=0.5, most=most)


@pytest.mark.parametrize(
    ("mean_s", "concurrency", "held"),
    [(0.0, 1, None), (0.25, 1, 4), (0.3, 1, 3), (0.3, 2, 6), (0.9, 1, 1), (5.0, 1, 1)],
)
def test_a_node_holds_as_many_rooms_as_see_partials_at_least_half_as_often(
    mean_s: float, concurrency: int, held: int | None
) -> None:
    assert admission(mean_s, concurrency=concurrency).held == held


def test_one_broadcaster_too_many_is_told_to_come_back_and_let_in_once_another_has_gone() -> None:
    door = admission(0.5)
    with door.broadcasting():
        assert door.live == 1
        with door.broadcasting(), pytest.raises(ServiceError) as refused, door.broadcasting():
            pass
        assert (refused.value.code, refused.value.status, refused.value.retry_after) == ("busy", 503, 30)
        with door.broadcasting():
            assert door.live == 2
    assert door.live == 0


def test_a_number_in_the_settings_counts_instead_of_the_measure() -> None:
    assert admission(0.9, most=7).held == 7


@given(st.floats(0.001, 60), st.integers(1, 64))
def test_the_first_broadcaster_always_gets_in(mean_s: float, concurrency: int) -> None:
    with admission(mean_s, concurrency=concurrency).broadcasting():
        pass


def test_a_machine_that_gets_slower_sends_nobody_away() -> None:
    mean_s = 0.2
    door = Admission(lambda: mean_s, concurrency=1, interval_s=0.5, most=0)
    with door.broadcasting(), door.broadcasting():
        mean_s = 2.0
        assert (door.live, door.held) == (2, 1)
