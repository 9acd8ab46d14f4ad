"""Stamp a ledger and read it: each stage's time is written once and never overwritten."""

import msgspec

from pipelines.types import Ledger

# A stage's duration runs from the nearest earlier stamp that is there to its own.
STAGES = ("received", "endpointed", "recognised", "normalised", "queued", "inferred", "published")


def stamp(ledger: Ledger, **times: float) -> Ledger:
    """The ledger with more stages filled in; a stage that has its time keeps it."""
    return msgspec.structs.replace(ledger, **{k: v for k, v in times.items() if getattr(ledger, k) is None})


def durations(ledger: Ledger) -> dict[str, float]:
    """Seconds spent in each stage that was passed, by the stage's name."""
    found: dict[str, float] = {}
    before = ledger.captured
    for stage in STAGES:
        at: float | None = getattr(ledger, stage)
        if at is None:
            continue
        if before is not None:
            found[stage] = max(0.0, at - before)
        before = at
    return found
