"""Ten thousand requests of every kind through one batcher in virtual time: what must hold whatever comes."""

import asyncio
import random
from collections import Counter
from collections.abc import Hashable, Sequence

import msgspec
import pytest

from engines.batching.batcher import Batcher
from engines.batching.cache import ResultCache
from engines.batching.policy import BatchingSettings
from engines.batching.queue import Waiting, WaitingQueue
from engines.batching.ticket import Done, Failed, Outcome, Shed, Ticket, Tier
from engines.engine import Capacity, RowFailure
from engines.errors import Unavailable
from tests.support.virtual_time import run_virtual

pytestmark = pytest.mark.unit

REQUESTS = 10_000
RATE = 900.0  # a second; far more than the engines below manage, though many ask the same
SETTINGS = BatchingSettings(max_queue_size=60, max_queue_per_flow=10)


class Row(msgspec.Struct, frozen=True):
    """A text of one group."""

    text: str
    pair: int


class Engine:
    """Takes 20 ms a call and 8 ms a row; one call in a hundred breaks, one text in fifty can't be answered."""

    name = "events"
    version = "model@1"
    capacity = Capacity(max_batch=8, concurrency=1)

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.rows = 0
        self.calls = 0

    def group(self, row: Row) -> Hashable:
        return row.pair

    async def run(self, rows: Sequence[Row]) -> Sequence[str | RowFailure]:
        assert 1 <= len(rows) <= self.capacity.max_batch
        assert len({row.pair for row in rows}) == 1
        assert len(set(rows)) == len(rows), "equal rows are to be asked once"
        self.rows += len(rows)
        self.calls += 1
        assert self.calls <= self.capacity.concurrency
        try:
            await asyncio.sleep(0.02 + 0.008 * len(rows))
        finally:
            self.calls -= 1
        if self._random.random() < 0.01:
            raise Unavailable("broke", hint="again")
        return [answer(row) for row in rows]

    async def warm(self) -> None:
        await asyncio.sleep(0.1)

    async def close(self) -> None:
        return None


def answer(row: Row) -> str | RowFailure:
    return RowFailure("no") if row.text.endswith("7") and row.pair == 3 else f"{row.text}/{row.pair}"


class Watch:
    """Looks at every take of a queue."""

    def __init__(self, queue: WaitingQueue[Waiting]) -> None:
        self.started: list[Tier] = []
        self._queue = queue
        self._take = queue.take
        queue.take = self.take  # type: ignore[method-assign]

    def take(self, group: Hashable, rows: int) -> list[list[Waiting]]:
        lead = self._queue.lead()
        assert lead is not None
        assert lead is self._queue._lines[lead.ticket.tier][0]
        taken = self._take(group, rows)
        assert taken[0][0] is lead
        for row in taken:
            first = row[0]
            self.started.append(first.ticket.tier)
            waiting = self._queue._lines[first.ticket.tier]
            assert all(other.ticket.deadline >= first.ticket.deadline for other in waiting if other.group == group)
        return taken

    def check(self) -> None:
        """Sizes are bounded, and every index holds what waits."""
        queue = self._queue
        assert len(queue) <= SETTINGS.max_queue_size
        assert all(len(flow) <= SETTINGS.max_queue_per_flow for flow in queue._flows.values())
        assert sum(map(len, queue._groups.values())) == len(queue)
        assert len(queue._superseding) <= len(queue)


def plan(seed: int) -> list[tuple[float, Row, Ticket, float | None]]:
    """Arrival, row, ticket and, for callers that give up, after how long; the same for the same seed."""
    dice = random.Random(seed)
    now = 0.0
    planned: list[tuple[float, Row, Ticket, float | None]] = []
    for number in range(REQUESTS):
        now += dice.expovariate(RATE)
        tier = dice.choices(list(Tier), (2, 5, 2))[0]
        flow = f"room{min(int(dice.expovariate(0.2)), 29)}"
        row = Row(f"line {min(int(dice.paretovariate(0.3)), 5_000)}", dice.randrange(5))
        partial = dice.random() < 0.15
        ticket = Ticket(
            flow=flow,
            tier=tier,
            deadline=now + dice.choice((0.05, 0.3, 1.0, 5.0)),
            supersedes=(flow, number % 3) if partial else None,
        )
        planned.append((now, row, ticket, dice.uniform(0, 0.5) if dice.random() < 0.05 else None))
    return planned


