"""app/delivery/reading.py"""

import pytest

from app.delivery.frames import Position
from app.delivery.reading import Reading
from app.errors import ServiceError
from engines.languages import LanguageTag

pytestmark = pytest.mark.unit


def languages(room: str) -> tuple[LanguageTag, ...]:
    assert room == "r"
    return (LanguageTag("en"), LanguageTag("zh-Hant"))


def test_a_language_is_found_by_any_of_its_tags() -> None:
    assert Reading.parse("r", "zh-TW", None, languages).language == "zh-Hant"


@pytest.mark.parametrize("asked", [None, "", "vi", "xx", "e" * 500, "\x00"])
def test_a_language_that_is_not_read_here_is_refused_with_those_that_are(asked: str | None) -> None:
    with pytest.raises(ServiceError) as refused:
        Reading.parse("r", asked, None, languages)
    assert (refused.value.code, refused.value.status) == ("unknown_language", 400)
    assert "en, zh-Hant" in refused.value.hint


def test_a_place_is_an_epoch_and_a_number() -> None:
    assert Reading.parse("r", "en", "ab12:34", languages).resume == Position("ab12", 34)
    assert Reading.parse("r", "en", "", languages).resume is None


@pytest.mark.parametrize("text", ["12", ":", "ab:-1", "ab:1e9", "zz:1", "ab:" + "9" * 16, "ab:1:2", "ab: 1", "ab:１"])
def test_a_place_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(ServiceError) as refused:
        Reading.parse("r", "en", text, languages)
    assert refused.value.code == "bad_request"
