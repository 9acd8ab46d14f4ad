"""Has a room's utterances recognised, judges the answers and ends the utterances in their order."""

import asyncio
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from engines.asr.types import Recognition
from engines.languages import LanguageTag, is_chinese
from pipelines.speech.endpointing import UtteranceSound
from pipelines.speech.gates import Gates
from pipelines.speech.parts import SpeechParts
from pipelines.speech.recogniser import PartialTurns, Recogniser
from pipelines.speech.room_language import RoomLanguage
from pipelines.speech.utterance import Heard, Utterance
from pipelines.types import RoomSettings, SourceText

_SENTENCE_END = re.compile(r"[.。！？!?។။][”’」』）)\"']*\s*$")
_UNANSWERED = "unanswered"


@dataclass(slots=True, eq=False)
class _Spoken:
    """An utterance that is being spoken, or waits for its final text."""

    text: Utterance
    language: LanguageTag | None = None  # once it is decided
    whole: int = 0  # samples of what was taken for the whole of it, and asked for
    answer: Recognition | None = None  # to that
    answered_at: float = 0.0
    sound: UtteranceSound | None = None  # once it has ended
    endpointed_at: float = 0.0
    settled: bool = False  # nothing more will come for it


class Listener:
    """The utterances of one room. Utterances end in the order in which they were spoken.

    `tasks` is where recognitions run, None where nothing runs; `idle` is set while no final text is awaited.
    """

    def __init__(
        self,
        room: RoomSettings,
        parts: SpeechParts,
        emit: Callable[[SourceText], None],
        *,
        sentence_complete: Callable[[], None],
    ) -> None:
        settings = parts.settings
        self._settings = settings
        self._parts = parts
        self._emit = emit
        self._never_cut_s = settings.endpointing.max_utterance_s - settings.endpointing.cut_search_s
        self._sentence_complete = sentence_complete
        self._recogniser = Recogniser(room, parts.recognise, settings.recognition)
        self._turns = PartialTurns(settings.recognition)
        self._language = RoomLanguage(room.sources, settings.language)
        self._gates = Gates(settings.gates)
        self._open: _Spoken | None = None
        self._closing: deque[_Spoken] = deque(maxlen=settings.closing + 1)
        self._number = 0
        self.tasks: asyncio.TaskGroup | None = None
        self.idle = asyncio.Event()
        self.idle.set()

    @property
    def is_strained(self) -> bool:
        """Whether unfinished speech is recognised less than half as often as it should be."""
        return self._turns.is_strained

    def opened(self) -> None:
        """Somebody speaks."""
        self._number += 1
        self._open = _Spoken(Utterance(self._number, self._emit, self._settings.segmenter))
        self._turns.opened()

    def wants(self, voiced_s: float) -> bool:
        """Whether the open utterance is to be recognised now, with so much speech in it."""
        return self._open is not None and self._turns.is_due(_now(), voiced_s)

    def heard(self, sound: UtteranceSound) -> None:
        """Recognise the open utterance so far."""
        if self._open is not None:
            self._ask(self._open, sound, final=False)

    def paused(self, sound: UtteranceSound) -> None:
        """Recognise what may be the whole utterance, while it is still open; one at a time."""
        spoken = self._open
        if spoken is not None and (not spoken.whole or spoken.answer is not None):
            self._ask(spoken, sound, final=True)

    def closed(self, sound: UtteranceSound) -> None:
        """The open utterance has ended: use the answer asked for at its last pause, or ask now."""
        spoken, self._open = self._open, None
        if spoken is None:
            return
        spoken.sound, spoken.endpointed_at = sound, _now()
        self._closing.append(spoken)
        self.idle.clear()
        if len(self._closing) > self._settings.closing:
            self._closing[0].settled = True
        if spoken.whole != len(sound.samples):
            self._ask(spoken, sound, final=True)
        elif spoken.answer is not None:
            spoken.settled = True
        self._end_settled()

    def give_up(self) -> None:
        """End every utterance that has ended with what was heard of it so far."""
        for spoken in self._closing:
            spoken.settled = True
        self._end_settled()

    def _ask(self, spoken: _Spoken, sound: UtteranceSound, *, final: bool) -> None:
        if final:
            spoken.whole, spoken.answer = len(sound.samples), None
        if self.tasks is None:
            self._answered(spoken, sound, None)
            return
        self._turns.asked(_now(), sound.voiced_s)
        self.tasks.create_task(self._recognise(spoken, sound, final=final))

    async def _recognise(self, spoken: _Spoken, sound: UtteranceSound, *, final: bool) -> None:
        started = _now()
        try:
            recognition = await self._in_its_language(spoken, sound, final=final)
        finally:
            self._turns.answered(_now() - started)
        self._answered(spoken, sound, recognition)

    async def _in_its_language(self, spoken: _Spoken, sound: UtteranceSound, *, final: bool) -> Recognition | None:
        """What was said; asked again where another language was detected than it is taken for."""
        asked = self._known_language(spoken)
        recognition = await self._recogniser.ask(sound, asked, self._language.candidates, final=final)
        if recognition is None or asked is not None:
            return msgspec.structs.replace(recognition, language=asked) if recognition and asked else None
        language = self._known_language(spoken) or self._language.judge(recognition, sound.duration_s)
        if self._language.is_decided(recognition, sound.duration_s):
            spoken.language = language
        if language == recognition.language:
            return recognition
        recognition = await self._recogniser.ask(sound, language, (), final=final)
        return msgspec.structs.replace(recognition, language=language) if recognition else None

    def _known_language(self, spoken: _Spoken) -> LanguageTag | None:
        return self._language.fixed or spoken.language

    def _answered(self, spoken: _Spoken, sound: UtteranceSound, recognition: Recognition | None) -> None:
        if spoken.settled:
            return
        is_whole = spoken.whole == len(sound.samples)
        if is_whole:
            spoken.answer, spoken.answered_at = recognition, _now()
            spoken.whole = spoken.whole if recognition else 0
        if is_whole and spoken.sound is not None:
            spoken.settled = True
            self._end_settled()
        elif recognition is not None and self._gates.drop(recognition, sound) is None:
            decided = self._known_language(spoken) is not None
            may_be_cut = sound.duration_s > self._never_cut_s
            heard = self._heard(recognition, sound, _now())
            spoken.text.hear(heard, decided=decided, may_be_cut=may_be_cut, may_be_whole=is_whole)
            if is_whole and _SENTENCE_END.search(recognition.text):
                self._sentence_complete()

    def _end_settled(self) -> None:
        while self._closing and self._closing[0].settled:
            self._end(self._closing.popleft())
        if not self._closing:
            self.idle.set()

    def _end(self, spoken: _Spoken) -> None:
        assert spoken.sound is not None
        at = spoken.endpointed_at
        recognised_at = max(at, spoken.answered_at)
        cause = self._gates.drop(spoken.answer, spoken.sound) if spoken.answer else None
        if spoken.answer is None or (cause is not None and cause.ran_away):
            self._parts.count(cause or _UNANSWERED)
            spoken.text.end(None, at)
            return
        if cause is not None:
            self._parts.count(cause)
            spoken.text.retract(spoken.sound, at, recognised_at)
            return
        spoken.text.end(self._heard(spoken.answer, spoken.sound, recognised_at), at)
        self._language.spoke(spoken.answer.language, spoken.sound.duration_s)

    def _heard(self, recognition: Recognition, sound: UtteranceSound, at: float) -> Heard:
        language = recognition.language
        text = self._parts.to_script(recognition.text, language) if is_chinese(language) else recognition.text
        return Heard(text=text, language=language, sound=sound, recognised_at=at, words=recognition.words)


def _now() -> float:
    return asyncio.get_running_loop().time()
