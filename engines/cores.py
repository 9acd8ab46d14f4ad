"""The CPU cores that the models of one process share: one claims some, another takes what is left.

Two models that each start a thread for every core make each other wait; see docs/latency.md for what that cost.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Cores:
    """Counts claims. Threads of all engines may use it at once; nobody ever waits."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._claimed = 0
        self._lock = threading.Lock()

    @contextmanager
    def claim(self, cores: int) -> Iterator[None]:
        """Compute on so many cores."""
        with self._lock:
            self._claimed += cores
        try:
            yield
        finally:
            with self._lock:
                self._claimed -= cores

    def free(self) -> int:
        """How many nobody claims now; at least 1, so that everybody goes on."""
        return max(1, self._total - self._claimed)
