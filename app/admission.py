"""Which broadcasters are let in: one too many is refused before the subtitles of the others come late."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.errors import ServiceError
from app.metrics import LIVE_ROOMS, LIVE_ROOMS_HELD

_STRETCH = 2.0  # unfinished speech may be recognised so much less often than it is with one room


class Admission:
    """Counts broadcasters. A node holds as many as can all speak at once and still see partials often enough.

    That is how often recognition answers, by how often one room asks: known once somebody has spoken. The first
    broadcaster is always let in.
    """

    def __init__(self, mean_s: Callable[[], float], *, concurrency: int, interval_s: float, most: int) -> None:
        """`mean_s`: how long recognitions take, 0 while none is known. `concurrency`: how many run at once.

        `interval_s`: how often one room asks for one. `most`: a number to go by instead; 0 for none.
        """
        self._mean_s = mean_s
        self._concurrency = concurrency
        self._interval_s = interval_s
        self._most = most
        self._live = 0
        LIVE_ROOMS_HELD.set_function(lambda: self.held or 0)
        LIVE_ROOMS.set_function(lambda: self._live)

    @property
    def live(self) -> int:
        """Broadcasters now."""
        return self._live

    @property
    def held(self) -> int | None:
        """How many there may be at once; None: not known yet."""
        if self._most:
            return self._most
        mean_s = self._mean_s()
        return max(1, int(_STRETCH * self._concurrency * self._interval_s / mean_s)) if mean_s > 0 else None

    @contextmanager
    def broadcasting(self) -> Iterator[None]:
        """Count a broadcaster for as long as it lasts. Raises ServiceError where there is no place."""
        held = self.held
        if held is not None and self._live >= held:
            raise ServiceError(
                "busy",
                f"this node keeps up with {held} live rooms at once",
                hint="try another node, or later when a broadcast has ended",
                retry_after=30,
            )
        self._live += 1
        try:
            yield
        finally:
            self._live -= 1
