"""Which language an utterance is in: fixed by the room, or detected with the room's habit as a prior. Sync."""

from typing import Annotated

import msgspec
from msgspec import Meta

from engines.asr.types import Recognition
from engines.languages import LANGUAGES, LanguageTag


class RoomLanguageSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How sure detection must be against what the room has spoken so far."""

    long_s: Annotated[float, Meta(gt=0, le=30)] = 4.0
    """An utterance of at least this length counts as evidence by itself."""
    long_probability: Annotated[float, Meta(ge=0, le=1)] = 0.7
    """What a long one needs to be in another language than the room's."""
    short_probability: Annotated[float, Meta(ge=0, le=1)] = 0.95
    """What a shorter one needs."""
    decide_s: Annotated[float, Meta(ge=0, le=30)] = 2.0
    """After so much sound a language that was detected with `long_probability` is not asked again."""


class RoomLanguage:
    """The spoken language of one room. A short utterance may differ from it but does not change it alone."""

    def __init__(self, sources: tuple[LanguageTag, ...], settings: RoomLanguageSettings) -> None:
        self._settings = settings
        self._fixed = sources[0] if len(sources) == 1 else None
        self._candidates = sources or tuple(LANGUAGES)
        self._usual: LanguageTag | None = self._fixed
        self._other: LanguageTag | None = None  # heard in the utterance before, against the room's habit

    @property
    def fixed(self) -> LanguageTag | None:
        """The room's only language; None where it has several."""
        return self._fixed

    @property
    def candidates(self) -> tuple[LanguageTag, ...]:
        """What to detect among; empty where the language is fixed."""
        return () if self._fixed else self._candidates

    def judge(self, recognition: Recognition, duration_s: float) -> LanguageTag:
        """The language that an utterance is taken for, given what was detected in so much of it."""
        if self._fixed is not None:
            return self._fixed
        heard = recognition.language
        if self._usual is None or heard == self._usual:
            return heard
        settings = self._settings
        needed = settings.long_probability if duration_s >= settings.long_s else settings.short_probability
        return heard if recognition.language_probability >= needed else self._usual

    def is_decided(self, recognition: Recognition, duration_s: float) -> bool:
        """Whether this is enough to keep to one language for the rest of the utterance."""
        settings = self._settings
        sure = recognition.language_probability >= settings.long_probability
        return self._fixed is not None or duration_s >= (settings.decide_s if sure else settings.long_s)

    def spoke(self, language: LanguageTag, duration_s: float) -> None:
        """Remember a finished utterance: a long one, or a second one in a row, changes the room's habit."""
        if language == self._usual:
            self._other = None
        elif self._usual is None or duration_s >= self._settings.long_s or language == self._other:
            self._usual, self._other = language, None
        else:
            self._other = language
