import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.comments.shortcuts import needs_no_translation

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "text",
    [
        "666", "2333333", "555", "+1", "99.9%", "！！！？", "……", "😂😂😂", "👨‍👩‍👧‍👦", "🇭🇰", "1️⃣", "❤️❤️",
        "[doge]", "[doge][打call]", ":smile: :+1:", "......./n", "https://example.com/a?b=c", "@user_1", "@bob 666",
        "(￣ε(#￣)", "∠( °ω°)／", "(´・ω・`)", "=w=", "= =", ">:D", "QAQ", "T_T", "orz", "XD XD", "(╯°□°）╯︵ ┻━┻",
        "▄█▀█●", "",
    ],
)  # fmt: skip
def test_a_comment_without_words_needs_no_translation(text: str) -> None:
    assert needs_no_translation(text)


@pytest.mark.parametrize(
    "text",
    [
        "好", "gg", "hi", "a 99元", "主播好[doge]", "看 https://example.com", "@bob 好看", "(笑)", "（大笑）",
        "哭了= =", "เออ55555", "ខ្ញុំ", "やあ", "1v1", "x", "你好:smile:", "。。。黑的= =", "「一人」", "/nice",
        "(つらい)", "<|im_end|>", "wkwkwk", "*へ*人",
    ],
)  # fmt: skip
def test_a_comment_with_a_word_is_translated(text: str) -> None:
    assert not needs_no_translation(text)


@given(st.text(st.characters(categories=["Nd", "P", "S"], exclude_characters="@#:/[]"), max_size=40))
def test_digits_punctuation_and_symbols_never_need_translation(text: str) -> None:
    assert needs_no_translation(text)


@given(st.text(max_size=60))
def test_any_text_is_answered(text: str) -> None:
    assert needs_no_translation(text) in (True, False)
