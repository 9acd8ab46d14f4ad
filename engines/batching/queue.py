"""The requests that wait for one model: who is next, who gives way."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from engines.batching.policy import BatchingSettings
from engines.batching.ticket import ShedCause, Ticket, Tier

_GIVES_WAY = {Tier.PREMIUM: 0, Tier.STANDARD: 1, Tier.BACKGROUND: 2}


@dataclass(slots=True, eq=False, kw_only=True)
class Waiting:
    """What the queue knows of a request. Requests of equal group and key (not None) need one answer between them."""

    ticket: Ticket
    group: Hashable
    key: Hashable | None
    since: float


W = TypeVar("W", bound=Waiting)
Index: TypeAlias = dict[Hashable, dict[W, None]]


class WaitingQueue(Generic[W]):
    """Earliest deadline first inside a tier; tiers take turns by weight, so that none starves.

    The request whose turn it is leads the next call; requests of its group fill the rest of the call, as these
    hold nobody up. Fairness among flows is the bound on how many of one flow may wait. Nothing is dropped
    silently: whatever loses its place is returned to the caller.
    """

    def __init__(self, settings: BatchingSettings) -> None:
        self._settings = settings
        self._lines: dict[Tier, list[W]] = {tier: [] for tier in Tier}
        self._flows: Index[W] = {}
        self._groups: Index[W] = {}
        self._equals: Index[W] = {}
        self._superseding: dict[Hashable, W] = {}
        # Stride scheduling: a turn moves its tier on by 1/weight; the tier that is least far is next.
        self._strides = {tier: 1 / settings.weight(tier) for tier in Tier}
        self._passed = dict.fromkeys(Tier, 0.0)
        self._turn = 0.0

    def __len__(self) -> int:
        return sum(map(len, self._lines.values()))

    def put(self, entry: W, now: float) -> list[tuple[W, ShedCause]]:
        """Let a request wait; returns those that don't (the new one perhaps among them) and why."""
        dropped = [(expired, ShedCause.DEADLINE) for expired in self.expire(now)]
        older = self._superseding.get(entry.ticket.supersedes)
        if older is not None:
            self.remove(older)
            dropped.append((older, ShedCause.SUPERSEDED))
        if entry.ticket.deadline <= now:
            return [*dropped, (entry, ShedCause.DEADLINE)]
        self._add(entry)
        flow = self._flows[entry.ticket.flow]
        if len(flow) > self._settings.max_queue_per_flow:
            dropped.append((self._drop_last_of(list(reversed(flow))), ShedCause.FLOW_FULL))
        if len(self) > self._settings.max_queue_size:
            latest = [line[-1] for line in self._lines.values() if line]
            dropped.append((self._drop_last_of(latest), ShedCause.QUEUE_FULL))
        return dropped

    def expire(self, now: float, most: int | None = None) -> list[W]:
        """Take out the requests whose deadline has passed, `most` of them at most, the earliest first."""
        late = [entry for line in self._lines.values() for entry in line[: bisect_right(line, now, key=_deadline)]]
        late.sort(key=_deadline)
        late = late[:most]
        for entry in late:
            self.remove(entry)
        return late

    def remove(self, entry: W) -> None:
        """Take out one request; nothing happens where it doesn't wait."""
        ticket = entry.ticket
        if entry not in self._flows.get(ticket.flow, ()):
            return
        line = self._lines[ticket.tier]
        at = bisect_left(line, ticket.deadline, key=_deadline)
        while line[at] is not entry:
            at += 1
        del line[at]
        for index, key in self._indexes(entry):
            del index[key][entry]
            if not index[key]:
                del index[key]
        if ticket.supersedes is not None:
            del self._superseding[ticket.supersedes]

    def clear(self) -> list[W]:
        """Take out everything."""
        return self.expire(float("inf"))

    def lead(self) -> W | None:
        """The request whose turn it is."""
        tiers = [tier for tier, line in self._lines.items() if line]
        return self._lines[self._next(tiers)][0] if tiers else None

    def group(self, group: Hashable) -> tuple[int, float]:
        """How many requests of a group wait, at least one, and since when the oldest does."""
        entries = self._groups[group]
        return len(entries), next(iter(entries)).since

    def take(self, group: Hashable, rows: int) -> list[list[W]]:
        """Take out up to `rows` rows of the lead's group, the lead first; equal requests come along as one row."""
        taken: list[list[W]] = []
        at = dict.fromkeys(Tier, 0)
        while len(taken) < rows:
            for tier, line in self._lines.items():
                while at[tier] < len(line) and line[at[tier]].group != group:
                    at[tier] += 1
            tiers = [tier for tier, line in self._lines.items() if at[tier] < len(line)]
            if not tiers:
                break
            tier = self._next(tiers)
            if not taken:
                self._turn = max(self._turn, self._passed[tier])
            self._passed[tier] += self._strides[tier]
            taken.append(self._take_equals(self._lines[tier][at[tier]]))
        return taken

    def _take_equals(self, entry: W) -> list[W]:
        row = [entry]
        if entry.key is not None:
            row += (other for other in self._equals[entry.group, entry.key] if other is not entry)
        for member in row:
            self.remove(member)
        return row

    def _next(self, tiers: list[Tier]) -> Tier:
        return min(tiers, key=lambda tier: self._passed[tier])

    def _add(self, entry: W) -> None:
        ticket = entry.ticket
        line = self._lines[ticket.tier]
        if not line:  # a tier gathers no turns while it has nothing to do
            self._passed[ticket.tier] = max(self._passed[ticket.tier], self._turn)
        insort(line, entry, key=_deadline)
        for index, key in self._indexes(entry):
            index.setdefault(key, {})[entry] = None
        if ticket.supersedes is not None:
            self._superseding[ticket.supersedes] = entry

    def _indexes(self, entry: W) -> list[tuple[Index[W], Hashable]]:
        indexes: list[tuple[Index[W], Hashable]] = [
            (self._flows, entry.ticket.flow),
            (self._groups, entry.group),
        ]
        if entry.key is not None:
            indexes.append((self._equals, (entry.group, entry.key)))
        return indexes

    def _drop_last_of(self, entries: list[W]) -> W:
        last = max(entries, key=lambda entry: (_GIVES_WAY[entry.ticket.tier], entry.ticket.deadline))
        self.remove(last)
        return last


def _deadline(entry: Waiting) -> float:
    return entry.ticket.deadline
