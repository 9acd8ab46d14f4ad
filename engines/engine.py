"""What any model is to the rest of the system: rows in, results out, two numbers for its capacity."""

from collections.abc import Hashable, Sequence
from typing import Protocol, TypeVar

import msgspec

Row = TypeVar("Row", contravariant=True)
Result = TypeVar("Result", covariant=True)


class Capacity(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a model can be busy at once: `concurrency` calls of up to `max_batch` rows each."""

    max_batch: int
    concurrency: int


class RowFailure(msgspec.Struct, frozen=True):
    """One row that the engine could not answer while the rest of its call went well."""

    reason: str


class Engine(Protocol[Row, Result]):
    """A model behind one call. Stateless between calls: whatever varies rides on the row."""

    @property
    def name(self) -> str:
        """The back end, as metrics label it: "llama.cpp", "ctranslate2", ..."""

    @property
    def version(self) -> str:
        """model@version; part of every cache key."""

    @property
    def capacity(self) -> Capacity:
        """Rows per call and calls at once."""

    def group(self, row: Row) -> Hashable:
        """What rows of one call must share (a language pair, a length bucket)."""

    async def run(self, rows: Sequence[Row]) -> Sequence[Result | RowFailure]:
        """Answer every row, in order and in equal number.

        Raises EngineFault when the call as a whole failed. On cancellation the rows are given up and the
        engine stays usable.
        """

    async def warm(self) -> None:
        """Load what the first call would otherwise wait for. Raises EngineFault."""

    async def close(self) -> None:
        """Free memory and threads. A second call does nothing."""
