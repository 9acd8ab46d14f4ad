"""When one room asks the recogniser, and with which ticket."""

import asyncio
from typing import Annotated, Protocol

import msgspec
from msgspec import Meta

from engines.asr.types import Recognition, RecognitionRequest
from engines.batching.ticket import Done, Outcome, Ticket
from engines.languages import LanguageTag
from pipelines.speech.endpointing import UtteranceSound
from pipelines.types import RoomSettings

_NEWEST_COUNTS = 0.2
_STRAINED, _RELAXED = 2.0, 1.5
_SEVERAL_PIECES_S = 3.0  # from here on one utterance may be several subtitles, which have to know where they end


class RecognitionSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often speech is recognised and how long that may take."""

    beam_size: Annotated[int, Meta(ge=1, le=10)] = 5
    """Hypotheses followed at once; on the default model 5 take 15% longer than 1 and hear better."""
    partial_interval_s: Annotated[float, Meta(gt=0, le=10)] = 0.5
    """Unfinished speech is recognised again after so much more of it."""
    load_factor: Annotated[float, Meta(ge=1, le=20)] = 2.0
    """The interval is at least this many times what the last recognition took, waiting included."""
    partial_deadline_s: Annotated[float, Meta(gt=0, le=30)] = 1.0
    """A recognition of unfinished speech that waits longer is dropped."""
    final_deadline_s: Annotated[float, Meta(gt=0, le=30)] = 3.0
    """The same for a finished utterance; it then ends with what was heard of it before."""


class Recognise(Protocol):
    """The ASR batcher, as the speech path sees it."""

    async def submit(self, row: RecognitionRequest, ticket: Ticket) -> Outcome[Recognition]:
        """Recognise one utterance."""


class PartialTurns:
    """When unfinished speech of a room is recognised: never two at once, less often where it takes long. Sync."""

    def __init__(self, settings: RecognitionSettings) -> None:
        self._settings = settings
        self._asked_at = float("-inf")
        self._asked_s = 0.0
        self._took_s = 0.0
        self._usually_s = 0.0  # a mean in which the newest counts most
        self._in_flight = 0
        self.is_strained = False
        """Whether the interval has to be twice as long as it should be; so until it is half as much too long again."""

    def opened(self) -> None:
        """A new utterance: none of it has been asked for."""
        self._asked_s = 0.0

    def is_due(self, now: float, heard_s: float) -> bool:
        """Whether to ask now, with so much of the utterance heard."""
        if self._in_flight or heard_s - self._asked_s < self._settings.partial_interval_s:
            return False
        return now - self._asked_at >= self._settings.load_factor * self._took_s

    def asked(self, now: float, heard_s: float) -> None:
        """Something was asked: a partial or a final."""
        self._in_flight += 1
        self._asked_at, self._asked_s = now, heard_s

    def answered(self, took_s: float) -> None:
        """An answer came, or will not."""
        self._in_flight -= 1
        self._took_s = took_s
        self._usually_s += _NEWEST_COUNTS * (took_s - self._usually_s)
        stretch = self._settings.load_factor * self._usually_s / self._settings.partial_interval_s
        self.is_strained = stretch > (_RELAXED if self.is_strained else _STRAINED)


class Recogniser:
    """Asks the batcher on behalf of one room."""

    def __init__(self, room: RoomSettings, batcher: Recognise, settings: RecognitionSettings) -> None:
        self._room = room
        self._batcher = batcher
        self._settings = settings

    async def ask(
        self, sound: UtteranceSound, language: LanguageTag | None, candidates: tuple[LanguageTag, ...], *, final: bool
    ) -> Recognition | None:
        """What was said; None where the request was shed or failed. A newer partial replaces a waiting one."""
        now = asyncio.get_running_loop().time()
        settings = self._settings
        ticket = Ticket(
            flow=self._room.room,
            tier=self._room.tier,
            deadline=now + (settings.final_deadline_s if final else settings.partial_deadline_s),
            supersedes=None if final else (self._room.room, "partial"),
        )
        row = RecognitionRequest(
            samples=sound.samples,
            language=language,
            candidates=() if language else candidates,
            beam_size=settings.beam_size,
            word_times=sound.duration_s >= _SEVERAL_PIECES_S,
        )
        outcome = await self._batcher.submit(row, ticket)
        return outcome.result if isinstance(outcome, Done) else None
