"""An event loop whose clock jumps to the next timer when nothing else is ready: exact timing, no waiting."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _JumpingSelector(selectors.SelectSelector):
    """Never sleeps: tells the loop's clock how far it would have slept."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout:
            self.now += timeout
        elif not ready and timeout is None:
            raise RuntimeError("every task waits for something that no timer will bring")
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """loop.time() starts at 0 and moves only by timers. Threads and sockets are not for this loop."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)
