"""One call of an engine: whose rows it carries, and how its end becomes their outcomes."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from engines.batching.queue import Waiting
from engines.batching.ticket import Done, Failed, Outcome
from engines.engine import Engine, RowFailure
from engines.errors import EngineFault, Unavailable, without_foreign_words

Row = TypeVar("Row")
Result = TypeVar("Result")

_A_BUG = "this is a bug of the engine; please report it"


@dataclass(slots=True, eq=False, kw_only=True)
class Request(Waiting, Generic[Row, Result]):
    """One caller's row and the future that the caller awaits. `call` is None while it waits in the queue."""

    row: Row
    answer: asyncio.Future[Outcome[Result]]
    call: "Call[Row, Result] | None" = None

    def settle(self, outcome: Outcome[Result]) -> None:
        """Give the outcome, unless there is one or the caller is gone."""
        if not self.answer.done():
            self.answer.set_result(outcome)


@dataclass(slots=True, eq=False)
class Call(Generic[Row, Result]):
    """Rows that run together; each row has all the requests that it answers."""

    rows: list[list[Request[Row, Result]]]
    started: float
    task: asyncio.Task[None] | None = None

    def __iter__(self) -> Iterator[Request[Row, Result]]:
        return (request for row in self.rows for request in row)

    @property
    def first(self) -> Row:
        """One of its rows, for what all of a group have in common."""
        return self.rows[0][0].row

    @property
    def is_awaited(self) -> bool:
        """Whether any caller still waits for it."""
        return not all(request.answer.done() for request in self)

    def settle(self, outcome: Outcome[Result]) -> None:
        """One outcome for all."""
        for request in self:
            request.settle(outcome)

    def answer(self, results: Sequence[Result | RowFailure], now: float) -> None:
        """Give each row its own result."""
        for row, result in zip(self.rows, results, strict=True):
            for request in row:
                begun = max(self.started, request.since)
                outcome: Outcome[Result] = (
                    Failed(result)
                    if isinstance(result, RowFailure)
                    else Done(
                        result=result,
                        queued_s=begun - request.since,
                        infer_s=now - begun,
                        batch_rows=len(self.rows),
                    )
                )
                request.settle(outcome)


async def infer(engine: Engine[Row, Result], rows: Sequence[Row]) -> Sequence[Result | RowFailure] | EngineFault:
    """Run rows; whatever the engine raises comes back as a fault."""
    try:
        results = await engine.run(rows)
    except Exception as error:  # noqa: BLE001 - foreign code; its caller counts and logs the fault
        return without_foreign_words(error)
    if len(results) != len(rows):
        return EngineFault(f"{engine.name} gave {len(results)} results for {len(rows)} rows", hint=_A_BUG)
    return results


async def warm(engine: Engine[Row, Result], longest_s: float) -> EngineFault | None:
    """Warm an engine; why that failed or took too long, None where it went well."""
    try:
        async with asyncio.timeout(longest_s):
            await engine.warm()
    except TimeoutError:
        return Unavailable(f"{engine.name} did not get warm in {longest_s:g} s", hint="look at the engine's own log")
    except Exception as error:  # noqa: BLE001 - as above
        return without_foreign_words(error)
    return None
