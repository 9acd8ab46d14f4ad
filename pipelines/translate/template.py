"""A text for a model, with signs in the place of its spans, and the way back."""

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from pipelines.spans import Reworded, Span, SpanKind

# At a text's edges these stand outside its grammar: no model needs to see them.
_OUTSIDE = frozenset({SpanKind.URL, SpanKind.NAME, SpanKind.TAG, SpanKind.EMOTE, SpanKind.EMOJI, SpanKind.FACE})
# A capital and a number come back from a small model as they went in more often than any bracketed sign: all of
# twenty, where <1>, {1} and [1] lost 4, 3 and 2 (docs/models.md).
_LETTERS = "XZQK"


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """`head` + `text` + `tail` is the source; `text` has signs, and `pieces` says what each stands for."""

    head: str
    text: str
    tail: str
    pieces: Mapping[str, str]

    @property
    def signs(self) -> tuple[str, ...]:
        """What an answer has to hold."""
        return tuple(self.pieces)

    @property
    def has_words(self) -> bool:
        """Whether there is anything but signs to translate."""
        text = self.text
        for sign in self.pieces:
            text = text.replace(sign, " ")
        return any(character.isalpha() for character in text)


def cut(text: str, spans: Sequence[Span], say: Callable[[Span], str], reworded: Sequence[Reworded] = ()) -> Template:
    """The template of a text. `say` gives what stands for a span in the translation. A rewording that overlaps a span
    gives way to it.
    """
    start, spans = _leading(text, spans)
    end, spans = _trailing(text, spans)
    letter = next((one for one in _LETTERS if not re.search(rf"{one}\d", text, re.IGNORECASE)), _LETTERS[0])
    pieces: dict[str, str] = {}
    made = ""
    at = start
    free = [part for part in reworded if all(part.end <= span.start or part.start >= span.end for span in spans)]
    cuts: list[Span | Reworded] = [*spans, *free]
    for part in sorted(cuts, key=lambda part: part.start):
        if part.start < at or part.end > end:
            continue
        made += text[at : part.start]
        if isinstance(part, Reworded):
            made += part.text
        else:
            sign = f"{letter}{len(pieces) + 1}"
            pieces[sign] = say(part)
            # A sign that ran into a letter or figure beside it would be none.
            made += _gap(made[-1:]) + sign + _gap(text[part.end : min(part.end + 1, end)])
        at = part.end
    return Template(head=text[:start], text=made + text[at:end], tail=text[end:], pieces=pieces)


def restore(template: Template, translated: str) -> str:
    """The translation with what the signs stand for; what a model lost stands at the end."""
    left = dict(template.pieces)

    def piece(sign: re.Match[str]) -> str:
        said = template.pieces.get(sign[0].upper())
        left.pop(sign[0].upper(), None)
        return sign[0] if said is None else said

    if template.pieces:
        letter = next(iter(template.pieces))[0]
        translated = re.sub(rf"(?<![A-Za-z0-9])[{letter}{letter.lower()}]\d+(?!\d)", piece, translated)
    return template.head + " ".join([translated, *left.values()]).strip() + template.tail


def _gap(neighbour: str) -> str:
    return " " if neighbour.isascii() and neighbour.isalnum() else ""


def _leading(text: str, spans: Sequence[Span]) -> tuple[int, Sequence[Span]]:
    at = 0
    for index, span in enumerate(spans):
        if span.kind not in _OUTSIDE or text[at : span.start].strip():
            return at, spans[index:]
        at = span.end + len(text[span.end :]) - len(text[span.end :].lstrip())
    return at, ()


def _trailing(text: str, spans: Sequence[Span]) -> tuple[int, Sequence[Span]]:
    at = len(text)
    for index in range(len(spans) - 1, -1, -1):
        span = spans[index]
        if span.kind not in _OUTSIDE or text[span.end : at].strip():
            return at, spans[: index + 1]
        at = len(text[: span.start].rstrip())
    return at, ()
