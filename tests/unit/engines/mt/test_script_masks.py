"""engines/mt/script_masks.py"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.languages import LANGUAGES, LanguageTag
from engines.lid.scripts import script_of
from engines.mt.script_masks import ScriptMasks

pytestmark = pytest.mark.unit


def allowed(piece: bytes, target: str) -> bool:
    return not ScriptMasks([piece]).banned(LanguageTag(target))[0]


@pytest.mark.parametrize(
    ("piece", "target", "expected"),
    [
        ("主播", "en", False),
        ("主播", "zh-Hans", True),
        ("主播", "ja", True),
        ("ひ", "zh-Hans", False),
        ("ひ", "ja", True),
        ("한", "ko", True),
        ("한", "vi", False),
        ("ขอ", "th", True),
        ("ขอ", "lo", False),
        ("ຂໍ", "lo", True),
        ("ến", "vi", True),
        ("မြန်", "my", True),
        ("ខ្មែ", "km", True),
        ("привет", "en", False),
        (" Kevin", "zh-Hans", True),
        ("99", "th", True),
        ("，", "zh-Hans", True),
        ("。", "zh-Hans", True),
        ("😂", "th", True),
        (" the主", "en", False),
    ],
)
def test_a_token_is_allowed_where_all_its_letters_are(piece: str, target: str, expected: bool) -> None:
    assert allowed(piece.encode(), target) is expected


@pytest.mark.parametrize("piece", [b"", b"\n", b"a\n", b"\x00"])
def test_control_tokens_and_line_ends_stand_in_no_translation(piece: bytes) -> None:
    assert not any(allowed(piece, target) for target in LANGUAGES)


@pytest.mark.parametrize(
    ("piece", "target", "expected"),
    [
        ("主".encode()[:1], "en", False),
        ("主".encode()[:2], "en", False),
        ("主".encode()[:2], "zh-Hans", True),
        ("ก".encode()[:2], "th", True),
        ("ก".encode()[:2], "zh-Hans", False),
        ("ế".encode()[:2], "vi", True),
        ("😂".encode()[:2], "en", True),
        ("。".encode()[:2], "zh-Hans", True),
        (b"\x80", "en", True),
        (" 主".encode()[:-1], "en", False),
    ],
)
def test_a_cut_character_is_allowed_where_it_may_still_become_an_allowed_one(
    piece: bytes, target: str, expected: bool
) -> None:
    assert allowed(piece, target) is expected


@given(st.characters(exclude_categories=["Cs", "Cc"]), st.sampled_from(sorted(LANGUAGES)))
def test_no_beginning_of_an_allowed_letter_is_banned(character: str, target: str) -> None:
    whole = character.encode()
    if allowed(whole, target) and script_of(character) in LANGUAGES[LanguageTag(target)].scripts:
        assert all(allowed(whole[:cut], target) for cut in range(1, len(whole)))
