"""The viewers' socket: hello, what was missed, then live; answers pings."""

import asyncio
import socket
from collections.abc import Callable, Sequence

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

from app.auth import Scope
from app.clock import Clock
from app.delivery.frames import Frame, packet
from app.delivery.hub import Hub
from app.delivery.reading import Languages, Reading, hello
from app.delivery.websocket_server import CLOSE_S, Call
from app.errors import ServiceError
from app.wire import Ping, Pong, ServerFrame, decode_client, encode

PINGS_AT_ONCE, PINGS_PER_S = 20, 2.0
UNSENT_BYTES = 16 * 1024

Authorise = Callable[[str | None, str, Scope], None]


class SubtitleSocket:
    """Check and serve of the route "/v1/rooms/{room}/subtitles?lang=…&resume_from=epoch:seq".

    `authorise(token, room, scope)` and `languages(room)`, the room's readable languages, raise ServiceError.
    """

    def __init__(self, hub: Hub, clock: Clock, authorise: Authorise, languages: Languages) -> None:
        self._hub = hub
        self._clock = clock
        self._authorise = authorise
        self._languages = languages

    def check(self, call: Call) -> None:
        """Raises ServiceError where the token, the room, the language or the place is wrong, or the node full."""
        self._authorise(call.token, call.path["room"], Scope.VIEW)
        self._reading(call)
        self._hub.ensure_space()

    async def serve(self, connection: ServerConnection, call: Call) -> None:
        """Let one viewer read until it leaves. Raises ServiceError, ConnectionClosed."""
        reading = self._reading(call)
        sink = SocketSink(connection)
        joined = self._hub.join(reading.room, reading.language, sink, reading.resume)
        try:
            sink.tell(hello(joined, reading, self._clock))
            if joined.replay.gap is not None:
                sink.tell(joined.replay.gap)
            self._hub.start(joined)
            await self._answer_pings(connection)
        finally:
            self._hub.leave(joined)

    def _reading(self, call: Call) -> Reading:
        return Reading.parse(call.path["room"], call.query.get("lang"), call.query.get("resume_from"), self._languages)

    async def _answer_pings(self, connection: ServerConnection) -> None:
        allowance = Allowance(PINGS_AT_ONCE, PINGS_PER_S, asyncio.get_running_loop().time())
        async for message in connection:
            if not allowance.take(asyncio.get_running_loop().time()):
                raise ServiceError("too_many_requests", "too many frames", hint="ping once in 10 s")
            pong = Pong(client_time_ms=_ping(message).client_time_ms, server_time_ms=self._clock.now_ms())
            await connection.send(encode(pong))


class SocketSink:
    """A viewer's WebSocket as the fan-out writes to it: ready-made packets straight to the transport."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        _keep_little_in_the_kernel(connection)

    def buffered(self) -> int:
        """Bytes in the transport's write buffer."""
        return self._connection.transport.get_write_buffer_size()

    def write(self, frames: Sequence[Frame]) -> None:
        """Send frames in order."""
        self.write_packet(frames[0].packet if len(frames) == 1 else b"".join([frame.packet for frame in frames]))

    def tell(self, frame: ServerFrame) -> None:
        """Send a frame that is no version of a cue."""
        self.write_packet(packet(frame))

    def write_packet(self, data: bytes) -> None:
        """Send a whole WebSocket frame; after the connection has closed nothing happens."""
        if self._connection.protocol.state is State.OPEN:
            self._connection.transport.write(data)

    def close(self, code: int, reason: str) -> None:
        """Send a close frame; a client that does not answer it in 5 s is cut off."""
        connection = self._connection
        if connection.protocol.state is State.OPEN:
            connection.protocol.send_close(code, reason)
            connection.send_data()
            connection.loop.call_later(CLOSE_S, connection.transport.abort)


class Allowance:
    """A token bucket: `most` at once, then `per_s` a second."""

    def __init__(self, most: float, per_s: float, now: float) -> None:
        self._most = most
        self._per_s = per_s
        self._left = most
        self._at = now

    def take(self, now: float) -> bool:
        """Whether one more is allowed at `now`."""
        self._left = min(self._most, self._left + (now - self._at) * self._per_s)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def _ping(message: str | bytes) -> Ping:
    try:
        frame = decode_client(message)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ServiceError("bad_frame", str(error), hint="see docs/protocol.md") from error
    if not isinstance(frame, Ping):
        raise ServiceError("bad_frame", "a viewer only sends pings", hint="see docs/protocol.md")
    return frame


def _keep_little_in_the_kernel(connection: ServerConnection) -> None:
    """What the kernel has taken can't be replaced by a newer revision any more: let it take little."""
    raw = connection.transport.get_extra_info("socket")
    if raw is not None and hasattr(socket, "TCP_NOTSENT_LOWAT"):
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)
