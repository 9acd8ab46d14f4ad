"""Partials: how much of unfinished speech is translated, and when. Sync."""

import re
from dataclasses import dataclass

from engines.languages import LanguageTag
from pipelines.types import SourceText

_CLAUSE = re.compile(r"[.,;:!?…—。，、；：！？។၊။]")


@dataclass(slots=True)
class _Last:
    """What was asked for last of the piece that is being spoken, and what came of it."""

    cue: str
    text: str = ""
    at: float = float("-inf")
    said: str = ""


class Partials:
    """One room's unfinished speech, by the reader's language: only what won't change any more is translated.

    It is translated again when it has gained a clause, when `interval_s` has passed, and at once when it may be the
    whole of it.
    """

    def __init__(self, interval_s: float) -> None:
        """`interval_s`: 0 for no translation before the final text."""
        self._interval_s = interval_s
        self._last: dict[LanguageTag, _Last] = {}  # bounded by the languages

    def due(self, source: SourceText, language: LanguageTag, now: float) -> str:
        """What of an unfinished piece to translate now, "" for nothing; it counts as asked for."""
        last = self._of(source, language)
        text = source.text[: source.steady].rstrip()
        if not self._interval_s or len(text) <= len(last.text):
            return ""
        is_whole = source.steady == len(source.text)
        gains_clause = _CLAUSE.search(text, len(last.text)) is not None
        if not (is_whole or gains_clause or now - last.at >= self._interval_s):
            return ""
        last.text, last.at = text, now
        return text

    def answered(self, source: SourceText, language: LanguageTag, said: str) -> None:
        """What was asked for is said so in the reader's language."""
        if self._last[language].cue == source.id:
            self._last[language].said = said

    def draft(self, source: SourceText, language: LanguageTag) -> str:
        """The last translation of the piece, with which that of more of it is likely to begin."""
        return self._of(source, language).said

    def _of(self, source: SourceText, language: LanguageTag) -> _Last:
        last = self._last.get(language)
        if last is None or last.cue != source.id:
            last = self._last[language] = _Last(source.id)
        return last
