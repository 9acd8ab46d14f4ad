import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.languages import LANGUAGES
from engines.lid.scripts import has_vietnamese_letter, script_of, script_shares

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("characters", "script"),
    [
        ("aZéđơẾ", "Latin"),
        ("国國㐀々〇𠀀", "Han"),
        ("あゞ", "Hiragana"),
        ("アヴｱー", "Katakana"),
        ("한ㅋᄀ", "Hangul"),
        ("กำ็", "Thai"),
        ("ກຳ", "Lao"),
        ("ខ្", "Khmer"),
        ("မျ", "Myanmar"),
        ("жשअ", "Other"),
        ("1!。，😂 ฿៛", "Common"),
        ("\u0301\ufe0f\u20e3", "Inherited"),
    ],
)
def test_each_character_has_its_script(characters: str, script: str) -> None:
    assert {script_of(character) for character in characters} == {script}


def test_shares_count_letters_only() -> None:
    assert script_shares("BGM 蓝色天空?! 123 😂") == {"Latin": 3 / 7, "Han": 4 / 7}
    assert script_shares("123 😂") == {}


@given(st.text(max_size=80))
def test_shares_sum_to_one_or_are_empty(text: str) -> None:
    shares = script_shares(text)
    assert not shares or abs(sum(shares.values()) - 1.0) < 1e-9
    assert bool(shares) == any(character.isalpha() for character in text)


def test_each_languages_own_name_is_in_its_script() -> None:
    for language in LANGUAGES.values():
        assert set(script_shares(language.own)) <= set(language.scripts)


def test_letters_of_vietnamese_alone_are_known() -> None:
    assert has_vietnamese_letter("Tiếng")
    assert has_vietnamese_letter("đi")
    assert not has_vietnamese_letter("café naïve hôtel")
