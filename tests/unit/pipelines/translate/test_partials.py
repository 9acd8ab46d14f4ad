import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.languages import LanguageTag
from pipelines.translate.partials import Partials
from pipelines.types import SourceText
from tests.unit.pipelines.sources import source

pytestmark = pytest.mark.unit

EN, VI = LanguageTag("en"), LanguageTag("vi")


def spoken(text: str, steady: int, identifier: str = "s1.0") -> SourceText:
    return source(identifier, final=False, text=text, steady=steady)


def translated(partials: Partials, piece: SourceText, now: float) -> str:
    """What of a piece is translated now; the answer comes at once."""
    text = partials.due(piece, EN, now)
    if text:
        partials.began(piece, EN, text, now)
        partials.ended(piece, EN, text.upper())
    return text


def test_only_what_is_certain_is_translated() -> None:
    partials = Partials(1.0)
    assert partials.due(spoken("Good morning every", 0), EN, 5.0) == ""
    assert partials.due(spoken("Good morning everybody", 13), EN, 5.5) == "Good morning"


def test_it_is_translated_again_after_a_second_or_a_clause() -> None:
    partials = Partials(1.0)
    text = "Good morning, everybody here and there"
    assert translated(partials, spoken(text, 4), 5.0) == "Good"
    assert translated(partials, spoken(text, 12), 5.2) == ""
    assert translated(partials, spoken(text, 13), 5.4) == "Good morning,"
    assert translated(partials, spoken(text, 23), 6.3) == ""
    assert translated(partials, spoken(text, 23), 6.4) == "Good morning, everybody"
    assert translated(partials, spoken(text, 23), 60.0) == ""


def test_nothing_more_is_asked_before_the_answer_comes_but_what_may_be_the_whole() -> None:
    partials = Partials(1.0)
    text = "Good morning, everybody here"
    partials.began(spoken(text, 4), EN, "Good", 5.0)
    assert partials.due(spoken(text, 13), EN, 9.0) == ""
    assert partials.due(spoken(text, len(text)), EN, 9.0) == text
    assert partials.due(spoken(text, 13), VI, 9.0) == "Good morning,"
    partials.ended(spoken(text, 4), EN, None)
    assert partials.due(spoken(text, 13), EN, 9.0) == "Good morning,"


def test_what_is_under_way_of_the_piece_before_holds_up_nothing() -> None:
    partials = Partials(1.0)
    partials.began(spoken("one two", 3), EN, "one", 5.0)
    following = spoken("three four", 5, "s1.1")
    assert partials.due(following, EN, 5.1) == "three"
    partials.began(following, EN, "three", 5.1)
    partials.ended(spoken("one two", 3), EN, "eins")
    assert partials.due(spoken("three four five", 10, "s1.1"), EN, 9.0) == ""
    assert partials.draft(following, EN) == ""


def test_what_may_be_the_whole_is_translated_at_once() -> None:
    partials = Partials(1.0)
    assert translated(partials, spoken("Good morning all", 4), 5.0) == "Good"
    assert partials.due(spoken("Good morning all", 16), EN, 5.1) == "Good morning all"


def test_a_draft_is_the_last_answer_of_the_same_piece_in_the_same_language() -> None:
    partials = Partials(1.0)
    piece = spoken("大家好欢迎", 3)
    assert partials.draft(piece, EN) == ""
    partials.began(piece, EN, "大家好", 5.0)
    partials.ended(piece, EN, "Hello everyone")
    partials.began(piece, EN, "大家好欢", 6.0)
    partials.ended(piece, EN, None)
    assert (partials.draft(piece, EN), partials.draft(piece, VI)) == ("Hello everyone", "")
    following = spoken("今天", 2, "s1.1")
    assert partials.draft(following, EN) == ""
    partials.ended(piece, EN, "Hello everyone, welcome")  # late
    assert partials.draft(following, EN) == ""


def test_without_an_interval_only_final_text_is_translated() -> None:
    assert Partials(0).due(spoken("Good morning.", 13), EN, 5.0) == ""


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0, 3)), max_size=30))
def test_what_is_asked_for_only_grows_and_is_never_more_than_is_certain(steps: list[tuple[int, float]]) -> None:
    text, now, last = "one two, three four five six. seven eight", 0.0, ""
    partials = Partials(1.0)
    for steady, wait in steps:
        now += wait
        asked = translated(partials, spoken(text, steady), now)
        if asked:
            assert len(asked) <= steady
            assert asked.startswith(last)
            assert len(asked) > len(last)
            last = asked
