import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

import pytest

from engines.batching.batcher import Batcher
from engines.batching.policy import BatchingSettings
from engines.batching.ticket import Done, Failed, Outcome, Shed, ShedCause, Tier
from engines.engine import Capacity, RowFailure
from tests.support.virtual_time import run_virtual
from tests.unit.engines.batching.builders import ONE_BY_ONE, Engine, recording, soon, ticket

pytestmark = pytest.mark.unit

DEADLINE = Shed(ShedCause.DEADLINE)
CLOSED = Shed(ShedCause.CLOSED)


def batcher(engine: Engine, **settings: Any) -> Batcher[str, str]:
    return Batcher(engine, BatchingSettings(**settings))


async def gather(*submits: Coroutine[Any, Any, Outcome[str]]) -> list[Outcome[str]]:
    return list(await asyncio.gather(*submits))


def results(outcomes: list[Outcome[str]]) -> list[str]:
    return [outcome.result for outcome in outcomes if isinstance(outcome, Done)]


def test_one_row_alone_is_answered_with_its_times() -> None:
    async def main() -> None:
        async with batcher(Engine(recording(ONE_BY_ONE, 0.5))) as texts:
            assert await texts.submit("a", ticket()) == Done(result="A", queued_s=0.0, infer_s=0.5, batch_rows=1)

    run_virtual(main())


def test_sixteen_calls_of_one_row_run_at_once_and_the_next_starts_as_one_ends() -> None:
    engine = Engine(recording(Capacity(max_batch=1, concurrency=16), 1.0))

    async def main() -> float:
        async with batcher(engine) as texts:
            outcomes = await gather(*(texts.submit(f"r{i}", ticket()) for i in range(40)))
            assert results(outcomes) == [f"R{i}" for i in range(40)]
            return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 3.0
    assert engine.most_busy == 16
    assert all(len(call) == 1 for call in engine.calls)


def test_thirty_two_rows_share_one_call_after_a_short_wait_for_company() -> None:
    engine = Engine(recording(Capacity(max_batch=32, concurrency=1), 1.0))

    async def main() -> None:
        async with batcher(engine) as texts:
            few = await gather(*(texts.submit(f"r{i}", ticket()) for i in range(3)))
            assert [round(outcome.queued_s, 6) for outcome in few if isinstance(outcome, Done)] == [0.005] * 3
            many = await gather(*(texts.submit(f"r{i}", ticket(flow=f"{i}")) for i in range(70)))
            assert results(many) == [f"R{i}" for i in range(70)]

    run_virtual(main())
    assert [len(call) for call in engine.calls] == [3, 32, 32, 6]
    assert engine.most_busy == 1


def test_rows_of_different_groups_do_not_share_a_call() -> None:
    engine = Engine(recording(Capacity(max_batch=32, concurrency=1)), group=lambda row: row[0])

    async def main() -> None:
        async with batcher(engine) as texts:
            await gather(*(texts.submit(row, ticket()) for row in ("a1", "b1", "a2", "b2")))

    run_virtual(main())
    assert engine.calls == [["a1", "a2"], ["b1", "b2"]]


def test_a_bad_row_fails_alone() -> None:
    async def main() -> list[Outcome[str]]:
        async with batcher(Engine(recording(Capacity(max_batch=4, concurrency=1)))) as texts:
            return await gather(texts.submit("a", ticket()), texts.submit("bad", ticket()))

    good, bad = run_virtual(main())
    assert isinstance(good, Done)
    assert bad == Failed(RowFailure("bad row"))


def test_a_deadline_in_the_queue_is_kept_to_the_moment() -> None:
    async def main() -> None:
        async with batcher(engine := Engine(recording(ONE_BY_ONE, 10.0))) as texts:
            running = asyncio.create_task(texts.submit("a", ticket()))
            await soon()
            assert await texts.submit("b", ticket(2.0)) == DEADLINE
            assert asyncio.get_running_loop().time() == 2.0
            assert isinstance(await running, Done)
            assert engine.calls == [["a"]]

    run_virtual(main())


def test_a_deadline_in_a_run_of_one_row_frees_the_slot() -> None:
    async def main() -> None:
        async with batcher(engine := Engine(recording(ONE_BY_ONE, 10.0))) as texts:
            late = asyncio.create_task(texts.submit("a", ticket(2.0)))
            await soon()
            after = await texts.submit("b", ticket())
            assert await late == DEADLINE
            assert isinstance(after, Done)
            assert after.queued_s == 2.0
            assert engine.ended_by_cancel == 1

    run_virtual(main())


def test_a_deadline_in_a_shared_run_leaves_the_call_to_the_others() -> None:
    engine = Engine(recording(Capacity(max_batch=2, concurrency=1), 10.0))

    async def main() -> None:
        async with batcher(engine) as texts:
            outcomes = await gather(texts.submit("a", ticket(2.0)), texts.submit("b", ticket()))
            assert outcomes[0] == DEADLINE
            assert results(outcomes) == ["B"]

    run_virtual(main())
    assert engine.ended_by_cancel == 0


def test_an_expired_ticket_never_reaches_the_engine() -> None:
    async def main() -> None:
        async with batcher(engine := Engine(recording(ONE_BY_ONE))) as texts:
            assert await texts.submit("a", ticket(0.0)) == DEADLINE
            assert not engine.calls

    run_virtual(main())


def test_under_load_a_row_that_would_end_too_late_gives_its_place_to_one_that_would_not() -> None:
    engine = Engine(recording(ONE_BY_ONE, 1.0))

    async def main() -> None:
        async with batcher(engine) as texts:
            await texts.submit("first", ticket())
            outcomes = await gather(texts.submit("a", ticket(1.5)), texts.submit("b", ticket(2.5)))
            assert outcomes[0] == DEADLINE
            assert results(outcomes) == ["B"]
            assert await texts.submit("alone", ticket(2.5)) == DEADLINE

    run_virtual(main())
    assert engine.calls == [["first"], ["b"], ["alone"]]


