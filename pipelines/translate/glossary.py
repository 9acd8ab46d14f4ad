"""Glossary: words that a room or a node wants translated its own way, enforced rather than asked for."""

import csv
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import msgspec

from engines.languages import LanguageTag, UnknownLanguage, parse_language
from engines.lid.scripts import script_of
from pipelines.spans import Span, SpanKind

MOST_TERMS = 5_000
LONGEST_TERM = 100  # characters

Row: TypeAlias = Mapping[LanguageTag, str]


class GlossaryError(ValueError):
    """A table that is no glossary: `detail` names the line, `hint` says what is wanted."""

    def __init__(self, detail: str, *, hint: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint


class Term(msgspec.Struct, frozen=True):
    """Where a glossary's word stands in a text, and what is to stand for it in the translation."""

    span: Span
    said: str


class Glossary:
    """Rows of words that mean the same, a language each: any may be a source, any a target."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        """Raises GlossaryError: over 5,000 rows, a word over 100 characters."""
        if len(rows) > MOST_TERMS:
            raise GlossaryError(f"the glossary has {len(rows):,} rows", hint=f"send at most {MOST_TERMS:,}")
        self.rows = tuple(dict(row) for row in rows)
        self._by_start: dict[LanguageTag, dict[str, list[tuple[str, Row]]]] = {}
        for row in self.rows:
            for tag, word in row.items():
                folded = word.casefold()
                starts = self._by_start.setdefault(tag, {})
                starts.setdefault(folded[0], []).append((folded, row))
        for starts in self._by_start.values():
            for words in starts.values():
                words.sort(key=lambda entry: -len(entry[0]))

    def __len__(self) -> int:
        return len(self.rows)

    def find(self, text: str, source: LanguageTag, target: LanguageTag) -> tuple[Term, ...]:
        """The terms of a text that have a word in `target`, from the left, the longest first where several begin.

        Case does not matter; a word of Latin letters has to stand alone, others may stand anywhere.
        """
        starts = self._by_start.get(source, {})
        folded = text.casefold()
        if not starts or len(folded) != len(text):  # ẞ and its like, whose places would be off
            folded = text.lower() if len(text.lower()) == len(text) else text
        terms: list[Term] = []
        at = 0
        while at < len(folded):
            term = self._at(folded, at, starts.get(folded[at], ()), target)
            if term is not None:
                terms.append(term)
            at = term.span.end if term is not None else at + 1
        return tuple(terms)

    @staticmethod
    def _at(text: str, at: int, words: Sequence[tuple[str, Row]], target: LanguageTag) -> Term | None:
        for word, row in words:
            said = row.get(target)
            end = at + len(word)
            if said is not None and text.startswith(word, at) and _stands_alone(text, at, end):
                return Term(Span(at, end, SpanKind.TERM), said)
        return None


class Shelf:
    """Holds the glossary that is in use; it may be exchanged at any time."""

    def __init__(self, scope: str, glossary: Glossary | None = None) -> None:
        """`scope` labels its hits: room or node."""
        self.scope = scope
        self.glossary = glossary or Glossary()


def read_glossary(text: str) -> Glossary:
    """A glossary from tab-separated text: the first line names languages, every other line has a word for each.

    A cell may be empty. Raises GlossaryError naming the line.
    """
    table = list(csv.reader(text.removeprefix("\ufeff").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    if not table:
        raise GlossaryError("the glossary is empty", hint="begin with a line of language tags: zh-Hans, tab, en")
    try:
        tags = [parse_language(tag) for tag in table[0]]
    except UnknownLanguage as unknown:
        raise GlossaryError(f"line 1: {unknown}", hint="the first line names the columns' languages") from unknown
    if len(tags) < 2 or len(set(tags)) < len(tags):
        raise GlossaryError("line 1 needs two languages or more, each once", hint="for example: zh-Hans, tab, en")
    return Glossary([row for number, cells in enumerate(table[1:], 2) if (row := _row(tags, cells, number))])


def write_glossary(glossary: Glossary) -> str:
    """The same as tab-separated text."""
    tags = sorted({tag for row in glossary.rows for tag in row})
    lines = ["\t".join(tags), *("\t".join(row.get(tag, "") for tag in tags) for row in glossary.rows)]
    return "\n".join(lines) + "\n"


def _row(tags: Sequence[LanguageTag], cells: Sequence[str], number: int) -> Row:
    if len(cells) > len(tags):
        raise GlossaryError(f"line {number} has {len(cells)} columns, line 1 has {len(tags)}", hint="part by tabs only")
    words = {tag: cell.strip() for tag, cell in zip(tags, cells, strict=False) if cell.strip()}
    long = next((word for word in words.values() if len(word) > LONGEST_TERM), None)
    if long is not None:
        raise GlossaryError(f"line {number}: a word has {len(long)} characters", hint=f"at most {LONGEST_TERM}")
    if len(words) == 1:
        raise GlossaryError(f"line {number} has a word in one language only", hint="give it in another too")
    return words


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a word of letters that blanks part is not a piece of a longer one."""
    before = start > 0 and _parted(text[start]) and _parted(text[start - 1])
    after = end < len(text) and _parted(text[end - 1]) and _parted(text[end])
    return not before and not after


def _parted(character: str) -> bool:
    return character.isalnum() and script_of(character) in ("Latin", "Hangul", "Common")
