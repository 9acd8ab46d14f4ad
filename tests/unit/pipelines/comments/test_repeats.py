import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engines.languages import LanguageTag
from pipelines.comments.repeats import Repeat, Repeats, RepeatsSettings, fold

pytestmark = pytest.mark.unit

ZH, EN = LanguageTag("zh-Hans"), LanguageTag("en")
# What folding looks at: letters to repeat, marks, signs of all kinds, numbers, symbols in several parts.
AWKWARD = st.text(alphabet="abWK哈不九 ，！。?？.,~'’-:<+^_1236①²๕😂❤\ufe0f🏽🇻🇳\u200d\u200b่ิIİ", max_size=30)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("666", "6666666"),
        ("666", "666 666 666"),
        ("555", "55555+"),
        ("2333", "23333333"),
        ("哈哈哈", "哈哈哈哈哈哈"),
        ("来了来了", "来了来了！"),
        ("来了来了", "来了！来了！来了！"),
        ("来了来了", "来了 来了 来了"),
        ("能退吗？", "能退吗?"),
        ("太好看了，想要", "太好看了 想要~"),
        ("Where is the link?", "where is the LINK??"),
        ("I don't know", "i don’t know..."),
        ("sooo good", "soooooo good"),
        ("wkwkwk", "wkwkwkwkwk"),
        ("wkwkwk", "wkwkwkw"),
        ("wkwkwk", "wk wk wk wk"),
        ("hahaha", "hahahah"),
        ("mau dong kak", "Mau dong kak!!"),
        ("đẹp quá", "Đẹp quá!!!"),
        ("đi đi đi", "đi đi đi đi"),
        ("สวยมากกกก", "สวยมากกกกกกก"),
        ("ไปๆๆ", "ไปๆๆๆๆ"),
        ("ค่ะค่ะค่ะ", "ค่ะค่ะค่ะค่ะ"),
        ("👍", "👍👍👍"),
        ("❤", "❤️❤️"),
        ("👏❤", "👏❤ 👏❤"),
        ("👍🏽", "👍"),
        ("love it ❤️", "Love it!❤❤"),
        ("!!!", "!!!!!"),
    ],
)
def test_what_says_the_same_folds_to_the_same(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("能退", "能退?"),
        ("哈", "哈哈"),
        ("god", "good"),
        ("ขาว", "ข้าว"),
        ("เสือ", "เสื้อ"),
        ("ទឹក", "ទូក"),
        ("má", "ma"),
        ("not able", "notable"),
        ("😂", "😭"),
        ("主播👍", "主播👎"),
        ("^_^", "-_-"),
        ("haha :)", "haha :("),
        ("🇻🇳", "🇹🇭"),
        ("where is the link", "where is the line"),
    ],
)
def test_what_says_something_else_does_not(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "11"),
        ("99", "999"),
        ("99元", "999元"),
        ("3号", "33号"),
        ("666元", "6666元"),
        ("233号", "2333号"),
        ("九九元", "九九九元"),
        ("①", "①①"),
        ("1.5元", "15元"),
        ("1.5", "1 5"),
        (".5元", "5元"),
        ("1 2", "12"),
        ("10:30", "1030"),
        ("1,000", "1000"),
        ("5-3", "53"),
        ("-5", "5"),
        ("+1", "1"),
        ("<3", "3"),
        ("5'10", "510"),
        ("6\u200b66", "666"),
        ("50%", "50"),
    ],
)
def test_other_numbers_are_another_text(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("能吃", "不能吃"),
        ("不能吃", "不，能吃"),
        ("没有好吃", "没有 好吃"),
        ("I like it", "I don't like it"),
        ("No, I like it", "I like it"),
        ("không đẹp", "không, đẹp"),
        ("đẹp", "không đẹp"),
        ("สวย", "ไม่สวย"),
        ("ไม่สวย", "ไม่ สวย"),
        ("enak", "tidak enak"),
        ("tidak enak", "tidak, enak"),
    ],
)
def test_a_negation_is_another_text(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_repeats_are_counted_while_the_window_slides() -> None:
    repeats = Repeats(RepeatsSettings(window_s=10))
    assert repeats.seen("a", "好看", ZH, 0.0) is None
    assert repeats.seen("b", "好看！", ZH, 8.0) == Repeat("a", 2)
    assert repeats.seen("c", "好看", ZH, 18.0) == Repeat("a", 3)
    assert repeats.seen("d", "好看", ZH, 28.1) is None


def test_other_comments_between_change_no_count() -> None:
    repeats = Repeats(RepeatsSettings(window_s=10))
    assert repeats.seen("a", "好看", ZH, 0.0) is None
    assert repeats.seen("b", "666", ZH, 1.0) is None
    assert repeats.seen("c", "好看", ZH, 9.0) == Repeat("a", 2)
    assert repeats.seen("d", "666", ZH, 12.0) is None
    assert repeats.seen("e", "666", ZH, 12.0) == Repeat("d", 2)


def test_what_is_said_on_and_on_is_a_new_cue_now_and_then() -> None:
    repeats = Repeats(RepeatsSettings(window_s=10))
    new = [second for second in range(0, 200, 5) if repeats.seen(str(second), "666", ZH, float(second)) is None]
    assert new == [0, 45, 90, 135, 180]


def test_the_same_letters_in_another_language_are_not_the_same() -> None:
    repeats = Repeats(RepeatsSettings())
    assert repeats.seen("a", "ok", ZH, 0.0) is None
    assert repeats.seen("b", "ok", EN, 0.0) is None


def test_without_a_window_nothing_is_merged_or_remembered() -> None:
    repeats = Repeats(RepeatsSettings(window_s=0))
    assert repeats.seen("a", "666", ZH, 0.0) is None
    assert repeats.seen("b", "666", ZH, 0.0) is None
    assert not repeats._said


def test_what_was_said_longest_ago_is_forgotten_first() -> None:
    repeats = Repeats(RepeatsSettings(most=2))
    for comment, text in (("a", "一"), ("b", "二"), ("c", "一"), ("d", "三")):
        repeats.seen(comment, text, ZH, 0.0)
    assert repeats.seen("e", "一", ZH, 0.0) == Repeat("a", 3)
    assert repeats.seen("f", "二", ZH, 0.0) is None


SAID = st.lists(st.tuples(st.sampled_from("一二三四五"), st.integers(0, 6)), max_size=80)


@given(SAID)
@example([("一", 5)] * 10)
def test_a_count_is_that_of_equal_texts_within_the_window(said: list[tuple[str, int]]) -> None:
    repeats = Repeats(RepeatsSettings(window_s=5))
    now = 0
    groups = dict[str, list[tuple[str, int]]]()
    for number, (text, later) in enumerate(said):
        now += later
        group = groups.get(text, [])
        if not group or now - group[-1][1] > 5 or now - group[0][1] > 20:
            group = []
        groups[text] = [*group, (str(number), now)]
        expected = Repeat(group[0][0], len(group) + 1) if group else None
        assert repeats.seen(str(number), text, ZH, float(now)) == expected


@given(SAID, st.integers(1, 4))
def test_memory_is_bounded(said: list[tuple[str, int]], most: int) -> None:
    repeats = Repeats(RepeatsSettings(window_s=5, most=most))
    now = 0
    for number, (text, later) in enumerate(said):
        now += later
        repeats.seen(str(number), text, ZH, float(now))
        assert len(repeats._said) <= most
        assert all(now - each.last <= 5 for each in repeats._said.values())


@given(AWKWARD | st.text(max_size=40) | st.text(alphabet="ab", max_size=40) | st.text(alphabet="a？ ，", max_size=40))
@example("abbbabbabb")
@example("a' a'")
@example("a'\ufe0f'b")
@example("İİİ")
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(AWKWARD, st.sampled_from("元号x"))
@example("1\u200b2", "x")
@example("6 66", "x")
def test_folding_leaves_every_number_beside_words(text: str, word: str) -> None:
    for comment in (text + word, word + text):
        assert re.findall(r"\d+", fold(comment)) == re.findall(r"\d+", comment)


@given(st.integers(0, 99_999), st.integers(0, 99_999))
@example(666, 6666)
@example(99, 999)
@example(233, 2333)
@example(222, 233)
def test_numbers_alone_are_one_text_only_where_both_are_a_run_of_one_digit(one: int, other: int) -> None:
    runs = [re.fullmatch(r"(\d)\1\1+|(2)33+", str(number)) for number in (one, other)]
    # 222 and 233 begin alike, but say something else.
    alike = runs[0] and runs[1] and runs[0][1] == runs[1][1]
    assert (fold(str(one)) == fold(str(other))) == bool(one == other or alike)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "ab",
        "wkw",
        "abcd",
        "abcde",
        "哈",
        "天 ",
        "?",
        "! ",
        "6",
        "6 ",
        "666 ",
        "1,",
        " ",
        "，",
        "'",
        "😂 ",
        "🇻🇳",
        "\u200b",
    ],
)
@pytest.mark.parametrize("end", ["", "x", "1"])
def test_hostile_text_folds_in_linear_time(piece: str, end: str) -> None:
    text = (piece * 20_000)[:20_000] + end  # ten times what a comment may have: what is quadratic takes seconds
    began = time.process_time()
    fold(text)
    assert time.process_time() - began < 1
