"""How fast a language is read: what a player needs to know to keep a subtitle long enough.

Characters a second as in Netflix' timed text style guides for adult programmes (https://partnerhelp.netflixstudios.com):
9 for Chinese, 17 for Thai, Vietnamese, Indonesian and Malay, 20 for English; 5/6 s is the shortest subtitle there.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from app.wire import ReadingSpeed
from engines.languages import LANGUAGES, LanguageTag

_FULL_WIDTH = frozenset({"Han", "Hangul"})
_PerSecond = Annotated[float, Meta(gt=0, le=1000)]


class ReadingSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a finished subtitle stays for those who read steadily; each viewer's player is told."""

    full_width_per_s: _PerSecond = 9.0
    """Chinese, Japanese and Korean characters read in a second."""
    english_per_s: _PerSecond = 20.0
    """English characters read in a second."""
    others_per_s: _PerSecond = 17.0
    """Characters of other languages read in a second."""
    least_s: Annotated[float, Meta(ge=0, le=60)] = 0.83
    """No subtitle is to be seen for less."""

    def of(self, language: LanguageTag) -> ReadingSpeed:
        """What the readers of one language are told."""
        if not _FULL_WIDTH.isdisjoint(LANGUAGES[language].scripts):
            speed = self.full_width_per_s
        else:
            speed = self.english_per_s if language == "en" else self.others_per_s
        return ReadingSpeed(characters_per_s=speed, least_s=self.least_s)
