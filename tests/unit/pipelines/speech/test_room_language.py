import pytest

from engines.languages import LANGUAGES, LanguageTag
from pipelines.speech.room_language import RoomLanguage, RoomLanguageSettings
from tests.unit.pipelines.speech.sound import recognition

pytestmark = pytest.mark.unit

ZH, EN, VI = LanguageTag("zh-Hans"), LanguageTag("en"), LanguageTag("vi")


def room(*sources: LanguageTag) -> RoomLanguage:
    return RoomLanguage(sources, RoomLanguageSettings())


def test_a_room_with_one_language_is_in_it_whatever_is_detected() -> None:
    language = room(VI)
    assert language.fixed == VI
    assert language.candidates == ()
    assert language.judge(recognition("…", EN, language_probability=1.0), 9.0) == VI


def test_the_candidates_are_the_sources_or_every_language() -> None:
    assert room(ZH, EN).candidates == (ZH, EN)
    assert room().candidates == tuple(LANGUAGES)


def test_the_first_utterance_is_taken_as_detected() -> None:
    assert room().judge(recognition("…", VI, language_probability=0.4), 1.0) == VI


def test_a_short_clip_does_not_flip_the_room() -> None:
    language = room()
    language.spoke(ZH, 6.0)
    assert language.judge(recognition("…", EN, language_probability=0.9), 2.0) == ZH
    assert language.judge(recognition("…", EN, language_probability=0.99), 2.0) == EN
    language.spoke(EN, 2.0)
    assert language.judge(recognition("…", EN, language_probability=0.9), 2.0) == ZH


def test_a_long_utterance_or_two_short_ones_in_a_row_change_the_room() -> None:
    language = room()
    language.spoke(ZH, 6.0)
    language.spoke(EN, 5.0)
    assert language.judge(recognition("…", EN, language_probability=0.5), 2.0) == EN
    language.spoke(VI, 2.0)
    language.spoke(VI, 2.0)
    assert language.judge(recognition("…", VI, language_probability=0.5), 2.0) == VI


def test_a_short_one_in_the_usual_language_between_two_others_keeps_the_room() -> None:
    language = room()
    for spoken in (ZH, EN, ZH, EN):
        language.spoke(spoken, 2.0)
    assert language.judge(recognition("…", EN, language_probability=0.5), 2.0) == ZH
