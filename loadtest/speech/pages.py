"""Long readings, page by page: is each there, once, and how long after its end."""

from collections import Counter
from collections.abc import Sequence, Set

import msgspec

from loadtest.speech.clips import Page
from loadtest.speech.scores import Shown, align, chrf, error_rate, plain
from loadtest.speech.texts import tokens, units

_MISSING = 0.35  # of its words were said
_DOUBLED = 0.5  # of its runs of words were said more often than they are printed
_RUN = 4


class PageReport(msgspec.Struct, frozen=True, kw_only=True):
    """One page of the original: its error rate, and when the last of it came to stay, in seconds after its end.

    `said`: the share of its words that are there; `twice`: of its runs of four words, those that are there more often
    than in print. `translated_lag_s` None where no translation of the page is known.
    """

    start: float
    end: float
    error_rate: float
    said: float
    twice: float
    lag_s: float | None
    translated_lag_s: float | None

    @property
    def missing(self) -> bool:
        """Whether most of it is not there."""
        return self.said < _MISSING

    @property
    def doubled(self) -> bool:
        """Whether it seems to be there twice."""
        return self.twice > _DOUBLED


class PagesReport(msgspec.Struct, frozen=True, kw_only=True):
    """All pages of a reading; `chrf` of the translation, page by page."""

    pages: tuple[PageReport, ...]
    chrf: float | None


def score_pages(
    pages: Sequence[Page], source: Shown, language: str, target: Shown | None, target_language: str
) -> PagesReport:
    """Lay what was shown along the pages."""
    texts = [page.text for page in pages]
    said = _cut(source, texts, language)
    wanted = [page.translations.get(target_language, "") for page in pages]
    translated = _cut(target, wanted, target_language) if target is not None and all(wanted) else None
    printed = sum((_runs(text, language) for text in texts), Counter[tuple[str, ...]]())
    spoken = _runs(source.text, language)
    more = {run for run, count in spoken.items() if count > max(1, printed[run])}
    others: Sequence[_Piece | None] = translated or [None] * len(pages)
    rows = zip(pages, said, others, strict=True)
    between = "" if units(target_language) == "char" else " "
    return PagesReport(
        pages=tuple(_page(page, language, piece, other, more) for page, piece, other in rows),
        chrf=chrf([between.join(piece.words) for piece in translated], wanted) if translated else None,
    )


class _Piece(msgspec.Struct, frozen=True):
    words: tuple[str, ...]
    came: float | None


def _page(page: Page, language: str, said: _Piece, translated: _Piece | None, more: Set[tuple[str, ...]]) -> PageReport:
    found = error_rate(page.text, ("" if units(language) == "char" else " ").join(said.words), language)
    runs = _runs(page.text, language)
    return PageReport(
        start=page.start,
        end=page.end,
        error_rate=round(found.rate, 3),
        said=round(found.hits / max(1, found.length), 2),
        twice=round(sum(run in more for run in runs) / max(1, len(runs)), 2),
        lag_s=_since(said, page.end),
        translated_lag_s=_since(translated, page.end),
    )


def _since(piece: _Piece | None, end: float) -> float | None:
    return None if piece is None or piece.came is None else round(piece.came - end, 2)


def _runs(text: str, language: str) -> Counter[tuple[str, ...]]:
    words = tokens(plain(text, language), language)
    return Counter(zip(*(words[n:] for n in range(_RUN)), strict=False))


def _cut(text: Shown, parts: Sequence[str], language: str) -> list[_Piece]:
    pieces, place = [], 0
    for words in align(tokens(text.text, language), [tokens(part, language) for part in parts]):
        end = place + len(words)
        pieces.append(_Piece(tuple(words), text.delays[end - 1] if words else None))
        place = end
    return pieces
