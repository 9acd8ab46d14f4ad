from pathlib import Path

import pytest

from app.evaluation import EvaluationError, Line, other_systems, parse_pair, read_lines, score
from engines.languages import LanguageTag, UnknownLanguage

pytestmark = pytest.mark.unit

ZH, EN, TH = (LanguageTag(tag) for tag in ("zh-Hans", "en", "th"))


@pytest.mark.parametrize(
    ("pair", "languages"),
    [
        ("zh-en", ("zh-Hans", "en")),
        ("en-zh-Hant", ("en", "zh-Hant")),
        ("zh-Hans-vi", ("zh-Hans", "vi")),
        ("zh-Hans>yue", ("zh-Hans", "yue")),
        ("tl-en", ("fil", "en")),
    ],
)
def test_a_pair_is_two_languages(pair: str, languages: tuple[str, str]) -> None:
    assert parse_pair(pair) == languages


@pytest.mark.parametrize("pair", ["zh", "zh-xx", ""])
def test_what_is_no_pair_is_refused(pair: str) -> None:
    with pytest.raises(UnknownLanguage):
        parse_pair(pair)


def test_lines_come_from_either_form_of_file(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text('{"src": "你好", "ref": "hello", "peer": "hi"}\n{"src": "好", "ref": "good", "n": 2}\n')
    first, second = read_lines(file, ZH, EN)
    assert first == Line(source="你好", reference="hello", others={"peer": "hi"})
    assert second.others == {}
    assert other_systems([first]) == {"peer": ["hi"]}
    assert other_systems([first, second]) == {}
    file.write_text('{"line": 1, "zh-Hans": "你好", "en": "hello", "vi": "xin chào"}\n' * 3)
    assert read_lines(file, ZH, EN, limit=2) == [Line(source="你好", reference="hello", others={})] * 2


@pytest.mark.parametrize(
    ("text", "where"), [("", "no lines"), ("[1]\n", ":1"), ('{"src": "a"}\n', "lacks"), ("{\n", ":1")]
)
def test_a_file_that_cannot_be_scored_is_refused_with_its_place(tmp_path: Path, text: str, where: str) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text(text)
    with pytest.raises(EvaluationError, match=where):
        read_lines(file, ZH, EN)


def test_scores_tell_a_good_answer_from_each_kind_of_bad_one() -> None:
    lines = [Line(source="这个锅多少钱", reference="How much is this wok?", others={})] * 4
    good = score(["How much is this wok?"] * 4, lines, EN)
    assert (round(good.bleu), round(good.chrf), good.wrong_script, good.untranslated, good.empty) == (100, 100, 0, 0, 0)
    bad = score(["这个锅多少钱", "", "多少 is it", "How much is this wok?"], lines, EN)
    assert (bad.wrong_script, bad.untranslated, bad.empty) == (0.25, 0.25, 0.25)
    assert bad.bleu < good.bleu


def test_names_of_the_source_are_no_wrong_script() -> None:
    lines = [Line(source="Adam Cuerden told Wikinews", reference="亚当告诉维基新闻", others={})]
    assert score(["Adam Cuerden告诉Wikinews"], lines, ZH).wrong_script == 0
    assert score(["Adam Cuerden告诉about it"], lines, ZH).wrong_script == 1


def test_words_of_languages_without_blanks_are_counted_by_character() -> None:
    lines = [Line(source="hello", reference="สวัสดีครับทุกคน", others={})]
    assert score(["สวัสดีค่ะทุกคน"], lines, TH).bleu > 30
