"""A room of a running server as its chatters, viewers and broadcaster see it."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, ClassVar, Self

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from engines.audio import Samples, samples_in, seconds
from tests.support.material import pcm

Frame = dict[str, Any]
WAIT_S = 30.0
_PIECE_S = 0.1


class Room:
    """A room that exists inside `with`. `sent` remembers the comments of all rooms of this run."""

    sent: ClassVar[list[str]] = []

    def __init__(self, url: str, name: str, *, token: str | None = None, **settings: object) -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self.name = name
        self._settings = settings
        self.http = httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=10.0)
        self._socket_url = f"ws{url.removeprefix('http')}/v1/rooms/{name}"
        self._headers = headers

    def __enter__(self) -> Self:
        self.http.post("/v1/rooms", json={"room": self.name, **self._settings}).raise_for_status()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.delete(f"/v1/rooms/{self.name}")
        self.http.close()

    def comment(self, text: str, **fields: object) -> str:
        """Post a comment; its id."""
        self.sent.append(text)
        response = self.http.post(f"/v1/rooms/{self.name}/comments", json={"text": text, **fields})
        assert response.status_code == 202, response.text
        identifier: str = response.json()["id"]
        return identifier

    def socket(self, path: str, **options: Any) -> connect:
        """A WebSocket of the room, such as "audio" or "subtitles?lang=en"."""
        plain = {"compression": None, "proxy": None, "close_timeout": 2, "additional_headers": self._headers}
        return connect(f"{self._socket_url}/{path}", **{**plain, **options})

    @asynccontextmanager
    async def viewer(self, lang: str, query: str = "", **options: Any) -> AsyncIterator["Viewer"]:
        """A reader of one language who has been greeted."""
        async with self.socket(f"subtitles?lang={lang}{query}", **options) as connection:
            viewer = Viewer(connection)
            await viewer.until(lambda frame: frame["type"] == "hello")
            yield viewer

    @asynccontextmanager
    async def broadcast(self, **start: object) -> AsyncIterator[ClientConnection]:
        """A broadcaster's socket that the room has accepted; audio is 16 kHz s16le mono unless told otherwise."""
        async with self.socket("audio") as connection:
            await connection.send(json.dumps({"type": "audio.start", "sample_rate_hz": 16_000, **start}))
            assert (await received(connection))["type"] == "audio.ready"
            yield connection

    async def play(self, samples: Samples) -> float:
        """Broadcast at the pace of life; the seconds that the room took."""
        async with self.broadcast() as connection:
            await speak(connection, samples)
            await connection.send('{"type": "audio.end"}')
            taken: float = (await received(connection))["seconds"]
            return taken


class Viewer:
    """Frames as they come, kept."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.frames: list[Frame] = []

    @property
    def position(self) -> str:
        """Where a resume goes on from."""
        seqs = [frame["seq"] for frame in self.frames if "seq" in frame]
        return f"{self.frames[0]['epoch']}:{seqs[-1]}"

    @property
    def cues(self) -> list[Frame]:
        """The cues so far."""
        return [frame for frame in self.frames if frame["type"] == "cue"]

    async def until(self, wanted: Callable[[Frame], bool]) -> Frame:
        """Read up to the first frame that is wanted, at most 30 s."""
        async with asyncio.timeout(WAIT_S):
            while True:
                self.frames.append(json.loads(await self.connection.recv()))
                if wanted(self.frames[-1]):
                    return self.frames[-1]

    async def final(self, identifier: str) -> Frame:
        """The final cue of a comment, already read or to come."""
        for frame in self.cues:
            if frame["id"] == identifier and frame["final"]:
                return frame
        return await self.until(lambda frame: frame.get("id") == identifier and frame.get("final", False))

    async def closed(self) -> int:
        """Read to the end; the close code."""
        async with asyncio.timeout(WAIT_S):
            with suppress(ConnectionClosed):
                while True:
                    self.frames.append(json.loads(await self.connection.recv()))
        assert self.connection.close_code is not None
        return self.connection.close_code


async def received(connection: ClientConnection) -> Frame:
    """The next frame, at most 30 s from now."""
    async with asyncio.timeout(WAIT_S):
        frame: Frame = json.loads(await connection.recv())
        return frame


async def speak(connection: ClientConnection, samples: Samples) -> None:
    """Send sound at the pace of life."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    step = samples_in(_PIECE_S)
    for at in range(0, len(samples), step):
        piece = samples[at : at + step]
        await asyncio.sleep(began + seconds(at + len(piece)) - loop.time())
        await connection.send(pcm(piece))
