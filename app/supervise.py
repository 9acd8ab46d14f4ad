"""Run something again when it breaks, with back-off and a state that says how it is."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from engines.errors import place_of

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_SOUND_S = 60.0  # after so long without a fault the earlier ones are forgotten

log = structlog.get_logger()


async def supervise(name: str, run: Callable[[], Awaitable[None]], *, restarts: int, fields: dict[str, str]) -> bool:
    """Await `run()`; after a fault try again up to `restarts` times in a row, waiting longer each time.

    Returns True when it ended by itself, False when it broke once too often. Cancellation passes through.
    """
    loop, wait, attempt = asyncio.get_running_loop(), _FIRST_WAIT_S, 0
    while True:
        began = loop.time()
        try:
            await run()
        except Exception as fault:  # noqa: BLE001 - whatever broke, it is recorded here and becomes state
            if loop.time() - began > _SOUND_S:
                wait, attempt = _FIRST_WAIT_S, 0
            # The text of a fault may quote what somebody said, so only its kind is logged.
            log.error("task_failed", task=name, attempt=attempt, fault=_kinds(fault), **fields)
            if attempt == restarts:
                return False
            await asyncio.sleep(wait)
            wait, attempt = min(wait * 2, _LONGEST_WAIT_S), attempt + 1
        else:
            return True


def _kinds(fault: BaseException) -> list[str]:
    """The types of a fault and of what a group holds."""
    if isinstance(fault, BaseExceptionGroup):
        return [kind for inner in fault.exceptions for kind in _kinds(inner)]
    return [place_of(fault)]
