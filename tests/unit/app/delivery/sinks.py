"""A viewer's connection in memory."""

from collections.abc import Sequence

from app.delivery.frames import Frame
from app.wire import ServerFrame


class FakeSink:
    """Takes frames until its buffer is told to be full; remembers what it was given."""

    def __init__(self) -> None:
        self.unsent = 0
        self.frames: list[Frame] = []
        self.told: list[ServerFrame] = []
        self.closed: tuple[int, str] | None = None

    @property
    def seqs(self) -> list[int]:
        """Numbers of the frames taken."""
        return [frame.seq for frame in self.frames]

    def buffered(self) -> int:
        return self.unsent

    def write(self, frames: Sequence[Frame]) -> None:
        self.frames += frames

    def tell(self, frame: ServerFrame) -> None:
        self.told.append(frame)

    def close(self, code: int, reason: str) -> None:
        assert self.closed is None
        self.closed = (code, reason)
