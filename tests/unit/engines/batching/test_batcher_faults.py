"""Engines that break: retry, mark down, probe."""

import asyncio
import logging
from collections.abc import Sequence

import msgspec
import pytest
from prometheus_client import REGISTRY

from engines.batching.batcher import Batcher
from engines.batching.policy import BatchingSettings
from engines.batching.ticket import Done, Failed, Outcome, Shed, ShedCause
from engines.engine import Capacity
from engines.errors import BadModelFile, EngineFault, Unavailable
from tests.support.virtual_time import run_virtual
from tests.unit.engines.batching.builders import ONE_BY_ONE, Engine, recording, soon, ticket

pytestmark = pytest.mark.unit

BUSY = Unavailable("no answer", hint="wait")
BROKEN = BadModelFile("damaged", hint="pull it again")


def batcher(engine: Engine) -> Batcher[str, str]:
    return Batcher(engine, BatchingSettings())


def up(engine: str) -> float | None:
    return REGISTRY.get_sample_value("sampan_engine_up", {"engine": engine})


def test_a_retryable_fault_is_tried_once_more() -> None:
    async def main() -> list[Outcome[str]]:
        async with batcher(Engine(recording(ONE_BY_ONE), faults=[BUSY])) as texts:
            return [await texts.submit("a", ticket())]

    (outcome,) = run_virtual(main())
    assert isinstance(outcome, Done)
    assert outcome.infer_s == 2.0


def test_a_second_fault_or_one_that_will_not_pass_fails_the_row() -> None:
    async def main() -> None:
        async with batcher(engine := Engine(recording(ONE_BY_ONE), faults=[BUSY, BUSY])) as texts:
            assert await texts.submit("a", ticket()) == Failed(BUSY)
            assert len(engine.calls) == 2
        async with batcher(engine := Engine(recording(ONE_BY_ONE), faults=[BROKEN])) as texts:
            assert await texts.submit("a", ticket()) == Failed(BROKEN)
            assert len(engine.calls) == 1

    run_virtual(main())


def test_a_retry_ends_at_the_deadline() -> None:
    async def main() -> None:
        async with batcher(engine := Engine(recording(ONE_BY_ONE), faults=[BUSY])) as texts:
            assert await texts.submit("a", ticket(1.5)) == Shed(ShedCause.DEADLINE)
            assert asyncio.get_running_loop().time() == 1.5
            await soon()
            assert engine.ended_by_cancel == 1

    run_virtual(main())


def test_whatever_an_engine_raises_becomes_a_fault_that_quotes_no_text(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> Outcome[str]:
        async with batcher(Engine(recording(ONE_BY_ONE), faults=[ValueError("my secret line")])) as texts:
            return await texts.submit("my secret line", ticket())

    with caplog.at_level(logging.WARNING):
        outcome = run_virtual(main())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.fault, EngineFault)
    assert outcome.fault.detail.startswith("ValueError at builders.py:")
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text + outcome.fault.detail


def test_a_wrong_number_of_results_is_a_fault() -> None:
    class Short(Engine):
        async def run(self, rows: Sequence[str]) -> list[str]:
            return []

    async def main() -> Outcome[str]:
        async with batcher(Short(recording(ONE_BY_ONE))) as texts:
            return await texts.submit("a", ticket())

    outcome = run_virtual(main())
    assert isinstance(outcome, Failed)
    assert isinstance(outcome.fault, EngineFault)
    assert outcome.fault.detail == "recorded gave 0 results for 1 rows"


def test_a_call_that_the_engine_itself_cancels_fails_its_rows() -> None:
    class Cancelling(Engine):
        async def run(self, rows: Sequence[str]) -> list[str]:
            raise asyncio.CancelledError

    async def main() -> None:
        async with batcher(Cancelling(recording(ONE_BY_ONE))) as texts:
            outcome = await texts.submit("a", ticket())
            assert isinstance(outcome, Failed)
            assert isinstance(outcome.fault, Unavailable)

    run_virtual(main())


def test_three_faults_in_a_row_mark_the_engine_down_and_fail_what_waits_and_what_comes() -> None:
    engine = Engine(recording(ONE_BY_ONE, 1.0, name="down-test"), faults=[BROKEN] * 3)

    async def main() -> None:
        async with batcher(engine) as texts:
            assert up("down-test") == 1
            outcomes = await asyncio.gather(*(texts.submit(row, ticket()) for row in "abcde"))
            assert outcomes == [Failed(BROKEN)] * 5
            assert asyncio.get_running_loop().time() == 3.0
            assert len(engine.calls) == 3
            assert up("down-test") == 0
            assert await texts.submit("f", ticket()) == Failed(BROKEN)
            assert asyncio.get_running_loop().time() == 3.0

    run_virtual(main())


