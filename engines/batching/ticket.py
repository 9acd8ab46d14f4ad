"""What the scheduler may know of a request (Ticket) and what comes of it (Outcome)."""

from collections.abc import Hashable
from enum import StrEnum
from typing import Generic, TypeAlias, TypeVar

import msgspec

from engines.engine import RowFailure
from engines.errors import EngineFault

Result = TypeVar("Result")


class Tier(StrEnum):
    """How much a request counts under load."""

    PREMIUM = "premium"
    STANDARD = "standard"
    BACKGROUND = "background"


class ShedCause(StrEnum):
    """Why something was dropped on purpose."""

    DEADLINE = "deadline"
    SUPERSEDED = "superseded"
    QUEUE_FULL = "queue_full"
    FLOW_FULL = "flow_full"
    CLOSED = "closed"


class Ticket(msgspec.Struct, frozen=True, kw_only=True):
    """The scheduling side of one request.

    `flow` is an opaque fairness key; `deadline` is in seconds of the loop's clock; a waiting request with the
    same `supersedes` key is replaced by a newer one.
    """

    flow: str
    tier: Tier
    deadline: float
    supersedes: Hashable | None = None


class Done(msgspec.Struct, Generic[Result], frozen=True, kw_only=True):
    """An answer, and how long it waited and took (seconds). A cached answer took no inference."""

    result: Result
    queued_s: float
    infer_s: float
    batch_rows: int
    cached: bool = False


class Shed(msgspec.Struct, frozen=True):
    """Dropped on purpose; counted where it happened."""

    cause: ShedCause


class Failed(msgspec.Struct, frozen=True):
    """Broken: the engine's call or this one row."""

    fault: EngineFault | RowFailure


Outcome: TypeAlias = Done[Result] | Shed | Failed
