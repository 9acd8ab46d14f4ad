import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.spans import Reworded, Span, SpanKind
from pipelines.translate.template import cut, restore

pytestmark = pytest.mark.unit


def test_what_stands_outside_the_grammar_is_cut_from_the_edges() -> None:
    text = "@bob 好看 😂😂"
    spans = [Span(0, 4, SpanKind.NAME), Span(8, 9, SpanKind.EMOJI), Span(9, 10, SpanKind.EMOJI)]
    template = cut(text, spans, lambda span: text[span.start : span.end])
    assert (template.head, template.text, template.tail, template.signs) == ("@bob ", "好看", " 😂😂", ())
    assert restore(template, "nice") == "@bob nice 😂😂"


def test_signs_stand_for_what_a_model_is_not_to_see() -> None:
    text = "这个99元，问@bob 吧"
    spans = [Span(2, 5, SpanKind.PRICE), Span(7, 11, SpanKind.NAME)]
    template = cut(text, spans, lambda span: {SpanKind.PRICE: "99 yuan"}.get(span.kind, "@bob"))
    assert template.text == "这个X1，问X2 吧"
    assert restore(template, "This is X1, ask X2.") == "This is 99 yuan, ask @bob."
    assert restore(template, "Ask x2: x1") == "Ask @bob: 99 yuan"


def test_what_a_model_lost_stands_at_the_end() -> None:
    template = cut("买A1", [Span(1, 3, SpanKind.CODE)], lambda _: "A1")
    assert restore(template, "Buy it") == "Buy it A1"


def test_a_text_with_such_signs_of_its_own_gets_others() -> None:
    template = cut("X1买A1", [Span(3, 5, SpanKind.CODE)], lambda _: "A1")
    assert template.text == "X1买Z1"
    assert restore(template, "X1 buys Z1") == "X1 buys A1"


def test_more_than_nine_signs_are_told_apart() -> None:
    text = "买" + "a" * 11
    spans = [Span(place, place + 1, SpanKind.CODE) for place in range(1, 12)]
    template = cut(text, spans, lambda span: f"<{span.start}>")
    assert restore(template, "X11 X1") == "<11> <1> " + " ".join(f"<{place}>" for place in range(2, 11))


def test_a_rewording_is_read_in_place_of_its_part_unless_a_span_is_there() -> None:
    words = [Reworded(0, 4, "永远最棒"), Reworded(5, 7, "x")]
    template = cut("yyds买A1", [Span(5, 7, SpanKind.CODE)], lambda _: "A1", words)
    assert template.text == "永远最棒买X1"


@pytest.mark.parametrize(("text", "has_words"), [("99元", False), ("99元？", False), ("这99元", True)])
def test_a_text_of_signs_alone_needs_no_model(text: str, has_words: bool) -> None:
    start = text.index("9")
    template = cut(text, [Span(start, start + 3, SpanKind.PRICE)], lambda _: "99 yuan")
    assert template.has_words is has_words


@given(
    st.text("ab1 X好@😂", max_size=20),
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.sampled_from(list(SpanKind))), max_size=5),
)
def test_a_model_that_changes_nothing_gives_the_text_back(text: str, parts: list[tuple[int, int, SpanKind]]) -> None:
    spans, at = list[Span](), 0
    for length, gap, kind in parts:
        if at + gap + length <= len(text):
            spans.append(Span(at + gap, at + gap + length, kind))
            at += gap + length
    template = cut(text, spans, lambda span: text[span.start : span.end])
    assert all(template.text.count(sign) == 1 for sign in template.signs if sign + "0" not in template.text)
    assert "".join(restore(template, template.text).split()) == "".join(text.split())
