"""One room: its sound and its comments in, its cues out."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import msgspec

from engines.audio import AudioChunk
from engines.lid.text_language import TextLanguages
from pipelines.comments.pipeline import CommentReader
from pipelines.comments.repeats import Repeat, RepeatsSettings
from pipelines.comments.slang import Slang
from pipelines.demand import Demand
from pipelines.metrics import DROPPED
from pipelines.speech.pipeline import Recognise, SpeechParts, SpeechPath, VoiceActivity
from pipelines.speech.settings import SpeechSettings
from pipelines.translate.chinese import to_script
from pipelines.translate.glossary import Glossary, Shelf
from pipelines.translate.translator import Translate, Translator, TranslatorSettings
from pipelines.types import Comment, Cue, RoomSettings

_FINISH_S = 2.0


class RoomParts(msgspec.Struct, frozen=True, kw_only=True):
    """What all rooms of a process share: models behind their batchers, word lists and settings."""

    voice: VoiceActivity
    recognise: Recognise
    translate: Translate
    languages: TextLanguages
    slang: Slang
    glossary: Shelf
    repeats: RepeatsSettings
    speech: SpeechSettings
    translator: TranslatorSettings


class RoomPipeline:
    """Owns the tasks of one room. `run` lives as long as the room; the push methods never wait."""

    def __init__(
        self, settings: RoomSettings, parts: RoomParts, demand: Demand, publish: Callable[[Cue], None]
    ) -> None:
        self._glossary = Shelf("room")
        self._comments = CommentReader(settings, parts.languages, parts.slang, parts.repeats)
        self._translator = Translator(
            settings, parts.translate, demand, publish, parts.translator, glossaries=(self._glossary, parts.glossary)
        )
        speech = SpeechParts(
            voice=parts.voice,
            recognise=parts.recognise,
            settings=parts.speech,
            to_script=to_script,
            count=lambda cause: DROPPED.labels(cause).inc(),
        )
        self._speech = SpeechPath(settings, speech, self._translator.take)

    def push_audio(self, chunk: AudioChunk) -> None:
        """Take sound. What can't be kept up with is dropped, oldest first, and counted."""
        self._speech.push(chunk)

    @property
    def is_strained(self) -> bool:
        """Whether unfinished speech is recognised less often than it should be."""
        return self._speech.is_strained

    def push_comment(self, comment: Comment) -> None:
        """Take a comment. Raises CommentRefused where it is too long or has no text."""
        now = asyncio.get_running_loop().time()
        read = self._comments.read(comment, now)
        if isinstance(read, Repeat):
            self._translator.count(read)
        else:
            self._translator.take(read)

    @property
    def glossary(self) -> Glossary:
        """The room's own words. They count from the next text on, before the node's."""
        return self._glossary.glossary

    @glossary.setter
    def glossary(self, glossary: Glossary) -> None:
        self._glossary.glossary = glossary

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._speech.run())
            tasks.create_task(self._translator.run())

    async def finish(self) -> None:
        """Bring an open utterance to its end, and what is being translated, in at most 2 seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_FINISH_S):
                await self._speech.finish()
                await self._translator.idle()
