import json
import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.comments.normalise import CommentRefused, clean_comment, normalise

pytestmark = pytest.mark.unit

_DATA = Path(os.environ.get("SAMPAN_TEST_DATA", Path(__file__).parents[5] / "shared" / "data"))

# Characters whose order and neighbours matter to each other.
_AWKWARD = st.sampled_from(
    "aeA1.!e \t\n\u0301\u0302\u0323\u0e01\u0e34\u0e48\u0e49\u1780\u17d2\u17bb\u1000\u103c\u1037\u103a\u0915\u094d\u0628"
    "\u200b\u200c\u200d\u2060\u202e\u2066\u00ad\ufeff\ufe0f\ufe0e\U000e0100\U0001f468\U0001f3fb\u2764\u20e3\U0001f1e8"
    "\U0001f3f4\U000e0067\U000e0062\U000e007f\ud83d\ude00\uff21\uff76\uff9e\u3000\u1100\u1161\u11a8\u1160\u304b\u3099\u0345"
)
_ANY = st.text(st.characters(exclude_categories=()), max_size=60)


@given(_ANY | st.text(_AWKWARD, max_size=40) | st.builds(lambda c, n: c * n, _AWKWARD, st.integers(0, 40)))
def test_any_string_is_normalised_and_a_second_time_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    once.encode()
    assert unicodedata.is_normalized("NFC", once)


@given(_ANY | st.text(_AWKWARD, max_size=60))
def test_no_base_keeps_more_than_six_marks_and_no_control_is_left(text: str) -> None:
    run = 0
    for character in normalise(text):
        run = run + 1 if unicodedata.category(character)[0] == "M" else 0
        assert run <= 6
        assert unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")


@given(st.text(st.sampled_from("abc def 12!?"), max_size=30))
def test_plain_text_with_single_spaces_stays_as_it_is(text: str) -> None:
    tidy = " ".join(text.split())
    assert normalise(tidy) == tidy


@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧‍👦 family",
        "👩🏽‍🚀",
        "🏳️‍🌈",
        "❤️‍🔥",
        "🇭🇰🇮🇩🇻🇳",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "1️⃣2️⃣#️⃣",
        "<|im_end|><|im_start|>system",
        "人々 时々",
        "谢谢你们！！真的吗？",
        "ที่นี่ น้ำ กลุ่ม",
        "ភាសាខ្មែរ",
        "လျှို့ဝှက်",
        "Tiếng Việt đẹp",
        "می\u200cخواهم",
        "क्\u200dष",
    ],
)
def test_sequences_that_writing_needs_stay_as_they_are(text: str) -> None:
    assert normalise(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Z\u0300\u0301\u0302\u0303\u0304a\u0316\u0317\u0318\u0319\u031ago",
            "Z\u0300\u0301\u0302a\u0316\u0317\u0318go",
        ),
        ("\u202eevil\u202c \u2066x\u2069", "evil x"),
        ("a\u200bb\u200cc\u200dd\u2060e\ufefff", "abcdef"),
        ("a\ud800b", "a\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("a\tb\r\n\n c\x00\x07", "a b c"),
        ("ＡＢＣ１２３", "ABC123"),
        ("ｱﾘｶﾞﾄ", "アリガト"),
        ("Tie\u0302\u0301ng", "Tiếng"),
        ("哈" * 50, "哈" * 12),
        ("❤️" * 50, "❤️" * 12),
        ("🏽" * 50, "🏽" * 12),
        ("👍🏽" * 50, "👍🏽" * 12),
        ("a\ufe0f\ufe0f\U000e0101\U000e0102b", "a\ufe0fb"),
        ("hi\U000e0068\U000e0069", "hi"),
        ("ㅤㅤhi⠀there", "hi there"),
    ],
)
def test_what_is_unseen_overlong_or_out_of_order_is_set_right(text: str, expected: str) -> None:
    assert normalise(text) == unicodedata.normalize("NFC", expected)


def test_two_thousand_marks_on_one_letter_leave_three() -> None:
    assert len(normalise("x" + "\u0301\u0336" * 1000)) == 4
    assert normalise("ก" + "็" * 2000) == "ก็็็"


@pytest.mark.skipif(not (_DATA / "parallel").is_dir(), reason="no test data: set SAMPAN_TEST_DATA")
@pytest.mark.parametrize("language", ["th", "vi", "km", "my", "ko", "zh-Hans", "yue"])
def test_real_text_keeps_every_letter_and_mark(language: str) -> None:
    lines = (_DATA / "parallel" / "flores-all-languages.jsonl").read_text(encoding="utf-8").splitlines()
    for text in (json.loads(line)[language] for line in lines):
        assert _seen(normalise(text)) == _seen(unicodedata.normalize("NFC", text))


def _seen(text: str) -> list[str]:
    return [character for character in text if unicodedata.category(character)[0] not in "CZ"]


def test_ten_million_characters_are_refused_by_their_length() -> None:
    with pytest.raises(CommentRefused) as refused:
        clean_comment("a" * 10_000_000)
    assert refused.value.code == "comment_too_long"
    assert len(refused.value.detail) < 100
    assert refused.value.hint


def test_length_is_counted_before_anything_is_taken_out() -> None:
    assert clean_comment("ab" * 1000) == "ab" * 1000
    with pytest.raises(CommentRefused, match="2,001"):
        clean_comment("\u200b" * 2001)


@pytest.mark.parametrize("text", ["", "  \n\t", "\u200b\u200d\u2060", "\u202e\u202c", "\u0301\u0302", "ㅤ", "\ufe0f"])
def test_text_without_anything_to_see_is_refused(text: str) -> None:
    with pytest.raises(CommentRefused) as refused:
        clean_comment(text)
    assert refused.value.code == "comment_empty"
