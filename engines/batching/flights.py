"""Single flight: what runs now, so that who asks the same joins instead of asking again."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from engines.batching.call import Call, Request

Row = TypeVar("Row")
Result = TypeVar("Result")


class Flights(Generic[Row, Result]):
    """The rows of running calls by their keys, each with all requests that it answers."""

    def __init__(self, most: int) -> None:
        """`most`: requests that one row answers; who comes later asks anew."""
        self._most = most
        self._rows: dict[Hashable, list[Request[Row, Result]]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def join(self, request: Request[Row, Result]) -> bool:
        """Let a request share the answer of an equal row that runs; False where none does."""
        running = self._rows.get(request.key)
        if running is None or len(running) >= self._most:
            return False
        request.call = running[0].call
        running.append(request)
        return True

    def start(self, call: Call[Row, Result]) -> None:
        """A call's rows may be joined from now on."""
        self._rows |= {row[0].key: row for row in call.rows if row[0].key is not None}

    def end(self, call: Call[Row, Result]) -> None:
        """Nobody joins this call any more."""
        for row in call.rows:
            if self._rows.get(row[0].key) is row:
                del self._rows[row[0].key]