@pytest.mark.parametrize("seed", [1, 2])
def test_every_request_has_one_outcome_in_order_of_its_deadline_and_nothing_grows(seed: int) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        engines = [Engine(seed), Engine(seed + 100)]
        cache: ResultCache[Row, str] = ResultCache(lambda row: row, max_entries=200, max_age_s=2.0)
        batcher = Batcher(engines, SETTINGS, cache=cache)
        watch = Watch(batcher._queue)
        outcomes: list[tuple[Row, Ticket, float, Outcome[str] | None]] = []

        async def ask(row: Row, ticket: Ticket, patience_s: float | None) -> None:
            outcome: Outcome[str] | None = None
            try:
                async with asyncio.timeout(patience_s):
                    outcome = await batcher.submit(row, ticket)
            except TimeoutError:
                pass
            outcomes.append((row, ticket, loop.time(), outcome))
            watch.check()

        async with batcher, asyncio.TaskGroup() as tasks:
            for at, row, ticket, patience_s in plan(seed):
                await asyncio.sleep(at - loop.time())
                tasks.create_task(ask(row, ticket, patience_s))

        assert len(outcomes) == REQUESTS
        kinds = Counter(type(outcome).__name__ for _, _, _, outcome in outcomes)
        assert kinds["Done"] > REQUESTS / 3
        assert min(kinds["Shed"], kinds["Failed"], kinds["NoneType"]) > 20, kinds
        for row, ticket, at, outcome in outcomes:
            assert at <= ticket.deadline + 1e-6, "late text"
            if isinstance(outcome, Done):
                assert outcome.result == answer(row)
        assert {outcome.cause.value for *_, outcome in outcomes if isinstance(outcome, Shed)} >= {
            "deadline",
            "superseded",
            "flow_full",
            "queue_full",
        }
        assert any(isinstance(o, Failed) and o.fault == RowFailure("no") for *_, o in outcomes)
        inferred = sum(engine.rows for engine in engines)
        assert inferred < kinds["Done"] + kinds["Failed"], "cache and single flight saved nothing"
        queue = batcher._queue
        assert len(cache) <= 200
        assert not any((len(queue), queue._flows, queue._groups, queue._equals, queue._superseding))
        assert not any((batcher._calls, batcher._flights, batcher._instances._held, batcher._probes))
        assert all(instance.calls == 0 for instance in batcher._instances._all)

    run_virtual(main())


def test_tiers_that_all_wait_get_their_shares_within_five_percent() -> None:
    async def main() -> None:
        engine = Engine(3)
        settings = BatchingSettings(max_queue_size=9_000, max_queue_per_flow=9_000)
        batcher = Batcher(engine, settings)
        watch = Watch(batcher._queue)
        async with batcher, asyncio.TaskGroup() as tasks:
            dice = random.Random(5)
            tiers = [tier for tier in Tier for _ in range(2_500)]
            dice.shuffle(tiers)
            asked = []
            for number, tier in enumerate(tiers):
                row = Row(f"{tier} {number}", dice.randrange(5))
                ticket = Ticket(flow=tier, tier=tier, deadline=1_000.0 + dice.random())
                asked.append(tasks.create_task(batcher.submit(row, ticket)))
            await asyncio.wait(asked)
        assert len(watch.started) == len(tiers)
        while_all_wait = Counter(watch.started[:2_600])
        for tier, weight in ((Tier.PREMIUM, 8), (Tier.STANDARD, 4), (Tier.BACKGROUND, 1)):
            assert while_all_wait[tier] / 2_600 == pytest.approx(weight / 13, rel=0.05)

    run_virtual(main())
