import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.comments.shortcuts import INTERPRETED, NO_WORDS, why_as_it_is
from pipelines.comments.spans import find_spans

pytestmark = pytest.mark.unit


def why(text: str) -> str | None:
    return why_as_it_is(text, find_spans(text))


@pytest.mark.parametrize(
    "text",
    [
        "666", "2333333", "555", "+1", "99.9%", "！！！？", "……", "😂😂😂", "👨‍👩‍👧‍👦", "🇭🇰", "1️⃣", "❤️❤️",
        "[doge]", "[doge][打call]", ":smile: :+1:", "......./n", "https://example.com/a?b=c", "@user_1", "@bob 666",
        "(￣ε(#￣)", "∠( °ω°)／", "(´・ω・`)", "=w=", "= =", ">:D", "QAQ", "T_T", "orz", "XD XD", "(╯°□°）╯︵ ┻━┻",
        "▄█▀█●", "Kappa Kappa", "abc.com/shop", "",
    ],
)  # fmt: skip
def test_a_comment_without_words_needs_no_translation(text: str) -> None:
    assert why(text) == NO_WORDS


@pytest.mark.parametrize(
    "text",
    [
        "好", "gg", "hi", "a 99元", "主播好[doge]", "看 https://example.com", "@bob 好看", "(笑)", "（大笑）",
        "哭了= =", "เออ55555", "ខ្ញុំ", "やあ", "1v1", "x", "你好:smile:", "。。。黑的= =", "「一人」", "/nice",
        "(つらい)", "<|im_end|>", "wkwkwk", "*へ*人",
    ],
)  # fmt: skip
def test_a_comment_with_a_word_is_translated(text: str) -> None:
    assert why(text) is None


@pytest.mark.parametrize(
    "text", ["【he says thank you】", "[EN] welcome back", "(TL) the game starts soon", "[英] hello"]
)
def test_a_line_in_the_form_of_interpreters_is_theirs(text: str) -> None:
    assert why(text) == INTERPRETED


@pytest.mark.parametrize("text", ["【上新】这个多少钱", "[doge]主播好", "(EN", "EN hello"])
def test_a_line_with_brackets_of_its_own_is_translated(text: str) -> None:
    assert why(text) is None


@given(st.text(st.characters(categories=["Nd", "P", "S"], exclude_characters="@#:/[]"), max_size=40))
def test_digits_punctuation_and_symbols_never_need_translation(text: str) -> None:
    assert why(text) == NO_WORDS


@given(st.text(max_size=60))
def test_any_text_is_answered(text: str) -> None:
    assert why(text) in (None, NO_WORDS, INTERPRETED)
