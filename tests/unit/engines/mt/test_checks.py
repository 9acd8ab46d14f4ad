"""engines/mt/checks.py and prompts.py"""

import pytest

from engines.languages import LANGUAGES, LanguageTag
from engines.mt.checks import fault_of
from engines.mt.prompts import Kind, Prompt, Prompts
from engines.mt.types import TranslationRequest

pytestmark = pytest.mark.unit


def _request(text: str, target: str, *keep: str) -> TranslationRequest:
    return TranslationRequest(text=text, source=LanguageTag("id"), target=LanguageTag(target), keep=keep)


@pytest.mark.parametrize(
    ("text", "said", "target", "fault"),
    [
        ("How much is it?", "多少钱", "en", None),
        ("", "多少钱", "en", "empty"),
        ("  ", "多少钱", "en", "empty"),
        ("Sure, here is the translation: hello", "你好", "en", "meta"),
        ("I'm sorry, I can't help with that", "你好", "en", "meta"),
        ("Sure, I will come", "Sure, saya datang", "en", None),
        ("以下是翻译：你好", "hello", "zh-Hans", "meta"),
        ("好的好的好的好的好的好的", "ok", "zh-Hans", "repeat"),
        ("hahahahahahahahaha", "hahahahahahahahaha lol", "en", None),
        ("x " * 400, "好", "en", "repeat"),
        ("".join(chr(0x4E00 + n) for n in range(400)), "hi there", "zh-Hans", "too_long"),
        ("可以送到 Johor Bahru吗？", "Boleh hantar ke Johor Bahru?", "zh-Hans", None),
        ("Boleh hantar ke Johor", "Boleh hantar ke Johor", "zh-Hans", "echo"),
        ("mantap banget gan", "Mantap banget gan", "en", "echo"),
        ("Here is the link", "链接在这里", "en", None),
        ("Here is the English translation: hi", "你好", "en", "meta"),
        ("ขอบคุณค่ะ ราคา 199 บาท ส่งฟรี", "谢谢，199泰铢，包邮", "th", None),
        ("GG", "gg", "vi", None),
        ("thank you so much", "谢谢", "th", "wrong_script"),
        ("ขอบคุณ Kevin", "thanks Kevin", "th", None),
        ("👍👍", "nice", "zh-Hans", None),
        ("hahahahahaha", "哈哈哈", "en", None),
        (
            "Good evening, everybody. 今天的价格是20美元。",
            "Good evening, everybody. It is $20.",
            "zh-Hans",
            "wrong_script",
        ),
    ],
)
def test_what_is_no_translation_is_told_by_its_fault(text: str, said: str, target: str, fault: str | None) -> None:
    assert fault_of(text, _request(said, target)) == fault


def test_an_answer_without_a_sign_that_it_has_to_hold_has_lost_it() -> None:
    assert fault_of("It is x1 with X2", _request("X1X2", "en", "X1", "X2")) is None
    assert fault_of("It is X1", _request("X1X2", "en", "X1", "X2")) == "lost"


@pytest.mark.parametrize("kind", ["chat", "prose", "again"])
@pytest.mark.parametrize("source", LANGUAGES)
def test_every_pair_has_prompts_that_show_examples_in_both_languages(source: LanguageTag, kind: Kind) -> None:
    for target in set(LANGUAGES) - {source}:
        prefix = Prompts(shots=2).prefix(Prompt(source, target, kind))
        assert prefix.count("<|im_start|>") >= 1 + 2 * 2
        assert LANGUAGES[source].english in prefix
        assert LANGUAGES[target].english in prefix


def test_sentences_are_shown_sentences_and_a_second_try_other_lines() -> None:
    prompts = Prompts(shots=2)
    chat, prose, again = (
        prompts.prefix(Prompt(LanguageTag("en"), LanguageTag("vi"), kind)) for kind in ("chat", "prose", "again")
    )
    assert ["Mayor" in prefix for prefix in (chat, prose, again)] == [False, True, False]
    assert ["Welcome" in prefix for prefix in (chat, prose, again)] == [True, True, False]


def test_into_chinese_a_sentence_is_shown_sentences_alone() -> None:
    prefix = Prompts(shots=2).prefix(Prompt(LanguageTag("en"), LanguageTag("zh-Hans"), "prose"))
    assert "Mayor" in prefix
    assert "Welcome" not in prefix


def test_the_text_stands_between_two_fixed_parts() -> None:
    prompts = Prompts(shots=0)
    assert prompts.before_text().endswith("user\n")
    assert prompts.after_text().startswith("<|im_end|>")
