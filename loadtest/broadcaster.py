"""A broadcaster: sends any file, URL or microphone to a room at the pace of its own clock."""

import asyncio
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from loadtest.frames import AudioEnd, AudioEnded, AudioReady, AudioStart, ErrorFrame, ServerFrame, decode, encode
from loadtest.pacing import Pace, SendClock
from loadtest.server import Server
from loadtest.sources import FRAME_S, SAMPLE_RATE_HZ, BroadcastError, frames

__all__ = ["BroadcastError", "Broadcaster"]

Frame = TypeVar("Frame", bound=ServerFrame)
_ANSWER_S = 10.0
_END_S = 30.0


class Broadcaster:
    """Sends one source into one room, then `tail_s` of silence.

    `clock` knows when each stream second left; `seconds` is what was sent.
    """

    def __init__(self, server: Server, room: str, source: str, *, repeat: bool = False, tail_s: float = 0.0) -> None:
        self._server = server
        self._room = room
        self._source = source
        self._repeat = repeat
        self._tail_s = tail_s
        self.clock = SendClock()

    @property
    def seconds(self) -> float:
        """Stream seconds sent so far."""
        return self.clock.seconds

    async def run(self) -> float:
        """Send the source to its end and return the seconds that the server took.

        Raises BroadcastError. When cancelled, the socket is closed and the source released.
        """
        reader = _Reader(frames(self._source, repeat=self._repeat, tail_s=self._tail_s))
        try:
            first = await reader.next()  # a source that can't be read is found out before the room is bothered
            url = self._server.socket_url(self._room, "audio")
            async with connect(
                url, additional_headers=self._server.headers, compression=None, proxy=None, open_timeout=_ANSWER_S
            ) as socket:
                return await self._play(socket, reader, first)
        except ConnectionClosed as error:
            raise BroadcastError(f"the server closed the connection: {error}") from error
        except (OSError, TimeoutError, InvalidHandshake, InvalidURI) as error:
            raise BroadcastError(f"{self._server.url}: can't be connected to: {error}") from error
        finally:
            reader.close()

    async def _play(self, socket: ClientConnection, reader: "_Reader", frame: bytes | None) -> float:
        await socket.send(encode(AudioStart(sample_rate_hz=SAMPLE_RATE_HZ)))
        await _answer(socket, AudioReady, _ANSWER_S)
        loop = asyncio.get_running_loop()
        pace, number = Pace(loop.time()), 0
        while frame is not None:
            number += 1
            end = number * FRAME_S
            await asyncio.sleep(pace.due(end, loop.time()) - loop.time())
            await _send(socket, frame)
            self.clock.sent(end, loop.time())
            frame = await reader.next()
        await socket.send(encode(AudioEnd()))
        return (await _answer(socket, AudioEnded, _END_S)).seconds


async def _send(socket: ClientConnection, frame: bytes) -> None:
    """Send one frame; where the server has closed, say what it said last."""
    try:
        async with asyncio.timeout(_ANSWER_S):
            await socket.send(frame)
    except TimeoutError as error:
        raise BroadcastError("the server stopped taking audio") from error
    except ConnectionClosed:
        await _answer(socket, AudioEnded, _ANSWER_S)
        raise


async def _answer(socket: ClientConnection, wanted: type[Frame], wait_s: float) -> Frame:
    try:
        async with asyncio.timeout(wait_s):
            while True:
                frame = decode(await socket.recv())
                if isinstance(frame, ErrorFrame):
                    raise BroadcastError(f"the server refused: {frame.detail} ({frame.hint})")
                if isinstance(frame, wanted):
                    return frame
    except TimeoutError as error:
        raise BroadcastError(f"the server did not answer within {wait_s:.0f} s") from error
    except msgspec.DecodeError as error:
        raise BroadcastError(f"the server does not speak the protocol: {error}") from error


class _Reader:
    """Pulls frames in a thread of its own; nothing is read ahead, so nothing piles up."""

    def __init__(self, source: Generator[bytes, None, None]) -> None:
        self._source = source
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="source")

    async def next(self) -> bytes | None:
        """The next frame, None after the last. Raises BroadcastError."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, next, self._source, None)

    def close(self) -> None:
        """Release the source as soon as the read in progress ends."""
        self._thread.submit(self._source.close)
        self._thread.shutdown(wait=False)
