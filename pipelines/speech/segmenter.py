"""Stable text → pieces that fit two lines: sentences first, then clauses, then words. Sync."""

import re
import unicodedata
from enum import IntEnum
from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta

from pipelines.speech.letters import is_unspaced, tokens

_SENTENCE = re.compile(r"[。！？!?…។၊။]|\.(?=\s)")
_CLAUSE = re.compile(r"[，、；：,;:—–]")
_THAI = re.compile(r"[\u0e00-\u0eff]")
_OPENING = "“‘「『（([《\"' \t\n\u3000"
_CLOSING = " \t\n\u3000.。！？!?…，、；：,;:—–"
_ABBREVIATED = frozenset({"mr", "mrs", "ms", "dr", "st", "vs", "prof", "jr", "sr", "no"})


class SegmenterSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much text a viewer sees at once."""

    lines: Annotated[int, Meta(ge=1, le=10)] = 2
    """Lines of one cue."""
    full_width_per_line: Annotated[int, Meta(ge=4, le=200)] = 16
    """Chinese, Japanese and Korean characters in a line."""
    latin_per_line: Annotated[int, Meta(ge=8, le=400)] = 42
    """Other characters in a line."""
    shortest_sentence: Annotated[float, Meta(ge=0, le=1)] = 0.3
    """A sentence shorter than this part of a line stays with the next one."""


class Pieces(msgspec.Struct, frozen=True, kw_only=True):
    """Pieces given out for good now, in order, and the one that is still open ("" where none is).

    The first `stable` characters of the open one won't change any more.
    """

    closed: tuple[str, ...]
    open: str
    stable: int = 0


class _Rank(IntEnum):
    WORD = 1
    CLAUSE = 2
    SENTENCE = 3


class _Boundary(msgspec.Struct, frozen=True):
    at: int
    rank: _Rank
    width: int
    next_end: int  # where the word after it ends


class Segmenter:
    """Cuts the text of one utterance. What was given out is not looked at again."""

    def __init__(self, settings: SegmenterSettings) -> None:
        self._settings = settings
        self._given = 0
        line = settings.full_width_per_line * settings.latin_per_line
        self._widest = settings.lines * line
        self._shortest = int(settings.shortest_sentence * line)

    def push(self, text: str, stable_length: int, *, final: bool) -> Pieces:
        """The pieces of a text whose first `stable_length` characters are those of the call before, or more.

        The open piece is cut off after two lines until more of the text is stable.
        """
        closed: list[str] = []
        while True:
            start = self._given
            while start < len(text) and text[start] in (_CLOSING if start else _CLOSING[:4]):
                start += 1
            rest, stable = text[start:], (len(text) if final else stable_length) - start
            cut = self._next_cut(rest, stable, final=final)
            if cut is None:
                break
            closed.append(rest[:cut].strip())
            self._given = start + cut
        if not final:
            fitting = self._fitting(rest)
            return Pieces(closed=tuple(closed), open=fitting, stable=min(max(stable, 0), len(fitting)))
        self._given = len(text)
        return Pieces(closed=tuple([*closed, rest.strip()] if rest.strip() else closed), open="")

    def _next_cut(self, text: str, stable: int, *, final: bool) -> int | None:
        boundaries = [boundary for boundary in self._boundaries(text) if boundary.next_end <= stable]
        for boundary in boundaries:
            if boundary.rank is _Rank.SENTENCE and self._shortest <= boundary.width <= self._widest:
                return boundary.at
        width = self._width(text[: max(stable, 0)])
        if width <= self._widest:
            return None
        return self._best(text, boundaries, width, final=final)

    def _best(self, text: str, boundaries: list[_Boundary], width: int, *, final: bool) -> int:
        """The best place for a cut within two lines; the last pieces of an utterance are made alike in length."""
        aim = width / -(-width // self._widest) if final else self._widest
        fitting = [boundary for boundary in boundaries if boundary.width <= self._widest]
        good = [b for b in fitting if b.rank is _Rank.WORD or b.width * 3 >= self._widest]
        if not good:
            return self._hard(text)
        return max(good, key=lambda boundary: (boundary.rank, -abs(boundary.width - aim))).at

    def _fitting(self, text: str) -> str:
        text = text.strip()
        if self._width(text) <= self._widest:
            return text
        fitting = [boundary.at for boundary in self._boundaries(text) if boundary.width <= self._widest]
        return text[: fitting[-1] if fitting else self._hard(text)].strip()

    def _hard(self, text: str) -> int:
        """Where a word longer than two lines is broken."""
        width = 0
        for at, character in enumerate(text):
            width += self._width(character)
            if width > self._widest:
                return max(at, 1)
        return len(text)

    def _boundaries(self, text: str) -> list[_Boundary]:
        """Every place between two words, after the punctuation of the first."""
        words = tokens(text)
        found: list[_Boundary] = []
        width = start = 0
        for word, following in pairwise(words):
            between = text[word.end : following.start]
            at = word.end + len(between.rstrip(_OPENING))
            width += self._width(text[start:at])
            start = at
            if not between and not is_unspaced(text[word.end - 1]) and not is_unspaced(text[following.start]):
                continue
            found.append(_Boundary(at, _rank(word.key, between, text[word.start]), width, following.end))
        return found

    def _width(self, text: str) -> int:
        return sum(self._character_width(character) for character in text)

    def _character_width(self, character: str) -> int:
        if unicodedata.category(character) in ("Mn", "Me", "Cf"):
            return 0
        wide = unicodedata.east_asian_width(character) in "WF"
        return self._settings.latin_per_line if wide else self._settings.full_width_per_line


def _rank(word: str, between: str, letter: str) -> _Rank:
    if _SENTENCE.search(between) and not _is_abbreviation(word, between):
        return _Rank.SENTENCE
    spaced_thai = between.isspace() and bool(_THAI.match(letter))
    if spaced_thai or (_CLAUSE.search(between) and (not word.isdigit() or between != ",")):
        return _Rank.CLAUSE
    return _Rank.WORD


def _is_abbreviation(word: str, between: str) -> bool:
    latin_letter = len(word) == 1 and word.isascii() and word.isalpha() and word != "i"
    return between.strip() == "." and (word in _ABBREVIATED or latin_letter)
