"""Run something again when it breaks, with back-off and a state that says how it is."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0

log = structlog.get_logger()


async def supervise(name: str, run: Callable[[], Awaitable[None]], *, restarts: int, fields: dict[str, str]) -> bool:
    """Await `run()`; after a fault try again up to `restarts` times, waiting longer each time.

    Returns True when it ended by itself, False when it broke once too often. Cancellation passes through.
    """
    wait = _FIRST_WAIT_S
    for attempt in range(restarts + 1):
        try:
            await run()
        except Exception as fault:  # noqa: BLE001 - whatever broke, it is recorded here and becomes state
            # The text of a fault may quote what somebody said, so only its kind is logged.
            log.error("task_failed", task=name, attempt=attempt, fault=_kinds(fault), **fields)
            if attempt == restarts:
                return False
            await asyncio.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT_S)
        else:
            return True
    return False


def _kinds(fault: BaseException) -> list[str]:
    """The types of a fault and of what a group holds."""
    if isinstance(fault, BaseExceptionGroup):
        return [kind for inner in fault.exceptions for kind in _kinds(inner)]
    place = fault.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f"{place.tb_frame.f_code.co_filename.rsplit('/', 1)[-1]}:{place.tb_lineno}" if place else "?"
    return [f"{type(fault).__name__} at {where}"]
