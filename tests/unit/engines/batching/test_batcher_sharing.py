"""Rows with the same answer: cache and single flight."""

import asyncio
from typing import Any

import pytest

from engines.batching.batcher import Batcher
from engines.batching.cache import ResultCache
from engines.batching.policy import BatchingSettings
from engines.batching.ticket import Done, Failed, Outcome, Shed, ShedCause, Tier
from engines.engine import RowFailure
from engines.errors import BadModelFile, Unavailable
from tests.support.virtual_time import run_virtual
from tests.unit.engines.batching.builders import ONE_BY_ONE, Engine, recording, soon, ticket

pytestmark = pytest.mark.unit


def sharing(engine: Engine) -> Batcher[str, str]:
    return Batcher(engine, BatchingSettings(), cache=ResultCache(lambda row: row or None))


def start(texts: Batcher[str, str], row: str, **of_ticket: Any) -> asyncio.Task[Outcome[str]]:
    return asyncio.create_task(texts.submit(row, ticket(**of_ticket)))


def result(outcome: Outcome[str]) -> str:
    assert isinstance(outcome, Done), outcome
    return outcome.result


def test_a_known_row_is_answered_without_the_engine() -> None:
    async def main() -> None:
        async with sharing(engine := Engine(recording(ONE_BY_ONE))) as texts:
            await texts.submit("a", ticket())
            again = await texts.submit("a", ticket())
            assert again == Done(result="A", queued_s=0.0, infer_s=0.0, batch_rows=0, cached=True)
            assert engine.calls == [["a"]]

    run_virtual(main())


def test_rows_without_a_key_and_failed_rows_are_not_kept() -> None:
    async def main() -> None:
        async with sharing(engine := Engine(recording(ONE_BY_ONE))) as texts:
            for row in ("", "", "bad", "bad"):
                await texts.submit(row, ticket())
            assert engine.calls == [[""], [""], ["bad"], ["bad"]]

    run_virtual(main())


def test_the_same_row_asked_at_once_is_inferred_once_and_all_callers_get_it() -> None:
    async def main() -> None:
        async with sharing(engine := Engine(recording(ONE_BY_ONE))) as texts:
            other = start(texts, "b")
            await soon()
            together = [start(texts, "a", tier=tier) for tier in Tier]
            await asyncio.sleep(1.5)
            joined = start(texts, "a")
            assert [result(await each) for each in (other, *together, joined)] == ["B", "A", "A", "A", "A"]
            assert engine.calls == [["b"], ["a"]]
            late = joined.result()
            assert isinstance(late, Done)
            assert (late.queued_s, late.infer_s) == (0.0, 0.5)

    run_virtual(main())


@pytest.mark.parametrize("leave_at", [0.0, 0.5, 1.5], ids=["before it waits", "while it waits", "while it runs"])
def test_when_the_first_caller_is_cancelled_the_others_still_get_the_answer(leave_at: float) -> None:
    async def main() -> None:
        async with sharing(engine := Engine(recording(ONE_BY_ONE))) as texts:
            start(texts, "b")
            await soon()
            first, second = start(texts, "a"), start(texts, "a")
            await asyncio.sleep(leave_at)
            first.cancel()
            assert result(await second) == "A"
            assert first.cancelled()
            assert engine.calls == [["b"], ["a"]]
            assert asyncio.get_running_loop().time() == 2.0

    run_virtual(main())


def test_each_caller_keeps_its_own_deadline_in_the_queue_and_in_the_run() -> None:
    async def main() -> None:
        async with sharing(engine := Engine(recording(ONE_BY_ONE))) as texts:
            first = [start(texts, "b", deadline=due) for due in (0.25, 9.0)]
            await soon()
            then = [start(texts, "a", deadline=due) for due in (0.5, 9.0)]
            for hasty, deadline in ((first[0], 0.25), (then[0], 0.5)):
                assert await hasty == Shed(ShedCause.DEADLINE)
                assert asyncio.get_running_loop().time() == deadline
            assert [result(await patient) for patient in (first[1], then[1])] == ["B", "A"]
            assert engine.calls == [["b"], ["a"]]

    run_virtual(main())


def test_a_superseded_caller_does_not_take_the_others_with_it() -> None:
    async def main() -> None:
        async with sharing(engine := Engine(recording(ONE_BY_ONE))) as texts:
            start(texts, "b")
            await soon()
            first, second = start(texts, "a", supersedes="u"), start(texts, "a")
            newer = start(texts, "ab", supersedes="u")
            assert await first == Shed(ShedCause.SUPERSEDED)
            assert [result(await each) for each in (second, newer)] == ["A", "AB"]
            assert engine.calls == [["b"], ["a"], ["ab"]]

    run_virtual(main())


def test_nobody_joins_a_call_that_is_being_given_up() -> None:
    async def main() -> None:
        async with sharing(engine := Engine(recording(ONE_BY_ONE))) as texts:
            alone = start(texts, "a")
            await asyncio.sleep(0.5)
            alone.cancel()
            await asyncio.sleep(0)  # the caller is gone, its call still ends
            assert result(await start(texts, "a")) == "A"
            assert engine.calls == [["a"], ["a"]]

    run_virtual(main())


def test_nobody_joins_a_call_that_has_just_ended() -> None:
    async def main() -> None:
        async with sharing(engine := Engine(recording(ONE_BY_ONE))) as texts:

            async def ask_again_and_again() -> list[Outcome[str]]:
                return [await texts.submit("bad", ticket()) for _ in range(3)]

            both = await asyncio.gather(ask_again_and_again(), ask_again_and_again())
            assert list(both) == [[Failed(RowFailure("bad row"))] * 3] * 2
            assert engine.calls == [["bad"]] * 3

    run_virtual(main())


def test_all_callers_of_a_row_share_its_fault_and_its_retry() -> None:
    broken = BadModelFile("damaged", hint="pull it again")
    flaky = Engine(recording(ONE_BY_ONE), faults=[Unavailable("busy", hint="wait"), broken])

    async def main() -> None:
        async with sharing(flaky) as texts:
            outcomes = await asyncio.gather(start(texts, "a"), start(texts, "a"))
            assert list(outcomes) == [Failed(broken), Failed(broken)]
            assert flaky.calls == [["a"], ["a"]]
            assert [result(await start(texts, "a")) for _ in range(2)] == ["A", "A"]

    run_virtual(main())
