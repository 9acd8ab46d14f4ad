import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.languages import LanguageTag
from pipelines.speech.letters import letters
from pipelines.speech.stabiliser import Stabiliser, aligned

pytestmark = pytest.mark.unit

EN, ZH = LanguageTag("en"), LanguageTag("zh-Hans")


def shown(stabiliser: Stabiliser, *texts: str) -> str:
    """What is worth showing after some hypotheses."""
    for text in texts:
        found = stabiliser.push(text, EN, 0.0, 1.0)
    return found.text[: found.agreed_length]


def stable(stabiliser: Stabiliser, *texts: str, language: LanguageTag = EN, final: bool = False) -> tuple[str, str]:
    """What is stable after some hypotheses, and what follows it."""
    for n, text in enumerate(texts):
        found = stabiliser.push(text, language, 0.0, 1.0, final=final and n == len(texts) - 1)
    return found.text[: found.stable_length], found.text[found.stable_length :]


def test_nothing_is_stable_after_one_hypothesis() -> None:
    assert stable(Stabiliser(1), "Hello every") == ("", "Hello every")


def test_words_that_two_hypotheses_agree_on_are_stable_but_for_the_last_two() -> None:
    before, after = "hello everyone and", "Hello, everyone and welcome"
    assert stable(Stabiliser(1), before, after) == ("Hello", ", everyone and welcome")
    assert stable(Stabiliser(1), "so every one", "Well every one") == ("", "Well every one")


def test_what_two_hypotheses_agree_on_is_shown_and_a_first_one_without_its_last_word() -> None:
    assert shown(Stabiliser(1), "Hello every") == "Hello"
    assert shown(Stabiliser(1), "Hello") == ""
    assert shown(Stabiliser(1), "Hello every", "Hello everyone and") == "Hello"
    assert shown(Stabiliser(1), "Hello every", "Hello everyone and", "Hello, everyone. And welcome") == (
        "Hello, everyone. And"
    )
    assert shown(Stabiliser(1), "a b c d e", "a b c d e", "x y") == "a b c"  # the stable part, whatever comes


def test_characters_are_the_words_of_chinese() -> None:
    assert stable(Stabiliser(1), "我想看江", "我想看江苏台", language=ZH) == ("我想", "看江苏台")


def test_a_full_stop_is_stable_once_the_word_after_it_is() -> None:
    assert stable(Stabiliser(1), "Good day. It is", "Good day. It is") == ("Good day", ". It is")
    text = "Good day. It is too late"
    assert stable(Stabiliser(1), text, text) == ("Good day. It is", " too late")


def test_stable_text_stays_when_a_later_hypothesis_says_otherwise() -> None:
    stabiliser = Stabiliser(1)
    stable(stabiliser, "we go to the market", "we go to the market now")
    assert stable(stabiliser, "We went to the market, now and then") == ("we go to the", " market, now and then")


def test_an_empty_final_keeps_what_was_stable() -> None:
    stabiliser = Stabiliser(1)
    stable(stabiliser, "one two three four", "one two three four")
    assert stable(stabiliser, "", final=True) == ("one two", "")


def test_a_final_is_stable_as_a_whole() -> None:
    assert stable(Stabiliser(1), "one two", "one two three.", final=True) == ("one two three.", "")


def test_hypotheses_in_different_languages_do_not_agree() -> None:
    stabiliser = Stabiliser(1)
    stable(stabiliser, "one two three")
    assert stable(stabiliser, "one two three", language=ZH) == ("", "one two three")


def test_alignment_finds_where_words_said_again_end() -> None:
    assert aligned(["a", "b"], ["a", "b", "c"]) == 2
    assert aligned(["a", "b"], ["a", "x", "b", "c"]) == 3
    assert aligned(["a", "b", "c"], ["a", "c", "d"]) == 2
    assert aligned(["a"], []) == 0


hypotheses = st.lists(
    st.lists(st.sampled_from(["so", "Then,", "we", "go.", "好", "的", "，", "一", "ไป", "3"]), max_size=12).map(
        " ".join
    ),
    min_size=1,
    max_size=10,
)


@given(hypotheses)
def test_stable_text_only_grows_and_revisions_are_numbered(texts: list[str]) -> None:
    stabiliser = Stabiliser(7)
    before = ""
    for n, text in enumerate(texts, start=1):
        final = n == len(texts)
        found = stabiliser.push(text, EN, 0.0, 1.0, final=final)
        assert found.revision == n
        assert found.text.startswith(before)
        assert len(before) <= found.stable_length <= found.agreed_length <= len(found.text)
        before = found.text[: found.stable_length]
        assert not final or before == found.text


@given(st.lists(st.sampled_from(["so", "we", "go.", "home,", "again"]), min_size=1, max_size=30), st.data())
def test_a_speech_heard_in_growing_parts_comes_out_as_it_was_said(words: list[str], data: st.DataObject) -> None:
    stabiliser = Stabiliser(1)
    heard = 0
    while heard < len(words):
        heard += data.draw(st.integers(1, 5))
        found = stabiliser.push(" ".join(words[:heard]), EN, 0.0, 1.0, final=heard >= len(words))
    assert letters(found.text) == letters(" ".join(words))
