import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.comments.spans import find_spans
from pipelines.spans import Span, SpanKind, merge, without

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("看这个 https://a.b/c?d=1，好看", ["https://a.b/c?d=1"]),
        ("去abc.com/shop看看", ["abc.com/shop"]),
        ("see http://x.com).", ["http://x.com"]),
        ("谢谢@小鱼儿 的礼物", ["@小鱼儿"]),
        ("@Bob_1你好", ["@Bob_1"]),
        ("买A7M4还是RTX4090呀", ["A7M4", "RTX4090"]),
        ("#国庆大促# 来了", ["#国庆大促#"]),
        ("love it #sale2024", ["#sale2024"]),
        ("太好看了❤️‍🔥👍🏽", ["❤️‍🔥👍🏽"]),
        ("Kappa nice", ["Kappa"]),
        ("主播好[doge][打call]", ["[doge]", "[打call]"]),
        ("我爱你<3", ["<3"]),
        ("好的^_^", ["^_^"]),
        ("主播(*^▽^*)好棒", ["(*^▽^*)"]),
        ("RM12.50 je", []),
        ("at 12:30 pm", []),
        ("3:2 win", []),
        ("真的吗？！！", []),
        ("我想要XL码", []),
        ("v1.2.3 ok", []),
        ("e-mail", []),
    ],
)
def test_what_stays_as_it_is_is_found(text: str, kept: list[str]) -> None:
    assert [text[span.start : span.end] for span in find_spans(text)] == kept


def test_a_known_name_ends_where_the_name_does() -> None:
    text = "@小鱼儿你好呀"
    assert find_spans(text) == ()
    assert find_spans(text, {"小鱼", "小鱼儿"}) == (Span(0, 4, SpanKind.NAME),)


@given(st.text("@小#[]:/.aA1 😂❤️\u200d(^_)<3", max_size=60))
def test_spans_are_in_order_apart_and_inside_the_text(text: str) -> None:
    at = 0
    for span in find_spans(text):
        assert at <= span.start < span.end <= len(text)
        at = span.end


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6)), max_size=8))
def test_of_spans_that_overlap_the_first_groups_stays(places: list[tuple[int, int]]) -> None:
    groups = [[Span(start, start + length, SpanKind.TAG)] for start, length in places]
    merged = merge(groups)
    assert not places or groups[0][0] in merged
    assert all(before.end <= after.start for before, after in pairwise(merged))


def test_a_text_without_its_spans_has_blanks_there() -> None:
    assert without("a@b c", [Span(1, 3, SpanKind.NAME)]) == "a  c"


@pytest.mark.parametrize("piece", ["@", "(a", "a.", "[a", "😀\u200d", ":a", "A1-", "#a", "<3", "http://"])
def test_hostile_text_takes_no_time(piece: str) -> None:
    text = (piece * 2000)[:2000]
    began = time.process_time()
    find_spans(text)
    assert time.process_time() - began < 0.5
