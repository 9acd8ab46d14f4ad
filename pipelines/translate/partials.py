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
    under_way: int = 0


class Partials:
    """One room's unfinished speech, by the reader's language: only what won't change any more is translated.

    It is translated again when it has gained a clause or `interval_s` has passed, but not before the last translation
    has come; at once when it may be the whole of it.
    """

    def __init__(self, interval_s: float) -> None:
        """`interval_s`: 0 for no translation before the final text."""
        self._interval_s = interval_s
        self._last: dict[LanguageTag, _Last] = {}  # bounded by the languages

    def due(self, source: SourceText, language: LanguageTag, now: float) -> str:
        """What of an unfinished piece to translate now, "" for nothing; tell `began` when that is done."""
        last = self._of(source, language)
        text = source.text[: source.steady].rstrip()
        if not self._interval_s or len(text) <= len(last.text):
            return ""
        is_whole = source.steady == len(source.text)
        gains_clause = _CLAUSE.search(text, len(last.text)) is not None
        is_time = gains_clause or now - last.at >= self._interval_s
        return text if is_whole or (is_time and not last.under_way) else ""

    def began(self, source: SourceText, language: LanguageTag, text: str, now: float) -> None:
        """So much of a piece is being translated; `ended` has to follow."""
        last = self._of(source, language)
        last.text, last.at = text, now
        last.under_way += 1

    def ended(self, source: SourceText, language: LanguageTag, said: str | None) -> None:
        """What was begun is said so in the reader's language, or nothing came of it."""
        last = self._last.get(language)
        if last is not None and last.cue == source.id:  # else another piece is being spoken by now
            last.under_way -= 1
            last.said = said or last.said

    def draft(self, source: SourceText, language: LanguageTag) -> str:
        """The last translation of the piece, with which that of more of it is likely to begin."""
        return self._of(source, language).said

    def _of(self, source: SourceText, language: LanguageTag) -> _Last:
        last = self._last.get(language)
        if last is None or last.cue != source.id:
            last = self._last[language] = _Last(source.id)
        return last
