"""Rooms: made, found and closed; who sends to them; what they take."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Self

from app.admission import Admission
from app.delivery.hub import Hub
from app.errors import ServiceError
from app.supervise import supervise
from app.wire import RoomState
from engines.audio import AudioChunk
from engines.languages import LANGUAGES, LanguageTag
from pipelines.comments.normalise import CommentRefused
from pipelines.demand import Demand
from pipelines.room import RoomPipeline
from pipelines.translate.glossary import Glossary
from pipelines.types import Comment, Cue, RoomSettings

PipelineOf = Callable[[RoomSettings, Demand, Callable[[Cue], None]], RoomPipeline]


class Room:
    """One live stream: takes sound and comments, knows who sends."""

    def __init__(
        self, settings: RoomSettings, pipeline: RoomPipeline, admission: Admission, show: Callable[[RoomState], None]
    ) -> None:
        """`show` tells the room's viewers how it is."""
        self.settings = settings
        self.state = RoomState(ingest="idle")
        self._pipeline = pipeline
        self._admission = admission
        self._show = show
        self._publishing: asyncio.Timeout | None = None
        self._ended: ServiceError | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """What the room is called."""
        return self.settings.room

    @property
    def languages(self) -> tuple[LanguageTag, ...]:
        """The languages that can be read here."""
        return self.settings.targets or tuple(LANGUAGES)

    @asynccontextmanager
    async def publishing(self) -> AsyncIterator[None]:
        """Be the room's broadcaster.

        Raises ServiceError while there is another, where the node is full, and when the room is closed.
        """
        if self._ended is not None:
            raise self._ended
        if self._publishing is not None:
            raise ServiceError(
                "publisher_exists",
                f"room {self.name} has a broadcaster already",
                hint="end that connection first, or send to another room",
            )
        with self._admission.broadcasting():
            self._publishing = asyncio.timeout(None)  # ends early when the room is closed
            self._tell()
            try:
                async with self._publishing:
                    yield
            except TimeoutError:
                if self._ended is None:
                    raise
                raise self._ended from None
            finally:
                self._publishing = None
                self._tell()

    @property
    def glossary(self) -> Glossary:
        """The room's own words."""
        return self._pipeline.glossary

    @glossary.setter
    def glossary(self, glossary: Glossary) -> None:
        self._pipeline.glossary = glossary

    def push_audio(self, chunk: AudioChunk) -> None:
        """Take sound; never waits."""
        self._pipeline.push_audio(chunk)
        self._tell()

    async def finish_audio(self) -> None:
        """Bring the open utterance to its end, in at most 2 seconds."""
        await self._pipeline.finish()

    def push_comment(self, comment: Comment) -> None:
        """Take a comment; never waits. Raises ServiceError where it can't be shown."""
        if self._ended is not None:
            raise self._ended
        try:
            self._pipeline.push_comment(comment)
        except CommentRefused as refused:
            raise ServiceError(refused.code, refused.detail, hint=refused.hint) from refused

    def start(self, tasks: asyncio.TaskGroup) -> None:
        """Begin to work as a task of `tasks`; a fault restarts the pipeline once."""
        self._task = tasks.create_task(self._run())

    async def stop(self, why: ServiceError) -> None:
        """Send the broadcaster away and refuse comments, finish the open utterance, then end the room's tasks."""
        self._end(why)
        try:
            await self._pipeline.finish()
        finally:
            if self._task is not None:
                self._task.cancel()
                await asyncio.wait([self._task])

    def _tell(self) -> None:
        """Let the viewers know when it is otherwise than they were told last."""
        live = self._publishing is not None
        state = RoomState(
            ingest="live" if live else "idle", load="strained" if live and self._pipeline.is_strained else "normal"
        )
        if state != self.state:
            self.state = state
            self._show(state)

    async def _run(self) -> None:
        """Work until cancelled; a pipeline that breaks again after its restart ends the room for who sends."""
        if not await supervise("room", self._pipeline.run, restarts=1, fields={"room": self.name}):
            self._end(ServiceError("internal", f"room {self.name} broke down", hint="close it and open it again"))

    def _end(self, why: ServiceError) -> None:
        """From now on refuse sound and comments."""
        if self._ended is None and self._publishing is not None:
            self._publishing.reschedule(asyncio.get_running_loop().time())
        self._ended = why


class Rooms:
    """Every room of this process. `async with` owns their tasks; leaving it stops them all."""

    def __init__(self, hub: Hub, pipeline: PipelineOf, admission: Admission, most: int) -> None:
        """`most`: rooms at once, live or not."""
        self._hub = hub
        self._pipeline = pipeline
        self._admission = admission
        self._most = most
        self._rooms: dict[str, Room] = {}
        self._tasks = asyncio.TaskGroup()
        self._closing = False

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        await self.stop()
        await self._tasks.__aexit__(kind, error, None)

    def create(self, settings: RoomSettings) -> Room:
        """Open a room. Raises ServiceError where the name is taken or the node is full."""
        if settings.room in self._rooms:
            raise ServiceError("room_exists", f"room {settings.room} exists", hint="use it, or close it first")
        if len(self._rooms) >= self._most or self._closing:
            raise ServiceError(
                "busy", f"this node holds {self._most} rooms at most", hint="try another node, or later", retry_after=30
            )
        demand = self._hub.open(settings.room)
        pipeline = self._pipeline(settings, demand, self._hub.publish)
        room = Room(settings, pipeline, self._admission, lambda state: self._hub.show(settings.room, state))
        room.start(self._tasks)
        self._rooms[settings.room] = room
        return room

    def get(self, name: str) -> Room:
        """The room. Raises ServiceError where there is none."""
        room = self._rooms.get(name)
        if room is None:
            raise ServiceError("unknown_room", f"there is no room {name[:64]!r}", hint="create it: POST /v1/rooms")
        return room

    def all(self) -> list[Room]:
        """The rooms by name."""
        return [self._rooms[name] for name in sorted(self._rooms)]

    async def close(self, name: str) -> None:
        """End a room: its viewers are told, its tasks are gone on return. Raises ServiceError."""
        room = self.get(name)
        await room.stop(ServiceError("room_closed", f"room {name} was closed", hint="ask who streams for another"))
        if self._rooms.get(name) is room:  # where two close it at once, the first to get here lets it go
            del self._rooms[name]
            self._hub.close(name)

    async def stop(self) -> None:
        """Take no more rooms and let all end what they are at, in at most 2 seconds. Viewers stay."""
        self._closing = True
        why = ServiceError("going_away", "this node stops", hint="connect again", retry_after=5)
        await asyncio.gather(*(room.stop(why) for room in self.all()), return_exceptions=True)


def new_comment_id() -> str:
    """An id for a comment that came without one."""
    return f"c{secrets.token_hex(6)}"
