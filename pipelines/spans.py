"""Spans: the parts of a text that no model is to translate."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec


class SpanKind(StrEnum):
    """What a span is. The last five are personal data."""

    URL = "url"
    NAME = "name"  # @somebody
    TAG = "tag"  # #topic
    EMOTE = "emote"  # [doge], :smile:, Kappa
    EMOJI = "emoji"
    FACE = "face"  # drawn with signs: kaomoji, hearts
    CODE = "code"  # of a product
    PRICE = "price"
    TERM = "term"  # of a glossary
    PHONE = "phone"
    EMAIL = "email"
    ID_NUMBER = "id_number"
    CARD = "card"
    HANDLE = "handle"


PERSONAL = frozenset({SpanKind.PHONE, SpanKind.EMAIL, SpanKind.ID_NUMBER, SpanKind.CARD, SpanKind.HANDLE})


class Span(msgspec.Struct, frozen=True):
    """Characters [start, end) of a text, and what they are."""

    start: int
    end: int
    kind: SpanKind


class Reworded(msgspec.Struct, frozen=True):
    """Characters [start, end) of a text, and other words of its own language that a model reads in their place."""

    start: int
    end: int
    text: str


def merge(groups: Iterable[Sequence[Span]]) -> tuple[Span, ...]:
    """Spans of several finders, in the text's order; one that overlaps another of an earlier group is left out."""
    kept: list[Span] = []
    for group in groups:
        kept += [span for span in group if all(span.end <= other.start or span.start >= other.end for other in kept)]
    return tuple(sorted(kept, key=lambda span: span.start))


def without(text: str, spans: Sequence[Span]) -> str:
    """The text with a blank in the place of every span."""
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += text[at : span.start], " "
        at = span.end
    return "".join(parts) + text[at:]
