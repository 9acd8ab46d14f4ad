"""The SSE twin of the viewers' socket, for networks that block WebSocket (WHATWG HTML, Server-sent events)."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from app.clock import Clock
from app.delivery.frames import Frame
from app.delivery.hub import Hub
from app.delivery.reading import Reading, error_frame, hello
from app.errors import ServiceError
from app.wire import ServerFrame, encode

HEARTBEAT_S = 15.0
RETRY_MS = 2_000


class EventSink:
    """Holds events until the response asks for them; the viewer stops filling it at its own limit."""

    def __init__(self) -> None:
        self.epoch = ""
        self.closed = False
        self._waiting = bytearray()
        self._ready = asyncio.Event()

    def buffered(self) -> int:
        """Bytes not yet asked for."""
        return len(self._waiting)

    def write(self, frames: Sequence[Frame]) -> None:
        """Add frames in order; each event's id is the place to resume from."""
        for frame in frames:
            self._waiting += b"id: %s:%d\ndata: %s\n\n" % (self.epoch.encode(), frame.seq, frame.text)
        self._ready.set()

    def tell(self, frame: ServerFrame) -> None:
        """Add a frame that has no place of its own."""
        self._waiting += b"data: %s\n\n" % encode(frame).encode()
        self._ready.set()

    def close(self, code: int, reason: str) -> None:
        """Let the response end with an error frame; what waits is dropped."""
        self._waiting.clear()
        self.tell(error_frame(ServiceError(reason, "the server ends this stream", hint="connect again later")))
        self.closed = True

    async def take(self) -> bytes:
        """What waits, or a comment when nothing has come for 15 s."""
        try:
            async with asyncio.timeout(HEARTBEAT_S):
                await self._ready.wait()
        except TimeoutError:
            return b":\n\n"
        self._ready.clear()
        taken = bytes(self._waiting)
        self._waiting.clear()
        return taken


async def subtitle_events(hub: Hub, clock: Clock, reading: Reading) -> AsyncGenerator[bytes, None]:
    """The body of a text/event-stream response: hello, what was missed, then live, until the room closes.

    The viewer joins with the first step; check `hub.ensure_space()` before the response begins.
    """
    yield b"retry: %d\n\n" % RETRY_MS
    sink = EventSink()
    try:
        joined = hub.join(reading.room, reading.language, sink, reading.resume)
    except ServiceError as error:
        sink.tell(error_frame(error))
        yield await sink.take()
        return
    try:
        sink.epoch = joined.epoch
        sink.tell(hello(joined, reading, clock))
        if joined.replay.gap is not None:
            sink.tell(joined.replay.gap)
        hub.start(joined)
        while not sink.closed:
            yield await sink.take()
        if sink.buffered():
            yield await sink.take()
    finally:
        hub.leave(joined)
