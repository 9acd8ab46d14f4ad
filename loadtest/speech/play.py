"""Plays one recording into a room of its own, in real time, and writes down what a reader sees."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from loadtest.broadcaster import Broadcaster
from loadtest.frames import Cue, Hello, Retract
from loadtest.server import Server, create_room
from loadtest.speech.clips import Clip
from loadtest.speech.texts import Seen
from loadtest.viewer import Viewer

TAIL_S = 4.0
_HELLO_S, _LAST_CUE_S = 10.0, 15.0
_READY_S = 1.5  # the room is open for so long before anybody speaks: its language is being made ready


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """What one reader saw, and the server's CPU seconds meanwhile: of everything that it did."""

    clip: Clip
    lang: str
    seen: tuple[Seen, ...]
    seconds: float
    cpu_s: float | None


class There(msgspec.Struct, frozen=True, kw_only=True):
    """A server as its host and as a viewer see it, and a reader of the CPU seconds that it has used, if it's ours."""

    host: Server
    viewer: Server
    cpu: Callable[[], float | None]


async def play(there: There, clip: Clip, room: str, lang: str) -> Played:
    """Open the room, play the recording and 4 s of silence, wait for the last cue, close the room.

    Raises BroadcastError, ServerRefused, ViewerRefused in a group.
    """
    async with there.host.client() as client:
        await create_room(client, room, (clip.language,) if clip.language else ())
        try:
            return await _watched(there, clip, room, lang)
        finally:
            await client.delete(f"/v1/rooms/{room}")


async def _watched(there: There, clip: Clip, room: str, lang: str) -> Played:
    broadcaster = Broadcaster(there.host, room, str(clip.file), tail_s=TAIL_S)
    watch = _Watch(broadcaster)
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(watch.read(Viewer(there.viewer, room, lang)))
        async with asyncio.timeout(_HELLO_S):
            await watch.there.wait()
        await asyncio.sleep(_READY_S)
        before = there.cpu()
        seconds = await broadcaster.run()
        after = there.cpu()
        await watch.settled(_LAST_CUE_S)
        watching.cancel()
    spent = None if before is None or after is None else after - before
    return Played(clip=clip, lang=lang, seen=tuple(watch.seen), seconds=seconds, cpu_s=spent)


class _Watch:
    def __init__(self, broadcaster: Broadcaster) -> None:
        self._broadcaster = broadcaster
        self._open: set[str] = set()
        self._news = asyncio.Event()
        self.there = asyncio.Event()
        self.seen: list[Seen] = []

    async def read(self, viewer: Viewer) -> None:
        async for received in viewer.frames():
            match received.frame:
                case Hello():
                    self.there.set()
                case Cue() | Retract() as frame:
                    self._note(frame, self._broadcaster.clock.position(received.at))
                case _:
                    pass

    def _note(self, frame: Cue | Retract, at: float) -> None:
        self.seen.append(Seen(at=at, frame=frame))
        if isinstance(frame, Cue) and not (frame.final and "pending" not in frame.flags):
            self._open.add(frame.id)
        else:
            self._open.discard(frame.id)
        self._news.set()

    async def settled(self, longest_s: float) -> None:
        """Wait until every cue has come to its end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(longest_s):
                while self._open:
                    self._news.clear()
                    await self._news.wait()


def cpu_of(process: int) -> Callable[[], float]:
    """A reader of the CPU seconds that a process has used, all its threads together. Linux."""
    ticks = os.sysconf("SC_CLK_TCK")
    file = Path(f"/proc/{process}/stat")

    def read() -> float:
        fields = file.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / ticks

    return read
