"""One viewer: straight to its connection while that takes it, else an outbox where the newest revision wins. Sync."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from app.delivery.frames import Frame
from app.delivery.metrics import DROPPED, SLOW_VIEWERS
from app.errors import ERRORS
from app.wire import ServerFrame


class ViewerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """When a viewer counts as slow and as hopeless."""

    buffer_bytes: int = 64 * 1024
    """Unsent bytes in the connection's own buffer from which frames wait in the outbox."""
    outbox_cues: int = 64
    """Cues that wait at most."""
    patience_s: float = 10.0
    """A viewer that takes nothing for so long is closed."""


class Sink(Protocol):
    """A viewer's connection. None of its methods waits or raises, also after it has closed."""

    def buffered(self) -> int:
        """Bytes taken that have not left yet."""

    def write(self, frames: Sequence[Frame]) -> None:
        """Send frames in order."""

    def tell(self, frame: ServerFrame) -> None:
        """Send a frame that is no version of a cue."""

    def close(self, code: int, reason: str) -> None:
        """End the connection."""


class Outbox:
    """Frames that wait, in order, one for each cue. Full: the oldest partial goes, or else the oldest frame."""

    def __init__(self, most: int, frames: Iterable[Frame] = ()) -> None:
        self._waiting = OrderedDict((frame.cue_id, frame) for frame in frames)
        self._most = most + len(self._waiting)  # a replay has its own place: only what follows is limited

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, frame: Frame) -> None:
        """Add a frame; an older revision of the same cue gives way."""
        if self._waiting.pop(frame.cue_id, None) is not None:
            DROPPED.labels("superseded").inc()
        self._waiting[frame.cue_id] = frame
        if len(self._waiting) > self._most:
            oldest = next(iter(self._waiting))
            del self._waiting[next((cue for cue, waiting in self._waiting.items() if not waiting.final), oldest)]
            DROPPED.labels("outbox_full").inc()

    def take(self) -> Frame:
        """The oldest frame. Raises KeyError when empty."""
        return self._waiting.popitem(last=False)[1]


class Viewer:
    """Sends frames to one connection, at most what it can take."""

    __slots__ = ("_buffered", "_closed", "_limits", "_outbox", "_progress_at", "_sink", "seq")

    def __init__(self, sink: Sink, limits: ViewerLimits) -> None:
        self.seq = 0  # the last frame handed to this viewer, or passed over
        self._sink = sink
        self._limits = limits
        self._outbox: Outbox | None = None  # None: not behind
        self._buffered = 0
        self._progress_at = 0.0
        self._closed = False

    @property
    def behind(self) -> bool:
        """Whether frames wait."""
        return self._outbox is not None

    def start(self, replay: Sequence[Frame], seq: int, now: float) -> None:
        """Send what was missed; what the connection can't take at once waits. `seq`: the channel's last number."""
        self.seq = seq
        self._fall_behind(Outbox(self._limits.outbox_cues, replay), now)
        self.drain(now)

    def send(self, frames: Sequence[Frame], now: float) -> None:
        """Send new frames, in order of seq; those this viewer has had already are left out."""
        if self._closed:
            return
        if frames[0].seq <= self.seq:
            frames = [frame for frame in frames if frame.seq > self.seq]
            if not frames:
                return
        self.seq = frames[-1].seq
        if self._outbox is None:
            if self._sink.buffered() < self._limits.buffer_bytes:
                self._sink.write(frames)
                return
            self._fall_behind(Outbox(self._limits.outbox_cues), now)
        assert self._outbox is not None
        for frame in frames:
            self._outbox.put(frame)

    def tell(self, frame: ServerFrame) -> None:
        """Send a frame that is no version of a cue; a viewer that is behind does without."""
        if not self._closed and self._sink.buffered() < self._limits.buffer_bytes:
            self._sink.tell(frame)

    def drain(self, now: float) -> None:
        """Pass on what waits while the connection takes it; close it with 4408 when it has taken nothing for long."""
        if self._outbox is None:
            return
        buffered = self._sink.buffered()
        if buffered < self._buffered:
            self._progress_at = now
        while self._outbox and buffered < self._limits.buffer_bytes:
            self._sink.write((self._outbox.take(),))
            buffered = self._sink.buffered()
        self._buffered = buffered
        if not self._outbox:
            self._outbox = None
        elif now - self._progress_at >= self._limits.patience_s:
            SLOW_VIEWERS.inc()
            self.close("slow_reader")

    def close(self, code: str) -> None:
        """End the connection with an error of app/errors.py. What waits is dropped; closing again does nothing."""
        if self._closed:
            return
        self._closed = True
        self._outbox = None
        self._sink.close(ERRORS[code].close_code, code)

    def _fall_behind(self, outbox: Outbox, now: float) -> None:
        self._outbox = outbox
        self._buffered = self._sink.buffered()
        self._progress_at = now
