"""app/delivery/speeds.py"""

import pytest

from app.delivery.speeds import ReadingSettings
from app.wire import ReadingSpeed
from engines.languages import LANGUAGES, parse_language

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("language", "speed"),
    [("zh-Hans", 9), ("zh-Hant-HK", 9), ("yue", 9), ("ja", 9), ("ko", 9), ("en", 20)]
    + [(tag, 17) for tag in ("th", "vi", "id", "ms", "fil", "km", "lo", "my")],
)
def test_a_language_is_read_as_fast_as_its_script_allows(language: str, speed: float) -> None:
    assert ReadingSettings().of(parse_language(language)) == ReadingSpeed(characters_per_s=speed, least_s=0.83)


def test_every_language_has_a_speed_and_the_operators_counts() -> None:
    settings = ReadingSettings(full_width_per_s=7, english_per_s=7, others_per_s=7, least_s=2)
    assert {settings.of(language) for language in LANGUAGES} == {ReadingSpeed(characters_per_s=7, least_s=2)}
