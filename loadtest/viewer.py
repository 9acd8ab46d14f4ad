"""A viewer: reads one language of one room and comes back after a loss where it was."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from loadtest.clock import ClockOffset
from loadtest.frames import Cue, ErrorFrame, Gap, Hello, Ping, Pong, Retract, ServerFrame, State, decode, encode
from loadtest.server import Server, refusal_text

_PING_S = 10.0
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.25, 10.0
_CONNECT_S = 10.0


class ViewerRefused(Exception):
    """The server won't have this viewer and trying again does not help; the message says why."""


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """A frame and when it came: `at` in seconds of the loop's clock, `server_ms` in the server's epoch milliseconds."""

    frame: Hello | Cue | Retract | Gap | State
    at: float
    server_ms: float


def retry_wait(attempt: int, chance: float) -> float:
    """Seconds before the `attempt`-th try (from 0): doubling up to 10, of which `chance` (0 to 1) picks 50-100%."""
    longest = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** min(attempt, 16))
    return longest * (0.5 + chance / 2)


class Viewer:
    """One reader of a room in one language."""

    def __init__(self, server: Server, room: str, lang: str, *, chance: Callable[[], float] = random.random) -> None:
        self._server = server
        self._room = room
        self._lang = lang
        self._chance = chance
        self._place: tuple[str, int] | None = None  # epoch and seq of the last frame seen
        self._attempt = 0
        self._offset = ClockOffset()

    async def frames(self) -> AsyncIterator[Received]:
        """Every frame but pongs, through losses, until cancelled. Raises ViewerRefused."""
        while True:
            try:
                async with self._connected() as socket:
                    async for received in self._read(socket):
                        yield received
            except InvalidStatus as error:
                if 400 <= error.response.status_code < 500:
                    raise ViewerRefused(
                        refusal_text(error.response.status_code, bytes(error.response.body or b""))
                    ) from error
            except ConnectionClosed as error:
                if error.rcvd is not None and error.rcvd.code >= 4500:
                    raise ViewerRefused(error.rcvd.reason or f"closed with {error.rcvd.code}") from error
            except (OSError, TimeoutError, InvalidHandshake):
                pass
            await asyncio.sleep(retry_wait(self._attempt, self._chance()))
            self._attempt += 1

    def _connected(self) -> connect:
        query = {"lang": self._lang}
        if self._place is not None:
            query["resume_from"] = f"{self._place[0]}:{self._place[1]}"
        url = self._server.socket_url(self._room, "subtitles", **query)
        return connect(
            url, additional_headers=self._server.headers, compression=None, proxy=None, open_timeout=_CONNECT_S
        )

    async def _read(self, socket: ClientConnection) -> AsyncIterator[Received]:
        loop = asyncio.get_running_loop()
        ping_at = loop.time()
        while True:
            if loop.time() >= ping_at:
                await socket.send(encode(Ping(client_time_ms=loop.time() * 1000)))
                ping_at = loop.time() + _PING_S
            try:
                async with asyncio.timeout_at(ping_at):
                    text = await socket.recv()
            except TimeoutError:
                continue
            frame, now = decode(text), loop.time()
            self._note(frame, now)
            if isinstance(frame, Hello | Cue | Retract | Gap | State):
                yield Received(frame=frame, at=now, server_ms=self._offset.server_ms(now * 1000))

    def _note(self, frame: ServerFrame | None, now: float) -> None:
        """What a frame teaches about our place in the stream and the server's clock. Raises ViewerRefused."""
        match frame:
            case Hello(epoch=epoch, seq=seq, server_time_ms=server_ms):
                self._attempt = 0
                self._offset.hello(server_ms, now * 1000)
                if self._place is None or self._place[0] != epoch:
                    self._place = (epoch, seq)
            case Cue(seq=seq) | Retract(seq=seq) if self._place is not None:
                self._place = (self._place[0], max(seq, self._place[1]))
            case Gap(epoch=epoch, next_seq=next_seq):
                self._place = (epoch, next_seq - 1)
            case Pong(client_time_ms=sent, server_time_ms=server_ms):
                self._offset.pong(sent, server_ms, now * 1000)
            case ErrorFrame(reconnect=False, detail=detail, hint=hint):
                raise ViewerRefused(f"{detail} ({hint})")
            case _:
                pass
