"""pipelines/demand.py"""

import asyncio

import pytest

from engines.languages import LanguageTag
from pipelines.demand import Demand
from tests.support.virtual_time import run_virtual

pytestmark = pytest.mark.unit

EN, VI = LanguageTag("en"), LanguageTag("vi")


def test_a_language_is_in_demand_while_it_has_readers() -> None:
    demand = Demand(linger_s=0.0)
    demand.add(EN)
    demand.add(EN)
    demand.remove(EN, now=1.0)
    assert demand.languages(1.0) == {EN}
    assert demand.readers(EN) == 1
    demand.remove(EN, now=2.0)
    assert demand.languages(2.0) == frozenset()


def test_a_language_lingers_so_that_a_reconnect_does_not_stop_it() -> None:
    demand = Demand(linger_s=10.0)
    demand.add(EN)
    demand.remove(EN, now=5.0)
    assert demand.languages(14.9) == {EN}
    assert demand.languages(15.0) == frozenset()


def test_a_reader_who_comes_back_in_time_is_no_new_language() -> None:
    demand = Demand(linger_s=10.0)
    demand.add(EN)
    demand.remove(EN, now=5.0)
    version = demand.version
    demand.add(EN)
    assert demand.version == version
    assert demand.languages(100.0) == {EN}


def test_a_second_reader_of_a_language_changes_nothing() -> None:
    demand = Demand()
    demand.add(EN)
    version = demand.version
    demand.add(EN)
    assert demand.version == version


def test_removing_a_reader_that_never_came_is_an_error() -> None:
    with pytest.raises(ValueError, match="nobody reads en"):
        Demand().remove(EN, now=0.0)


def test_a_waiter_learns_of_a_newly_opened_language_at_once() -> None:
    async def main() -> tuple[int, float]:
        demand, loop = Demand(), asyncio.get_running_loop()
        loop.call_later(3.0, demand.add, VI)
        return await demand.changed(demand.version), loop.time()

    assert run_virtual(main()) == (1, 3.0)


def test_a_waiter_learns_when_a_language_lapses() -> None:
    async def main() -> list[tuple[float, frozenset[LanguageTag]]]:
        demand, loop, seen = Demand(linger_s=10.0), asyncio.get_running_loop(), []
        demand.add(EN)
        loop.call_later(2.0, lambda: demand.remove(EN, loop.time()))
        version = demand.version
        for _ in range(2):
            version = await demand.changed(version)
            seen.append((loop.time(), demand.languages(loop.time())))
        return seen

    assert run_virtual(main()) == [(2.0, frozenset({EN})), (12.0, frozenset())]


def test_a_version_already_past_is_answered_without_waiting() -> None:
    async def main() -> int:
        return await Demand().changed(-1)

    assert run_virtual(main()) == 0
