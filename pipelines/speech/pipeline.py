"""The whole speech path on one screen: sound → utterances → recognitions → pieces of text."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from engines.audio import AudioChunk
from pipelines.speech.backlog import Backlog
from pipelines.speech.endpointing import Closed, EndpointEvent, Endpointing, Opened, Paused, Resumed
from pipelines.speech.listener import Listener
from pipelines.speech.offset import Offset
from pipelines.speech.parts import SpeechParts
from pipelines.speech.recogniser import Recognise
from pipelines.speech.voice import Voice, VoiceActivity
from pipelines.speech.windows import Windows
from pipelines.types import RoomSettings, SourceText

__all__ = ["Recognise", "SpeechParts", "SpeechPath", "VoiceActivity"]

_FINISH_S = 2.0


class SpeechPath:
    """Turns the sound of one room into pieces of text. The push and finish methods may be called while `run` runs.

    A piece is emitted again and again with growing revisions, the last of them final. One that comes to nothing is
    emitted once more with no text, final.
    """

    def __init__(self, room: RoomSettings, parts: SpeechParts, emit: Callable[[SourceText], None]) -> None:
        self._settings = parts.settings
        self._count = parts.count
        self._backlog = Backlog(parts.settings.backlog_s)
        self._windows = Windows()
        self._offset = Offset()
        self._voice = Voice(parts.voice)
        self._endpointing = Endpointing(parts.settings.endpointing)
        self._listener = Listener(room, parts, emit, sentence_complete=self._endpointing.sentence_complete)
        self._arrived = asyncio.Event()

    @property
    def is_strained(self) -> bool:
        """Whether unfinished speech is recognised less than half as often as it should be."""
        return self._listener.is_strained

    def push(self, chunk: AudioChunk) -> None:
        """Take sound. Never waits: beyond the backlog the oldest is dropped and counted."""
        if self._backlog.push(chunk):
            self._count("backlog")
        self._arrived.set()

    async def run(self) -> None:
        """Listen until cancelled. Recognitions under way are given up then."""
        async with asyncio.TaskGroup() as tasks:
            self._listener.tasks = tasks
            try:
                while True:
                    await self._wait()
                    while self._backlog:
                        self._take(self._backlog.pop())
                        await asyncio.sleep(0)
            finally:
                self._listener.tasks = None

    async def finish(self) -> None:
        """Close what is open and wait at most 2 seconds for its text."""
        while self._backlog:
            self._take(self._backlog.pop())
        self._react(self._endpointing.flush())
        with suppress(TimeoutError):
            async with asyncio.timeout(_FINISH_S):
                await self._listener.idle.wait()
        self._listener.give_up()

    async def _wait(self) -> None:
        """Until sound arrives; an utterance whose broadcaster has vanished is closed meanwhile."""
        self._arrived.clear()
        if self._backlog:
            return
        try:
            async with asyncio.timeout(self._settings.stall_s if self._endpointing.is_open else None):
                await self._arrived.wait()
        except TimeoutError:
            self._react(self._endpointing.flush())

    def _take(self, chunk: AudioChunk) -> None:
        stretch = self._windows.push(chunk)
        if stretch is None:
            return
        stretch = self._offset.removed(stretch)
        self._react(self._endpointing.push(stretch, self._voice.probabilities(stretch)))
        if self._listener.wants(self._endpointing.voiced_s):
            sound = self._endpointing.current()
            if sound is not None:
                self._listener.heard(sound)

    def _react(self, events: list[EndpointEvent]) -> None:
        for event in events:
            match event:
                case Opened():
                    self._listener.opened()
                case Paused(sound):
                    self._listener.paused(sound)
                case Closed(sound):
                    self._listener.closed(sound)
                case Resumed():
                    pass  # an answer to the pause counts as one to the part before it
