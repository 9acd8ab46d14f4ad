"""When each frame of a live stream is due, and when each second of it was really sent. No waiting in here."""

from bisect import bisect_left
from collections import deque

_MAX_LATE_S = 0.5
_REMEMBERED_FRAMES = 4_500  # three minutes of 40 ms frames


class Pace:
    """A stream's clock laid over the loop's clock: a frame is due when its last sample would have been heard.

    Small delays are caught up, so the stream does not drift; after a stall of more than half a second the whole
    plan moves instead, so there is no burst.
    """

    def __init__(self, started_at: float) -> None:
        self._zero = started_at

    def due(self, stream_end: float, now: float) -> float:
        """The loop time at which the frame that ends at `stream_end` seconds may leave."""
        due = self._zero + stream_end
        if now - due > _MAX_LATE_S:
            self._zero += now - due
            due = now
        return due


class SendClock:
    """Remembers when the last three minutes of a stream left us."""

    def __init__(self) -> None:
        self._ends: deque[float] = deque(maxlen=_REMEMBERED_FRAMES)
        self._sent: deque[float] = deque(maxlen=_REMEMBERED_FRAMES)

    @property
    def seconds(self) -> float:
        """Stream seconds sent so far."""
        return self._ends[-1] if self._ends else 0.0

    def sent(self, stream_end: float, at: float) -> None:
        """A frame that ends at `stream_end` left at loop time `at`. Call in order."""
        self._ends.append(stream_end)
        self._sent.append(at)

    def position(self, at: float) -> float:
        """How far the stream is at a loop time after the last frame left, in seconds; it goes on once all was sent."""
        return self._ends[-1] + (at - self._sent[-1]) if self._ends else 0.0

    def when(self, stream_second: float) -> float | None:
        """The loop time at which the sample of that second left; None where it was not sent or is forgotten."""
        place = bisect_left(self._ends, stream_second)
        if place == len(self._ends) or (place == 0 and len(self._ends) == _REMEMBERED_FRAMES):
            return None
        return self._sent[place] - (self._ends[place] - stream_second)
