"""Ten thousand seeded requests of mixed tiers against too little of an engine, in virtual time."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from engines.batching.batcher import Batcher
from engines.batching.policy import BatchingSettings
from engines.batching.ticket import Done, Outcome, Shed, ShedCause, Ticket, Tier
from engines.engine import Capacity, RowFailure
from engines.testing.recorded import Measured, RecordedEngine, Recording
from tests.support.virtual_time import run_virtual

pytestmark = pytest.mark.unit

REQUESTS = 10_000


@dataclass(frozen=True)
class Ask:
    """One request of the plan; its number is its row."""

    number: int
    at: float
    ticket: Ticket
    group: int


def plan(per_second: float, *, groups: int = 1, flows: int = 100, seed: int = 7) -> list[Ask]:
    """Arrivals at random, a third for each tier, with 1 to 4 s for each."""
    draw, at, asks = random.Random(seed), 0.0, []
    for number in range(REQUESTS):
        at += draw.expovariate(per_second)
        ticket = Ticket(
            flow=f"room-{draw.randrange(flows)}", tier=draw.choice(list(Tier)), deadline=at + draw.uniform(1.0, 4.0)
        )
        asks.append(Ask(number, at, ticket, draw.randrange(groups)))
    return asks


class Watched(RecordedEngine[Ask, int]):
    """Knows what waits and notes each time that a row is started before one of its tier with an earlier deadline."""

    def __init__(self, recording: Recording) -> None:
        super().__init__(recording, lambda ask: ask.number, group=lambda ask: ask.group, seed=1)
        self.waiting: dict[int, Ask] = {}
        self.started: list[tuple[float, Ask]] = []
        self.most_waiting = 0
        self.inversions = 0

    def arrived(self, ask: Ask) -> None:
        self.waiting[ask.number] = ask
        self.most_waiting = max(self.most_waiting, len(self.waiting))

    def answered(self, ask: Ask) -> None:
        self.waiting.pop(ask.number, None)

    async def run(self, rows: Sequence[Ask]) -> Sequence[int | RowFailure]:
        for ask in rows:
            del self.waiting[ask.number]
        self.inversions += sum(self._is_passed_over(other, rows) for other in self.waiting.values())
        self.started += ((asyncio.get_running_loop().time(), ask) for ask in rows)
        return await super().run(rows)

    @staticmethod
    def _is_passed_over(other: Ask, rows: Sequence[Ask]) -> bool:
        """By the row that leads the call, or by one of its own group."""
        rivals = rows if other.group == rows[0].group else rows[:1]
        return any(
            ask.ticket.tier is other.ticket.tier and ask.ticket.deadline > other.ticket.deadline for ask in rivals
        )


@dataclass
class Played:
    engine: Watched
    batcher: Batcher[Ask, int]
    outcomes: dict[int, Outcome[int]] = field(default_factory=dict)

    @property
    def done(self) -> list[int]:
        return [number for number, outcome in self.outcomes.items() if isinstance(outcome, Done)]

    @property
    def shed(self) -> Counter[ShedCause]:
        return Counter(outcome.cause for outcome in self.outcomes.values() if isinstance(outcome, Shed))


def play(asks: list[Ask], recording: Recording, settings: BatchingSettings) -> Played:
    engine = Watched(recording)
    played = Played(engine, Batcher(engine, settings))

    async def ask_one(ask: Ask) -> None:
        engine.arrived(ask)
        outcome = await played.batcher.submit(ask, ask.ticket)
        engine.answered(ask)
        assert ask.number not in played.outcomes
        played.outcomes[ask.number] = outcome
        assert asyncio.get_running_loop().time() <= ask.ticket.deadline + 1e-6
        if isinstance(outcome, Done):
            assert outcome.result == ask.number

    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with played.batcher, asyncio.TaskGroup() as callers:
            for ask in asks:
                await asyncio.sleep(ask.at - loop.time())
                callers.create_task(ask_one(ask))

    run_virtual(main())
    assert engine.inversions == 0
    assert sorted(played.outcomes) == list(range(REQUESTS))
    assert len(played.done) + played.shed.total() == REQUESTS
    assert engine.waiting == {}
    return played


def one_by_one(*seconds: float) -> Recording:
    capacity = Capacity(max_batch=1, concurrency=16)
    measured = tuple(Measured(seconds=s) for s in seconds)
    return Recording(name="one-by-one", version="m@1", capacity=capacity, measured=measured)


def by_thirty_two() -> Recording:
    """32 rows take twice as long as one."""
    capacity = Capacity(max_batch=32, concurrency=1)
    measured = tuple(Measured(rows=rows, seconds=0.1 + 0.1 * rows / 32) for rows in (1, 8, 16, 24, 32))
    return Recording(name="by-thirty-two", version="m@1", capacity=capacity, measured=measured)


def started_shares(played: Played, start: float, end: float) -> dict[Tier, float]:
    """Each tier's share of the rows that were started while all tiers had a backlog."""
    counts = Counter(ask.ticket.tier for at, ask in played.engine.started if start <= at <= end)
    return {tier: counts[tier] / counts.total() for tier in Tier}


@pytest.mark.parametrize(
    ("recording", "per_second"),
    [(one_by_one(0.2), 240.0), (by_thirty_two(), 480.0)],
    ids=["1 row x 16 calls", "32 rows x 1 call"],
)
def test_three_times_too_much_keeps_order_and_weights_and_answers_each_once(
    recording: Recording, per_second: float
) -> None:
    asks = plan(per_second)
    played = play(asks, recording, BatchingSettings())
    assert set(played.shed) == {ShedCause.DEADLINE}
    shares = started_shares(played, asks[REQUESTS // 10].at, asks[-1].at)
    for tier, weight in {Tier.PREMIUM: 8, Tier.STANDARD: 4, Tier.BACKGROUND: 1}.items():
        assert shares[tier] == pytest.approx(weight / 13, rel=0.05)


@pytest.mark.parametrize(
    ("recording", "per_second", "groups"),
    [(one_by_one(0.15, 0.2, 0.25), 240.0, 1), (by_thirty_two(), 480.0, 1), (by_thirty_two(), 480.0, 4)],
    ids=["1 row x 16 calls", "32 rows x 1 call", "32 rows of 4 groups x 1 call"],
)
def test_under_overload_no_call_is_wasted_on_rows_that_end_too_late(
    recording: Recording, per_second: float, groups: int
) -> None:
    asks = plan(per_second, groups=groups)
    played = play(asks, recording, BatchingSettings())
    capacity = recording.capacity
    slowest = max(measured.seconds for measured in recording.measured)
    assert len(played.done) >= 0.99 * len(played.engine.started)
    assert len(played.done) >= 0.9 * asks[-1].at * capacity.max_batch * capacity.concurrency / slowest


def test_a_small_queue_stays_small_and_sheds_the_lowest_tier_first() -> None:
    settings = BatchingSettings(max_queue_size=64, max_queue_per_flow=8)
    asks = plan(240.0)
    played = play(asks, one_by_one(0.2), settings)
    assert played.engine.most_waiting <= 64 + 16
    assert played.shed[ShedCause.QUEUE_FULL] > REQUESTS / 2
    answered = Counter(asks[number].ticket.tier for number in played.done)
    assert answered[Tier.PREMIUM] > answered[Tier.STANDARD] > answered[Tier.BACKGROUND]
