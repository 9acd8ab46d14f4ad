"""Wording: what a model reads of a text, and what is said in the places that it doesn't."""

from collections.abc import Sequence

from engines.languages import LanguageTag
from pipelines.metrics import GLOSSARY_HITS
from pipelines.spans import Span, SpanKind, merge
from pipelines.translate.chinese import to_script
from pipelines.translate.figures import find_prices, say_price
from pipelines.translate.glossary import Shelf
from pipelines.translate.template import Template, cut
from pipelines.types import SourceText


class Wording:
    """Makes templates of texts: spans stay, prices and a glossary's words are said without a model."""

    def __init__(self, glossaries: Sequence[Shelf]) -> None:
        """`glossaries`: where two have a word, the first one's counts."""
        self._glossaries = glossaries

    def template(self, source: SourceText, language: LanguageTag) -> Template:
        """The template of a text for readers of one language."""
        said: dict[Span, str] = {}
        found: list[Sequence[Span]] = [source.spans]
        for shelf in self._glossaries:
            terms = shelf.glossary.find(source.text, source.language, language)
            GLOSSARY_HITS.labels(shelf.scope).inc(len(terms))
            said = {term.span: term.said for term in terms} | said
            found.append([term.span for term in terms])
        found.append(find_prices(source.text, source.language))

        def say(span: Span) -> str:
            text = source.text[span.start : span.end]
            return say_price(text, source.language, language) if span.kind is SpanKind.PRICE else said.get(span, text)

        return cut(source.text, merge(found), say, source.reworded)


def in_script(source: SourceText, language: LanguageTag) -> str:
    """A Chinese text in the script of another Chinese; spans stay as they are."""
    parts: list[str] = []
    at = 0
    for span in source.spans:
        parts += to_script(source.text[at : span.start], language), source.text[span.start : span.end]
        at = span.end
    return "".join(parts) + to_script(source.text[at:], language)