def test_a_probe_brings_the_engine_back_and_failing_probes_come_later_each_time() -> None:
    engine = Engine(
        recording(ONE_BY_ONE, 1.0, name="probe-test"), faults=[BROKEN] * 3, warm_faults=[BUSY, ValueError("?")]
    )

    async def main() -> None:
        async with batcher(engine) as texts:
            for row in "abc":
                await texts.submit(row, ticket())
            await asyncio.sleep(5.0 + 10.0 + 19.9)
            assert engine.warmed == 2
            assert isinstance(await texts.submit("d", ticket(1000.0)), Failed)
            await asyncio.sleep(0.2)
            assert engine.warmed == 3
            assert up("probe-test") == 1
            assert isinstance(await texts.submit("e", ticket(1000.0)), Done)

    run_virtual(main())


def test_a_probe_that_hangs_is_given_up_and_does_not_hold_up_closing() -> None:
    class Hanging(Engine):
        async def warm(self) -> None:
            self.warmed += 1
            await asyncio.sleep(10_000)

    engine = Hanging(recording(ONE_BY_ONE), faults=[BROKEN] * 3)

    async def main() -> None:
        async with batcher(engine) as texts:
            for row in "abc":
                await texts.submit(row, ticket())
            await asyncio.sleep(5 + 60 + 10 + 1)
            assert engine.warmed == 2
            closing_at = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() == closing_at

    run_virtual(main())


def test_an_engine_that_is_down_can_be_closed_at_once() -> None:
    async def main() -> None:
        async with batcher(Engine(recording(ONE_BY_ONE), faults=[BROKEN] * 3)) as texts:
            for row in "abc":
                await texts.submit(row, ticket())
        assert asyncio.get_running_loop().time() == 3.0

    run_virtual(main())


def test_a_fault_of_one_of_many_calls_leaves_the_others_alone() -> None:
    engine = Engine(recording(Capacity(max_batch=1, concurrency=4)), faults=[BROKEN])

    async def main() -> None:
        async with batcher(engine) as texts:
            outcomes = await asyncio.gather(*(texts.submit(row, ticket()) for row in "abcd"))
            assert [type(outcome) for outcome in outcomes] == [Failed, Done, Done, Done]

    run_virtual(main())


def test_a_call_that_fails_is_tried_again_on_another_instance() -> None:
    async def main() -> None:
        first, second = Engine(recording(ONE_BY_ONE), faults=[BUSY]), Engine(recording(ONE_BY_ONE))
        async with Batcher([first, second], BatchingSettings()) as texts:
            assert isinstance(await texts.submit("a", ticket()), Done)
            assert (first.calls, second.calls) == ([["a"]], [["a"]])

    run_virtual(main())


def test_instances_share_the_calls_and_go_on_while_one_is_down_and_probed() -> None:
    async def main() -> None:
        ill, well = Engine(recording(ONE_BY_ONE), faults=[BUSY] * 3), Engine(recording(ONE_BY_ONE))
        async with Batcher([ill, well], BatchingSettings()) as texts, asyncio.TaskGroup() as tasks:
            asked = [tasks.create_task(texts.submit(row, ticket())) for row in "abcdef"]
            await asyncio.sleep(4)
            assert (up("recorded#0"), up("recorded#1")) == (0, 1)
            assert len(ill.calls) == 3
            await asyncio.wait(asked)
            assert all(isinstance(task.result(), Done) for task in asked)
            assert len(ill.calls) == 3
            await asyncio.sleep(10)
            assert (ill.warmed, up("recorded#0")) == (1, 1)
            again = [tasks.create_task(texts.submit(row, ticket(200))) for row in "gh"]
            await asyncio.wait(again)
            assert len(ill.calls) == 4

    run_virtual(main())


def test_instances_of_another_version_are_no_instances() -> None:
    other = msgspec.structs.replace(recording(ONE_BY_ONE), version="model@2")
    with pytest.raises(ValueError, match="one version"):
        Batcher([Engine(recording(ONE_BY_ONE)), Engine(other)], BatchingSettings())
