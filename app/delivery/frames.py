"""What goes out: a cue encoded once, and the place of a viewer among them."""

import msgspec
from websockets.frames import Frame as WebSocketFrame
from websockets.frames import Opcode

from app.wire import Gap, ServerFrame, encode


class Position(msgspec.Struct, frozen=True):
    """A place in a channel: the last frame somebody has seen. A number alone is wrong after a restart."""

    epoch: str
    seq: int


class Frame(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One version of one cue. `packet` is a whole WebSocket text frame, shared by all viewers.

    `at` is when it was published, in seconds of the loop's clock.
    """

    seq: int
    cue_id: str
    revision: int
    final: bool
    at: float
    packet: bytes
    retracted: bool = False

    @property
    def text(self) -> bytes:
        """The JSON text alone."""
        size = self.packet[1]
        return self.packet[2 if size < 126 else 4 if size == 126 else 10 :]


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What a viewer that joins is sent. `gap` where something between its place and the frames is lost."""

    frames: tuple[Frame, ...]
    gap: Gap | None = None


def packet(frame: ServerFrame) -> bytes:
    """A frame as an unmasked WebSocket text frame (RFC 6455), ready for any transport."""
    return WebSocketFrame(Opcode.TEXT, encode(frame).encode()).serialize(mask=False)
