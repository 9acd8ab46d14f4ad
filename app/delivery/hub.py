"""Hub: rooms × languages. Cues come in by a plain call, demand is read from here, viewers join and leave."""

import asyncio

import msgspec

from app.clock import Clock
from app.delivery.channel import Channel
from app.delivery.fanout import FanOut
from app.delivery.frames import Position, Replay
from app.delivery.metrics import VIEWERS
from app.delivery.speeds import ReadingSettings
from app.delivery.viewer import Sink, Viewer, ViewerLimits
from app.errors import ServiceError
from app.wire import ReadingSpeed, RoomState
from engines.languages import LanguageTag
from pipelines.demand import Demand
from pipelines.types import Cue


class HubSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How viewers are served."""

    max_viewers: int = 10_000
    """Viewers at once over all rooms."""
    linger_s: float = 10.0
    """A language is translated so much longer after its last reader has left."""
    viewer: ViewerLimits = ViewerLimits()
    reading: ReadingSettings = ReadingSettings()


class Joined(msgspec.Struct, frozen=True, kw_only=True):
    """A viewer's place: hand it back to `leave`. `start` it once its hello has been written, in the same turn."""

    room: str
    language: LanguageTag
    viewer: Viewer
    epoch: str
    seq: int
    replay: Replay
    reading: ReadingSpeed


class _Room:
    def __init__(self, demand: Demand) -> None:
        self.demand = demand
        self.state = RoomState(ingest="idle")
        self.channels: dict[LanguageTag, Channel] = {}


class Hub:
    """All delivery of a process. `run` writes to the viewers; everything else is a plain call."""

    def __init__(self, clock: Clock, settings: HubSettings) -> None:
        self._clock = clock
        self._settings = settings
        self._rooms: dict[str, _Room] = {}
        self._viewers = 0
        self._fan_out = FanOut()

    @property
    def viewers(self) -> int:
        """Viewers connected now."""
        return self._viewers

    async def run(self) -> None:
        """Write to viewers until cancelled."""
        await self._fan_out.run()

    def open(self, room: str) -> Demand:
        """Take a room in; an open one stays as it is. Returns what is read in it."""
        if room not in self._rooms:
            self._rooms[room] = _Room(Demand(self._settings.linger_s))
        return self._rooms[room].demand

    def close(self, room: str) -> None:
        """Let a room go: its viewers are closed with 4410, its cues forgotten."""
        closed = self._rooms.pop(room, None)
        if closed is None:
            return
        for channel in closed.channels.values():
            for viewer in channel.viewers:
                viewer.close("room_closed")
                self._fan_out.forget(viewer)

    def demand(self, room: str) -> Demand:
        """What is read in a room. Raises ServiceError where it is not open."""
        return self._room(room).demand

    def show(self, room: str, state: RoomState) -> None:
        """Tell a room's viewers how it is; those that come later are told when they start."""
        target = self._rooms.get(room)
        if target is None:
            return
        target.state = state
        for channel in target.channels.values():
            for viewer in channel.viewers:
                viewer.tell(state)

    def publish(self, cue: Cue) -> None:
        """Hand a cue to its readers. Encodes it once and never waits; a cue of a closed room is dropped."""
        room = self._rooms.get(cue.room)
        if room is None:
            return
        channel = self._channel(room, cue.language)
        if channel.append(cue, asyncio.get_running_loop().time()) is not None:
            self._fan_out.mark(channel)

    def ensure_space(self) -> None:
        """Raises ServiceError where no further viewer is taken."""
        if self._viewers >= self._settings.max_viewers:
            raise ServiceError(
                "busy",
                f"this node serves {self._settings.max_viewers} viewers at most",
                hint="try another node, or later",
                retry_after=10,
            )

    def join(self, room: str, language: LanguageTag, sink: Sink, resume: Position | None) -> Joined:
        """A viewer begins to read. Raises ServiceError where the room is not open or the node is full."""
        self.ensure_space()
        target = self._room(room)
        channel = self._channel(target, language)
        viewer = Viewer(sink, self._settings.viewer)
        replay = channel.since(resume, asyncio.get_running_loop().time())
        channel.viewers.add(viewer)
        target.demand.add(language)
        self._viewers += 1
        VIEWERS.inc()
        return Joined(
            room=room,
            language=language,
            viewer=viewer,
            epoch=channel.epoch,
            seq=channel.seq,
            replay=replay,
            reading=self._settings.reading.of(language),
        )

    def start(self, joined: Joined) -> None:
        """Send what the viewer has missed, and from now on every new cue."""
        joined.viewer.tell(self._room(joined.room).state)
        joined.viewer.start(joined.replay.frames, joined.seq, asyncio.get_running_loop().time())
        if joined.viewer.behind:
            self._fan_out.watch(joined.viewer)

    def leave(self, joined: Joined) -> None:
        """A viewer has gone. To be called once for each `join`."""
        self._viewers -= 1
        VIEWERS.dec()
        self._fan_out.forget(joined.viewer)
        room = self._rooms.get(joined.room)
        channel = room.channels.get(joined.language) if room is not None else None
        if room is None or channel is None or joined.viewer not in channel.viewers:
            return  # the room was closed, or is another one by now
        channel.viewers.remove(joined.viewer)
        room.demand.remove(joined.language, asyncio.get_running_loop().time())

    def _room(self, name: str) -> _Room:
        room = self._rooms.get(name)
        if room is None:
            raise ServiceError("unknown_room", f"there is no room {name[:64]!r}", hint="ask who streams for its name")
        return room

    def _channel(self, room: _Room, language: LanguageTag) -> Channel:
        channel = room.channels.get(language)
        if channel is None:
            channel = room.channels[language] = Channel(self._clock)
        return channel
