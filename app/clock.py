"""The only reader of wall time: epoch milliseconds on the wire, the loop's seconds everywhere else."""

import asyncio
import time
from collections.abc import Callable


def wall_now_ms() -> int:
    """Epoch milliseconds by the machine's clock."""
    return time.time_ns() // 1_000_000


class Clock:
    """Ties the running loop's clock to wall time once, so that a machine whose clock is set does not move cues."""

    def __init__(self, now: Callable[[], float] | None = None) -> None:
        self._now = now or asyncio.get_running_loop().time
        self._zero_ms = wall_now_ms() - self._now() * 1000

    def epoch_ms(self, loop_time: float) -> int:
        """Epoch milliseconds of a moment of the loop's clock (seconds)."""
        return round(self._zero_ms + loop_time * 1000)

    def loop_time(self, epoch_ms: float) -> float:
        """The moment of the loop's clock (seconds) that epoch milliseconds stand for."""
        return (epoch_ms - self._zero_ms) / 1000

    def now_ms(self) -> float:
        """Epoch milliseconds now, with their fraction."""
        return self._zero_ms + self._now() * 1000
