from typing import Any

import pytest

from pipelines.speech.gates import DropCause, Gates, GateSettings
from tests.unit.pipelines.speech.sound import recognition, utterance_sound

pytestmark = pytest.mark.unit


def cause(text: str, voiced_s: float = 8.0, level_db: float = -20.0, **numbers: Any) -> DropCause | None:
    return Gates(GateSettings()).drop(recognition(text, **numbers), utterance_sound(voiced_s, level_db))


@pytest.mark.parametrize(
    "text",
    [
        "Where is the kettle?",
        "我想看江苏电视台",
        "Cảm ơn các bạn",
        "Thank you.",
        "Thanks for watching the kettle while I was away.",
        "No no no no, not that one.",
        "哈哈哈哈，真的吗",
    ],
)
def test_what_people_say_passes(text: str) -> None:
    assert cause(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Thanks for watching!",
        "Thanks for watching! Thanks for watching!",
        "字幕由Amara.org社区提供",
        "字幕由某某某提供",
        "請不吝點贊 訂閱 轉發 打賞支持明鏡與點點欄目",
        "请不吝点赞，订阅我的频道",
        "ご視聴ありがとうございました",
        "시청해 주셔서 감사합니다.",
        "Hãy subscribe cho kênh Ghiền Mì Gõ Để không bỏ lỡ những video hấp dẫn",
        "Terima kasih telah menonton!",
        "Terima kasih kerana menonton.",
        "ขอบคุณที่รับชมครับ",
        "[Music]",
    ],
)
def test_phantom_phrases_are_dropped(text: str) -> None:
    assert cause(text) is DropCause.PHANTOM


def test_a_phrase_that_people_do_say_is_dropped_only_where_the_recogniser_is_unsure() -> None:
    assert cause("Thank you.", mean_log_probability=-0.3) is None
    assert cause("Thank you.", mean_log_probability=-0.7) is DropCause.PHANTOM


@pytest.mark.parametrize("text", ["", "...", "♪ ♪", "？！"])
def test_text_without_letters_is_dropped(text: str) -> None:
    assert cause(text) is DropCause.EMPTY


def test_speech_too_short_or_too_quiet_is_dropped() -> None:
    assert cause("Hello there", voiced_s=0.1) is DropCause.QUIET
    assert cause("Hello there", level_db=-70.0) is DropCause.QUIET


def test_no_speech_counts_only_where_the_text_is_unlikely_too() -> None:
    assert cause("Hello there", no_speech_probability=0.9) is None
    assert cause("Hello there", no_speech_probability=0.9, mean_log_probability=-1.2) is DropCause.NO_SPEECH
    assert cause("Hello there", mean_log_probability=-2.0) is DropCause.UNLIKELY


@pytest.mark.parametrize(
    "text",
    [
        "the kettle is on. the kettle is on. the kettle is on. the kettle is on. the kettle is on.",
        "我想看电视我想看电视我想看电视我想看电视",
        "ha" * 60,
        "a b c d " * 40,
    ],
)
def test_runaway_repeats_are_dropped(text: str) -> None:
    assert cause(text) is DropCause.REPEATS


@pytest.mark.parametrize(
    "text", ["we came to the market and an old man sold us kettles", "我想看江苏电视台请帮我打开吧谢谢"]
)
def test_more_text_than_anybody_can_say_in_the_time_is_dropped(text: str) -> None:
    assert cause(text, voiced_s=1.0) is DropCause.TOO_FAST
    assert cause(text, voiced_s=3.0) is None


def test_a_recogniser_that_ran_away_had_something_to_hear() -> None:
    assert {drop for drop in DropCause if drop.ran_away} == {DropCause.REPEATS, DropCause.TOO_FAST}
