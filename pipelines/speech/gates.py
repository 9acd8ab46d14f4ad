"""What a recogniser invents where nobody spoke → dropped, with a cause. Sync."""

import re
import tomllib
import unicodedata
import zlib
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Annotated

import msgspec
from msgspec import Meta

from engines.asr.types import Recognition
from pipelines.speech.endpointing import UtteranceSound
from pipelines.speech.letters import letters

_REPEATS = re.compile(r"(.{4,}?)\1{3,}|(.{1,3}?)\2{7,}", re.DOTALL)
_ANYTHING = "…"
_WIDE_COUNTS = 2.5


class DropCause(StrEnum):
    """Why recognised text is not shown."""

    EMPTY = "empty"
    QUIET = "quiet"
    NO_SPEECH = "no_speech"
    UNLIKELY = "unlikely"
    REPEATS = "repeats"
    TOO_FAST = "too_fast"
    PHANTOM = "phantom"

    @property
    def ran_away(self) -> bool:
        """Whether somebody did speak, and the recogniser lost itself over it."""
        return self in (DropCause.REPEATS, DropCause.TOO_FAST)


class GateSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From where on recognised text is taken for invented."""

    min_voiced_s: Annotated[float, Meta(ge=0, le=2)] = 0.2
    """Less speech than this in an utterance is none."""
    min_level_db: Annotated[float, Meta(ge=-120, le=0)] = -60.0
    """Speech quieter than this, in dB below full scale, is none."""
    no_speech: Annotated[float, Meta(ge=0, le=1)] = 0.6
    """Probability of no speech beyond which a text needs `likely` to be shown."""
    likely: Annotated[float, Meta(ge=-20, le=0)] = -1.0
    """Mean log-probability of a token from which on a text is shown in spite of `no_speech`."""
    unlikely: Annotated[float, Meta(ge=-20, le=0)] = -1.6
    """Mean log-probability of a token below which a text is not shown at all."""
    doubtful: Annotated[float, Meta(ge=-20, le=0)] = -0.4
    """Below this, phrases that people do say but recognisers also invent are not shown."""
    compression: Annotated[float, Meta(gt=1, le=100)] = 2.4
    """A text that zlib makes smaller by more than this factor repeats itself."""
    letters_per_s: Annotated[float, Meta(gt=0, le=1000)] = 28.0
    """More letters than this in a second are not spoken by anybody; a full-width character counts 2.5."""
    repeated: Annotated[float, Meta(gt=0, le=1)] = 0.5
    """A text repeats itself where one phrase said again and again makes up more than this part of it."""


class Gates:
    """Judges recognitions. Holds nothing between calls."""

    def __init__(self, settings: GateSettings) -> None:
        self._settings = settings

    def drop(self, recognition: Recognition, sound: UtteranceSound) -> DropCause | None:
        """Why a recognition is not to be shown; None where it is."""
        said = letters(recognition.text)
        if not said:
            return DropCause.EMPTY
        if sound.voiced_s < self._settings.min_voiced_s or sound.level_db < self._settings.min_level_db:
            return DropCause.QUIET
        return (
            self._unsure(recognition) or self._ran_away(recognition, said, sound) or self._invented(recognition, said)
        )

    def _unsure(self, recognition: Recognition) -> DropCause | None:
        settings = self._settings
        likelihood = recognition.mean_log_probability
        if recognition.no_speech_probability > settings.no_speech and likelihood < settings.likely:
            return DropCause.NO_SPEECH
        return DropCause.UNLIKELY if likelihood < settings.unlikely else None

    def _invented(self, recognition: Recognition, said: str) -> DropCause | None:
        always, doubtful = _phantoms()
        unsure = recognition.mean_log_probability < self._settings.doubtful
        if always.fullmatch(said) or (unsure and doubtful.fullmatch(said)):
            return DropCause.PHANTOM
        return None

    def _ran_away(self, recognition: Recognition, said: str, sound: UtteranceSound) -> DropCause | None:
        if self._repeats(recognition.text, said):
            return DropCause.REPEATS
        spoken = sum(_WIDE_COUNTS if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in said)
        return DropCause.TOO_FAST if spoken > self._settings.letters_per_s * sound.duration_s else None

    def _repeats(self, text: str, said: str) -> bool:
        whole = text.encode()
        if len(whole) > self._settings.compression * len(zlib.compress(whole)):
            return True
        longest = max((len(match.group()) for match in _REPEATS.finditer(said)), default=0)
        return longest > self._settings.repeated * len(said)


@cache
def _phantoms() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Two patterns over letters alone: what nobody says to an audience here, and what people may say."""
    table = tomllib.loads(files("pipelines.speech").joinpath("phantoms.toml").read_text(encoding="utf-8"))
    always = [phrase for language in table.values() for phrase in language["always"]]
    doubtful = [phrase for language in table.values() for phrase in language.get("doubtful", [])]
    return _pattern(always), _pattern(doubtful)


def _pattern(phrases: list[str]) -> re.Pattern[str]:
    """Matches one or more of the phrases and nothing else; "…" in a phrase stands for up to 24 letters."""
    parts = [".{1,24}".join(re.escape(letters(part)) for part in phrase.split(_ANYTHING)) for phrase in phrases]
    return re.compile(f"(?:{'|'.join(sorted(parts, key=len, reverse=True))}){{1,4}}", re.DOTALL)
