"""Scores as the field's tools give them, on texts whose scores can be counted by hand."""

import pytest

from loadtest.speech.clips import Page
from loadtest.speech.log import log_lines
from loadtest.speech.pages import score_pages
from loadtest.speech.scores import Part, error_rate, shown, stream_laal, traditional
from loadtest.speech.texts import Moment

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("reference", "said", "language", "kind", "errors", "length"),
    [
        ("Ask not, what!", "ask NOT what", "en", "WER", 0, 3),
        ("one two three", "one too", "en", "WER", 2, 3),
        ("今天 天气很好。", "今天天氣好", "zh-Hans", "CER", 1, 6),
        ("สวัสดี", "สวัสดี", "th", "CER", 0, 6),
        ("người ta", "người ta", "vi", "WER", 0, 2),
        ("nothing said", "", "en", "WER", 2, 2),
    ],
)
def test_texts_are_compared_without_case_marks_and_script(
    reference: str, said: str, language: str, kind: str, errors: int, length: int
) -> None:
    found = error_rate(reference, said, language)
    assert (found.kind, found.errors, found.length) == (kind, errors, length)


def test_traditional_characters_are_counted() -> None:
    assert traditional("今天天氣很好") == 1
    assert traditional("今天天气很好") == 0


def test_stream_laal_counts_from_the_start_of_each_part() -> None:
    moments = [Moment(at=3.0, text="a b"), Moment(at=8.0, text="a b c d")]
    found = shown(log_lines("clip", moments, "en"), "en")
    assert found is not None
    parts = [Part(start=1.0, end=3.0, text="a b"), Part(start=5.0, end=7.0, text="c d")]
    # The first word of each sentence is there 2 and 3 s after its start; both are at or after the sentence's end.
    assert stream_laal(found, parts, "en") == pytest.approx((2.0 + 3.0) / 2)


def test_pages_that_are_missing_or_twice_there_are_told() -> None:
    pages = [
        Page(start=0.0, end=2.0, text="the hen sat down", translations={"zh-Hans": "母鸡坐下了"}),
        Page(start=2.0, end=4.0, text="a fox came by slowly", translations={"zh-Hans": "狐狸慢慢走来"}),
        Page(start=4.0, end=6.0, text="nobody was at home", translations={"zh-Hans": "没有人在家"}),
    ]
    said = "the hen sat down the hen sat down nobody was at home"
    source = shown(log_lines("s", [Moment(at=7.0, text=said)], "en"), "en")
    target = shown(log_lines("s", [Moment(at=7.5, text="母鸡坐下了狐狸慢慢走来没有人在家")], "zh-Hans"), "zh-Hans")
    assert source is not None
    report = score_pages(pages, source, "en", target, "zh-Hans")
    assert [page.doubled for page in report.pages] == [True, False, False]
    assert [page.missing for page in report.pages] == [False, True, False]
    assert [page.translated_lag_s for page in report.pages] == [5.5, 3.5, 1.5]
    assert report.chrf == pytest.approx(100.0)
