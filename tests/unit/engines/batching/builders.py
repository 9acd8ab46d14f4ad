"""Tickets, engines and a record of their calls for the tests of this folder."""

import asyncio
from collections.abc import Callable, Hashable, Sequence

from engines.batching.ticket import Ticket, Tier
from engines.engine import Capacity, RowFailure
from engines.testing.recorded import Measured, RecordedEngine, Recording

ONE_BY_ONE = Capacity(max_batch=1, concurrency=1)


def ticket(
    deadline: float = 100.0, tier: Tier = Tier.STANDARD, flow: str = "room", supersedes: Hashable | None = None
) -> Ticket:
    return Ticket(flow=flow, tier=tier, deadline=deadline, supersedes=supersedes)


async def soon() -> None:
    """Let the loop start what was just handed to it."""
    for _ in range(5):
        await asyncio.sleep(0)


def recording(capacity: Capacity, *seconds: float, name: str = "recorded") -> Recording:
    """Calls that take one of `seconds`, whatever the load; none: one second."""
    measured = tuple(Measured(seconds=s) for s in seconds or (1.0,))
    return Recording(name=name, version="model@1", capacity=capacity, measured=measured)


class Engine(RecordedEngine[str, str]):
    """Answers in capitals and keeps its calls; `faults` are raised by the next calls, one each."""

    def __init__(
        self,
        recorded: Recording,
        *,
        group: Callable[[str], Hashable] = lambda row: None,
        faults: Sequence[Exception] = (),
        warm_faults: Sequence[Exception] = (),
    ) -> None:
        super().__init__(recorded, self._capitals, group=group)
        self.calls: list[list[str]] = []
        self.ended_by_cancel = 0
        self.most_busy = 0
        self.warmed = 0
        self._faults = list(faults)
        self._warm_faults = list(warm_faults)

    async def run(self, rows: Sequence[str]) -> Sequence[str | RowFailure]:
        self.calls.append(list(rows))
        self.most_busy = max(self.most_busy, self.busy + 1)
        fault = self._faults.pop(0) if self._faults else None
        done = False
        try:
            results = await super().run(rows)
            done = True
        finally:
            self.ended_by_cancel += not done
        if fault is not None:
            raise fault
        return results

    async def warm(self) -> None:
        self.warmed += 1
        await super().warm()
        if self._warm_faults:
            raise self._warm_faults.pop(0)

    @staticmethod
    def _capitals(row: str) -> str | RowFailure:
        return RowFailure("bad row") if row == "bad" else row.upper()