def test_one_slow_call_does_not_keep_later_rows_from_being_tried() -> None:
    class SlowOnce(Engine):
        async def run(self, rows: Sequence[str]) -> list[str]:
            await asyncio.sleep(10.0 if rows == ["slow"] else 0.1)
            return list(rows)

    async def main() -> None:
        async with batcher(SlowOnce(recording(ONE_BY_ONE))) as texts:
            await texts.submit("slow", ticket())
            outcomes = await gather(texts.submit("a", ticket(11.0)), texts.submit("b", ticket(11.0)))
            assert results(outcomes) == ["b"]

    run_virtual(main())


def test_a_superseded_row_is_answered_at_once_and_a_running_one_goes_on() -> None:
    async def main() -> None:
        async with batcher(engine := Engine(recording(ONE_BY_ONE))) as texts:
            first = asyncio.create_task(texts.submit("a", ticket(supersedes="u")))
            await soon()
            second = asyncio.create_task(texts.submit("ab", ticket(supersedes="u")))
            await soon()
            third = asyncio.create_task(texts.submit("abc", ticket(supersedes="u")))
            assert await second == Shed(ShedCause.SUPERSEDED)
            assert asyncio.get_running_loop().time() == 0.0
            assert results([await first, await third]) == ["A", "ABC"]
            assert engine.calls == [["a"], ["abc"]]

    run_virtual(main())


def test_what_a_full_queue_sheds_is_answered_at_once() -> None:
    async def main() -> None:
        async with batcher(Engine(recording(ONE_BY_ONE)), max_queue_size=1, max_queue_per_flow=1) as texts:
            running = asyncio.create_task(texts.submit("a", ticket()))
            await soon()
            waiting = asyncio.create_task(texts.submit("b", ticket(50.0, Tier.BACKGROUND)))
            await soon()
            assert await texts.submit("c", ticket(60.0, Tier.BACKGROUND)) == Shed(ShedCause.FLOW_FULL)
            premium = asyncio.create_task(texts.submit("d", ticket(50.0, Tier.PREMIUM, flow="other")))
            assert await waiting == Shed(ShedCause.QUEUE_FULL)
            assert results([await running, await premium]) == ["A", "D"]

    run_virtual(main())


def test_a_cancelled_caller_leaves_the_queue_and_ends_a_call_of_its_own() -> None:
    async def main() -> None:
        async with batcher(engine := Engine(recording(ONE_BY_ONE, 10.0))) as texts:
            running, waiting, last = (asyncio.create_task(texts.submit(row, ticket())) for row in "abc")
            await soon()
            waiting.cancel()
            running.cancel()
            assert results([await last]) == ["C"]
            assert asyncio.get_running_loop().time() == 10.0
            assert running.cancelled()
            assert waiting.cancelled()
            assert engine.calls == [["a"], ["c"]]

    run_virtual(main())


def test_a_shared_call_ends_when_its_last_caller_is_gone() -> None:
    engine = Engine(recording(Capacity(max_batch=2, concurrency=1), 10.0))

    async def main() -> None:
        async with batcher(engine) as texts:
            first, second = (asyncio.create_task(texts.submit(row, ticket())) for row in "ab")
            await asyncio.sleep(1.0)
            first.cancel()
            await asyncio.sleep(1.0)
            assert engine.ended_by_cancel == 0
            second.cancel()
            await soon()
            assert engine.ended_by_cancel == 1

    run_virtual(main())


def test_closing_lets_accepted_rows_finish() -> None:
    async def main() -> None:
        texts = batcher(Engine(recording(ONE_BY_ONE, 0.5)))
        async with texts:
            accepted = [asyncio.create_task(texts.submit(row, ticket())) for row in "abc"]
            await soon()
        assert results([await each for each in accepted]) == ["A", "B", "C"]
        assert asyncio.get_running_loop().time() == 1.5
        assert await texts.submit("d", ticket()) == CLOSED

    run_virtual(main())


def test_closing_sheds_after_two_seconds_what_is_left_and_a_second_close_does_no_harm() -> None:
    engine = Engine(recording(ONE_BY_ONE, 1.5))

    async def main() -> None:
        texts = batcher(engine)
        async with texts:
            accepted = [asyncio.create_task(texts.submit(row, ticket())) for row in "abc"]
            await soon()
            await asyncio.gather(texts.close(), texts.close())
            outcomes = [await each for each in accepted]
            assert results(outcomes) == ["A"]
            assert outcomes[1:] == [CLOSED, CLOSED]
            assert asyncio.get_running_loop().time() == 2.0
        await texts.close()

    run_virtual(main())
    assert engine.ended_by_cancel == 1
    assert engine.busy == 0


def test_nothing_is_left_running_and_the_bodys_own_exception_passes_as_it_is() -> None:
    waiting: list[asyncio.Task[Outcome[str]]] = []

    async def broken() -> None:
        async with batcher(Engine(recording(ONE_BY_ONE, 9.0))) as texts:
            waiting.append(asyncio.create_task(texts.submit("a", ticket())))
            await soon()
            raise KeyError

    async def main() -> None:
        with pytest.raises(KeyError):
            await broken()
        assert [await each for each in waiting] == [CLOSED]
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtual(main())


def test_a_batcher_that_was_never_opened_sheds_and_closes() -> None:
    async def main() -> None:
        texts = batcher(Engine(recording(ONE_BY_ONE)))
        assert await texts.submit("a", ticket()) == CLOSED
        await texts.close()

    run_virtual(main())
