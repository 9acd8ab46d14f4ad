"""app/delivery/subtitle_socket.py: what needs no socket; the rest is in tests/integration/test_delivery.py"""

import pytest

from app.delivery.subtitle_socket import Allowance

pytestmark = pytest.mark.unit


def test_an_allowance_lets_a_burst_through_and_then_its_rate() -> None:
    allowance = Allowance(3, 2.0, now=0.0)
    assert [allowance.take(0.0) for _ in range(4)] == [True, True, True, False]
    assert [allowance.take(0.5), allowance.take(0.5)] == [True, False]


def test_an_allowance_does_not_grow_over_its_burst() -> None:
    allowance = Allowance(3, 2.0, now=0.0)
    assert [allowance.take(1000.0) for _ in range(4)] == [True, True, True, False]
