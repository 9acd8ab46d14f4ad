import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.languages import LanguageTag
from pipelines.translate.glossary import Glossary, GlossaryError, read_glossary, write_glossary

pytestmark = pytest.mark.unit

ZH, EN, VI = (LanguageTag(tag) for tag in ("zh-Hans", "en", "vi"))
TABLE = "zh-Hans\ten\tvi\n老爹茶\tLao Die Tea\tTrà Lão Đa\n老爹\tUncle Die\t\n锅\twok\t\n\tkettle\tấm\n"


def found(text: str, source: LanguageTag, target: LanguageTag, table: str = TABLE) -> list[tuple[str, str]]:
    terms = read_glossary(table).find(text, source, target)
    return [(text[term.span.start : term.span.end], term.said) for term in terms]


def test_the_longest_word_from_the_left_is_taken() -> None:
    assert found("老爹说老爹茶和锅", ZH, EN) == [("老爹", "Uncle Die"), ("老爹茶", "Lao Die Tea"), ("锅", "wok")]


def test_a_word_without_one_in_the_readers_language_is_left_alone() -> None:
    assert found("老爹茶和锅", ZH, VI) == [("老爹茶", "Trà Lão Đa")]


def test_case_does_not_matter_but_a_latin_word_stands_alone() -> None:
    assert found("Kettle, KETTLE! kettles", EN, VI) == [("Kettle", "ấm"), ("KETTLE", "ấm")]
    assert found("买kettle吗", EN, VI) == [("kettle", "ấm")]


def test_a_table_is_read_and_written_without_loss() -> None:
    glossary = read_glossary("\ufeff" + TABLE)
    assert len(glossary) == 4
    assert read_glossary(write_glossary(glossary)).rows == glossary.rows


@pytest.mark.parametrize(
    ("table", "where"),
    [
        ("", "empty"),
        ("zh-Hans\txx\n", "line 1"),
        ("zh-Hans\n锅\n", "line 1"),
        ("zh\tzh-CN\n", "line 1"),
        ("zh-Hans\ten\n锅\twok\tpan\n", "line 2"),
        ("zh-Hans\ten\n锅\twok\n茶\t\n", "line 3"),
        ("zh-Hans\ten\n" + "锅" * 101 + "\twok\n", "line 2"),
        ("zh-Hans\ten\n" + "锅\twok\n" * 5001, "5,001"),
    ],
)
def test_what_is_no_glossary_is_refused_with_its_place(table: str, where: str) -> None:
    with pytest.raises(GlossaryError, match=where) as refused:
        read_glossary(table)
    assert refused.value.hint


def test_a_thousand_terms_and_one_that_means_itself_cost_little() -> None:
    rows = [{ZH: f"词{number}", EN: f"word {number}"} for number in range(1000)] + [{ZH: "词", EN: "词"}]
    glossary = Glossary(rows)
    text = "词12和词" * 300
    began = time.process_time()
    terms = glossary.find(text, ZH, EN)
    assert time.process_time() - began < 0.5
    assert {term.said for term in terms} == {"word 12", "词"}


@given(st.text(max_size=80))
def test_terms_are_in_order_and_apart_in_any_text(text: str) -> None:
    at = 0
    for term in read_glossary(TABLE).find(text, ZH, EN):
        assert at <= term.span.start < term.span.end <= len(text)
        at = term.span.end
