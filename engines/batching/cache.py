"""Answers that were given lately, by what was asked and the model's version."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Row = TypeVar("Row")
Result = TypeVar("Result")


class ResultCache(Generic[Row, Result]):
    """Least recently used, bounded in entries and age (seconds).

    `key(row)` says which rows have the same answer, None where an answer is not to be shared. The batcher infers
    rows of equal key once, however many ask for them at the same time.
    """

    def __init__(
        self, key: Callable[[Row], Hashable | None], *, max_entries: int = 10_000, max_age_s: float = 600.0
    ) -> None:
        self._key = key
        self._max_entries = max_entries
        self._max_age_s = max_age_s
        self._entries: OrderedDict[Hashable, tuple[float, Result]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def key(self, row: Row, version: str) -> Hashable | None:
        """What a row is known by for one version of a model."""
        key = self._key(row)
        return None if key is None else (version, key)

    def get(self, key: Hashable, now: float) -> Result | None:
        """The answer, unless it is older than `max_age_s`."""
        stored = self._entries.get(key)
        if stored is None:
            return None
        at, result = stored
        if now - at > self._max_age_s:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return result

    def put(self, key: Hashable, result: Result, now: float) -> None:
        """Keep an answer; the one that was not asked for longest gives way."""
        self._entries[key] = (now, result)
        self._entries.move_to_end(key)
        if len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)
