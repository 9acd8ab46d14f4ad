import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.speech.letters import letters, tokens

pytestmark = pytest.mark.unit


def words(text: str) -> list[str]:
    return [text[token.start : token.end] for token in tokens(text)]


def test_words_are_cut_at_spaces_and_punctuation() -> None:
    assert words("Well, don't go: it's 12.") == ["Well", "don't", "go", "it's", "12"]


def test_chinese_is_cut_character_by_character_and_latin_words_in_it_are_not() -> None:
    assert words("我买iPhone了。") == ["我", "买", "iPhone", "了"]


def test_thai_marks_stay_with_their_character() -> None:
    assert words("ที่นี่") == ["ที่", "นี่"]


def test_korean_and_vietnamese_are_cut_at_spaces() -> None:
    assert words("안녕하세요 여러분, chào các bạn") == ["안녕하세요", "여러분", "chào", "các", "bạn"]


def test_letters_are_the_same_whatever_case_width_and_punctuation() -> None:
    assert letters("Ｈｅｌｌｏ, WORLD!") == letters("hello world")


@given(st.text(max_size=60))
def test_tokens_lie_in_order_and_do_not_overlap(text: str) -> None:
    end = 0
    for token in tokens(text):
        assert end <= token.start < token.end <= len(text)
        end = token.end
