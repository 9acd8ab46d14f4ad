import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.languages import LanguageTag
from pipelines.comments.repeats import Repeat, Repeats, RepeatsSettings, fold

pytestmark = pytest.mark.unit

ZH, EN = LanguageTag("zh-Hans"), LanguageTag("en")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("666", "6666666"),
        ("2333", "23333333"),
        ("哈哈哈", "哈哈哈哈哈哈"),
        ("来了来了", "来了来了来了！"),
        ("Where is the link?", "where is the LINK??"),
        ("wkwkwk", "wkwkwkwkwk"),
        ("đẹp quá", "Đẹp quá!!!"),
        ("สวยมากกกก", "สวยมากกกกกกก"),
        ("能退吗？", "能退吗?"),
    ],
)
def test_what_says_the_same_folds_to_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "11"),
        ("99元", "999元"),
        ("3号", "33号"),
        ("能退", "能退?"),
        ("能吃", "不能吃"),
        ("I like it", "I don't like it"),
        ("😂", "😭"),
        ("哈", "哈哈"),
    ],
)
def test_what_says_something_else_does_not(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_repeats_are_counted_while_the_window_slides() -> None:
    repeats = Repeats(RepeatsSettings(window_s=10))
    assert repeats.seen("a", "好看", ZH, 0.0) is None
    assert repeats.seen("b", "好看！", ZH, 8.0) == Repeat("a", 2)
    assert repeats.seen("c", "好看", ZH, 16.0) == Repeat("a", 3)
    assert repeats.seen("d", "好看", ZH, 27.0) is None


def test_what_is_said_on_and_on_is_a_new_cue_now_and_then() -> None:
    repeats = Repeats(RepeatsSettings(window_s=10))
    new = [second for second in range(0, 200, 5) if repeats.seen(str(second), "666", ZH, float(second)) is None]
    assert new == [0, 45, 90, 135, 180]


def test_the_same_letters_in_another_language_are_not_the_same() -> None:
    repeats = Repeats(RepeatsSettings())
    assert repeats.seen("a", "ok", ZH, 0.0) is None
    assert repeats.seen("b", "ok", EN, 0.0) is None


def test_without_a_window_nothing_is_merged() -> None:
    repeats = Repeats(RepeatsSettings(window_s=0))
    assert repeats.seen("a", "666", ZH, 0.0) is None
    assert repeats.seen("b", "666", ZH, 0.0) is None


@given(st.lists(st.tuples(st.sampled_from(["一", "二", "三", "四", "五"]), st.floats(0, 3)), max_size=60))
def test_counts_are_those_of_equal_texts_and_memory_is_bounded(said: list[tuple[str, float]]) -> None:
    repeats = Repeats(RepeatsSettings(window_s=5, most=3))
    now, counts = 0.0, dict[str, int]()
    for number, (text, later) in enumerate(said):
        now += later
        repeat = repeats.seen(f"{text}{number}", text, ZH, now)
        assert repeat is None or (repeat.id[0] == text and repeat.count == counts[text] + 1)
        counts[text] = repeat.count if repeat else 1
        assert len(repeats._said) <= 3


@given(st.text(max_size=40))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.integers(0, 9999), st.integers(0, 9999), st.sampled_from("元号x"))
def test_other_figures_are_another_text(one: int, other: int, unit: str) -> None:
    assert (fold(f"{one}{unit}") == fold(f"{other}{unit}")) == (one == other)


@pytest.mark.parametrize("piece", ["a", "ab", "abcde", "哈", "?", "6", " "])
def test_hostile_text_takes_no_time(piece: str) -> None:
    began = time.process_time()
    fold((piece * 2000)[:2000])
    assert time.process_time() - began < 0.2
