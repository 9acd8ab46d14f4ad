"""An engine without a model: replays measured latencies on the loop's clock, the same ones for the same seed."""

import asyncio
import random
from collections.abc import Callable, Hashable, Sequence
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta

from engines.engine import Capacity, RowFailure
from engines.errors import Unavailable

Row = TypeVar("Row")
Result = TypeVar("Result")


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """How long one call of `rows` rows took that made `busy` calls at once, itself included."""

    seconds: Annotated[float, Meta(ge=0)]
    rows: Annotated[int, Meta(ge=1)] = 1
    busy: Annotated[int, Meta(ge=1)] = 1


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured of one engine on one machine."""

    name: str
    version: str
    capacity: Capacity
    measured: Annotated[tuple[Measured, ...], Meta(min_length=1)]
    warm_s: float = 0.0


class RecordedEngine(Generic[Row, Result]):
    """Takes as long as the recorded engine did under the nearest load, then answers by a function.

    `answer(row)` may raise EngineFault: the call fails as a whole, after its time. Where fewer rows or calls were
    never measured, the nearest measurement stands for them.
    """

    def __init__(
        self,
        recording: Recording,
        answer: Callable[[Row], Result | RowFailure],
        *,
        group: Callable[[Row], Hashable] = lambda row: None,
        seed: int = 0,
    ) -> None:
        self.name = recording.name
        self.version = recording.version
        self.capacity = recording.capacity
        self.busy = 0
        self.group = group
        self._answer = answer
        self._warm_s = recording.warm_s
        self._random = random.Random(seed)
        self._closed = False
        self._took_s: dict[tuple[int, int], list[float]] = {}
        for measured in recording.measured:
            self._took_s.setdefault((measured.rows, measured.busy), []).append(measured.seconds)

    async def run(self, rows: Sequence[Row]) -> Sequence[Result | RowFailure]:
        """Answer after a recorded time. Raises Unavailable when closed."""
        if self._closed:
            raise Unavailable(f"{self.name} is closed", hint="start it again")
        self.busy += 1
        try:
            await asyncio.sleep(self._seconds(len(rows)))
            return [self._answer(row) for row in rows]
        finally:
            self.busy -= 1

    async def warm(self) -> None:
        """Take as long as loading took. Raises Unavailable when closed."""
        if self._closed:
            raise Unavailable(f"{self.name} is closed", hint="start it again")
        await asyncio.sleep(self._warm_s)

    async def close(self) -> None:
        """Refuse further calls."""
        self._closed = True

    def _seconds(self, rows: int) -> float:
        nearest = min(self._took_s, key=lambda load: (abs(load[0] - rows), abs(load[1] - self.busy), load))
        return self._random.choice(self._took_s[nearest])
