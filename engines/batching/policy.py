"""When waiting rows become a call: preferred sizes, the longest wait for company, how long calls take lately."""

from collections import deque
from math import ceil
from typing import Annotated

import msgspec
from msgspec import Meta

from engines.batching.ticket import Tier
from engines.engine import Capacity

_TICK_S = 1e-6  # timers may fire so much early
_REMEMBERED_CALLS = 32
_MOST_CALLS = 0.9
_NEWEST_COUNTS = 0.2  # of the mean interval between rows
_LONGEST_INTERVAL_S = 1.0

Weight = Annotated[int, Meta(ge=1, le=1000)]


class BatchingSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How requests wait in front of one model. Names are Triton's where it has one."""

    preferred_batch_size: tuple[Annotated[int, Meta(ge=1)], ...] = ()
    """A call starts at once when so many rows can share it; none: the most rows that the engine takes."""
    max_queue_delay_microseconds: Annotated[int, Meta(ge=0, le=1_000_000)] = 5_000
    """How long the oldest row waits for company at most, where the engine takes more than one row a call; it waits
    only while rows come so fast that another is likely."""
    max_queue_size: Annotated[int, Meta(ge=1, le=65_536)] = 4096
    """Requests that may wait; beyond it the lowest tier's latest deadline gives way."""
    max_queue_per_flow: Annotated[int, Meta(ge=1, le=65_536)] = 64
    """Requests of one room that may wait; beyond it the room's own lowest tier's latest deadline gives way."""
    premium_weight: Weight = 8
    """Turns of premium rows, against those of the other tiers, while all of them wait."""
    standard_weight: Weight = 4
    """The same for standard rows."""
    background_weight: Weight = 1
    """The same for background rows."""

    def weight(self, tier: Tier) -> int:
        """Turns of a tier."""
        weights = {Tier.PREMIUM: self.premium_weight, Tier.STANDARD: self.standard_weight}
        return weights.get(tier, self.background_weight)


class Run(msgspec.Struct, frozen=True):
    """Start a call of so many rows now."""

    rows: int


class AskAgain(msgspec.Struct, frozen=True):
    """Wait for company until `at` (seconds of the loop's clock)."""

    at: float


class BatchPolicy:
    """Decides when the rows of one group run. Where a call takes one row there is nothing to wait for.

    The wait for company adapts: a row that stands alone while rows come slower than the longest wait runs at once.
    """

    def __init__(self, settings: BatchingSettings, capacity: Capacity) -> None:
        self._delay_s = settings.max_queue_delay_microseconds / 1e6
        self._max_batch = capacity.max_batch
        fitting = [size for size in settings.preferred_batch_size if size <= capacity.max_batch]
        self._preferred = fitting or [capacity.max_batch]
        self._last: float | None = None
        self._interval_s = 0.0

    def arrived(self, now: float) -> None:
        """One more row came, of whatever group."""
        if self._last is not None:
            self._interval_s += _NEWEST_COUNTS * (min(now - self._last, _LONGEST_INTERVAL_S) - self._interval_s)
        self._last = now

    def decide(self, waiting: int, since: float, now: float) -> Run | AskAgain:
        """What to do with `waiting` rows (at least 1) of which the oldest waits since `since`."""
        preferred = max((size for size in self._preferred if size <= waiting), default=None)
        if preferred is not None:
            return Run(preferred)
        due = since + self._delay_s
        alone = (self._last or now) + self._interval_s > due  # the next row is not likely to come in time
        return Run(min(waiting, self._max_batch)) if alone or is_due(due, now) else AskAgain(due)


class Pace:
    """How long calls took lately."""

    def __init__(self) -> None:
        self._took_s: deque[float] = deque(maxlen=_REMEMBERED_CALLS)
        self.usual_s = 0.0
        """Nine calls in ten took no longer; 0 before the first call."""

    @property
    def mean_s(self) -> float:
        """The mean of the last calls; 0 before the first."""
        return sum(self._took_s) / len(self._took_s) if self._took_s else 0.0

    def observe(self, took_s: float) -> None:
        """One more call went well."""
        self._took_s.append(took_s)
        self.usual_s = sorted(self._took_s)[ceil(_MOST_CALLS * len(self._took_s)) - 1]


def is_due(at: float, now: float) -> bool:
    """Whether a moment has come, up to the precision of timers."""
    return at - now < _TICK_S
