"""The one task that writes to viewers: walks the channels with new frames, then the viewers that are behind."""

import asyncio
from contextlib import suppress

from app.delivery.channel import Channel
from app.delivery.viewer import Viewer

PER_TURN = 500  # viewers written to before other tasks get the loop
TICK_S = 0.05  # how often viewers that are behind are looked at


class FanOut:
    """Brings new frames to viewers. Marking is a plain call; `run` does the work."""

    def __init__(self) -> None:
        self._dirty: dict[Channel, None] = {}  # a set that keeps its order
        self._behind: dict[Viewer, None] = {}
        self._wake = asyncio.Event()
        self._turn = 0

    def mark(self, channel: Channel) -> None:
        """The channel has new frames."""
        self._dirty[channel] = None
        self._wake.set()

    def watch(self, viewer: Viewer) -> None:
        """Look after a viewer that is behind."""
        self._behind[viewer] = None
        self._wake.set()

    def forget(self, viewer: Viewer) -> None:
        """The viewer has left."""
        self._behind.pop(viewer, None)

    async def run(self) -> None:
        """Write until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await self._work()
            self._wake.clear()
            while self._dirty:
                channel = next(iter(self._dirty))
                del self._dirty[channel]
                await self._write(channel)
            await self._drain(loop.time())

    async def _work(self) -> None:
        """Wait for new frames, or the next look at those behind."""
        with suppress(TimeoutError):
            async with asyncio.timeout(TICK_S if self._behind else None):
                await self._wake.wait()

    async def _write(self, channel: Channel) -> None:
        frames = channel.fresh()
        if not frames:
            return
        now = asyncio.get_running_loop().time()
        for viewer in list(channel.viewers):
            viewer.send(frames, now)
            if viewer.behind:
                self._behind[viewer] = None
            await self._yield_at_times()

    async def _drain(self, now: float) -> None:
        for viewer in list(self._behind):
            viewer.drain(now)
            if not viewer.behind:
                self._behind.pop(viewer, None)
            await self._yield_at_times()

    async def _yield_at_times(self) -> None:
        self._turn += 1
        if self._turn >= PER_TURN:
            self._turn = 0
            await asyncio.sleep(0)
