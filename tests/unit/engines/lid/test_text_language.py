import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.languages import LANGUAGES, LanguageTag
from engines.lid.han import is_simplified_only, is_traditional_only
from engines.lid.text_language import TextLanguages

pytestmark = pytest.mark.unit


@pytest.fixture(scope="module")
def languages() -> TextLanguages:
    return TextLanguages()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("4Gหรือ2G?", "th"), ("ສະບາຍດີ", "lo"), ("សួស្តី", "km"), ("မင်္ဂလာပါ", "my"), ("안녕~", "ko"), ("ㅋㅋㅋ", "ko"),
        ("こんにちは", "ja"), ("東京の天気", "ja"), ("音楽を聴く", "ja"), ("アリガト！", "ja"),
        ("这个多少钱", "zh-Hans"), ("BGM蓝色天空?", "zh-Hans"), ("我の天，笑死", "zh-Hans"), ("哈哈哈", "zh-Hans"),
        ("這個多少錢", "zh-Hant"), ("沒關係", "zh-Hant"), ("唔，好吧", "zh-Hans"),
        ("你食咗飯未呀", "yue"), ("唔係啩", "yue"), ("呢個幾多錢", "yue"), ("你哋系边度", "yue"),
        ("Tiếng Việt đẹp quá", "vi"), ("xin chao moi nguoi", "vi"),
        ("how much is this", "en"), ("she doesn't know", "en"), ("Nguyễn is a great singer, love him", "en"),
        ("nggak bisa nonton nih", "id"), ("mantap gan", "id"), ("berapa harganya kak, gak kemahalan?", "id"),
        ("tak boleh tengok lah weh", "ms"), ("saya nak beli kasut", "ms"),
        ("ang ganda mo naman po", "fil"), ("salamat sa inyong lahat", "fil"),
        ("@สมชาย how much", "en"), ("https://example.com/watch ราคาเท่าไหร่", "th"), ("[doge] ngapain", "id"),
    ],
)  # fmt: skip
def test_a_short_line_is_told_without_a_prior(languages: TextLanguages, text: str, language: str) -> None:
    assert languages.detect(text).language == language


@pytest.mark.parametrize("text", ["gg", "666", "lol", "😂", "", "kkkk", "[doge]", "hahaha", "שלום"])
def test_text_that_tells_nothing_goes_by_the_prior_or_is_english(languages: TextLanguages, text: str) -> None:
    prior = {LanguageTag("id"): 0.4, LanguageTag("vi"): 0.6}
    assert (languages.detect(text).language, languages.detect(text).probability) == ("en", 0.0)
    assert languages.detect(text, prior).language == "vi"


@pytest.mark.parametrize("language", ["zh-Hans", "zh-Hant", "yue", "ja"])
def test_characters_of_every_form_go_by_the_prior(languages: TextLanguages, language: str) -> None:
    assert languages.detect("最高", {LanguageTag(language): 1.0}).language == language


@pytest.mark.parametrize("language", ["id", "ms"])
def test_words_of_both_indonesian_and_malay_go_by_the_prior(languages: TextLanguages, language: str) -> None:
    prior = {LanguageTag(language): 1.0}
    assert languages.detect("saya suka makan nasi", prior).language == language
    assert languages.detect("wkwkwk", prior).language == language


def test_an_unknown_latin_language_is_the_priors_latin_one_or_english(languages: TextLanguages) -> None:
    assert languages.detect("Größe schön").language == "en"
    prior = {LanguageTag("zh-Hans"): 0.7, LanguageTag("vi"): 0.3}
    assert languages.detect("Größe schön", prior).language == "vi"


def test_a_prior_without_a_language_does_not_hide_it(languages: TextLanguages) -> None:
    assert languages.detect("good morning everyone", {LanguageTag("zh-Hans"): 1.0}).language == "en"
    assert languages.detect("這個多少錢", {LanguageTag("zh-Hans"): 1.0}).language == "zh-Hant"


@given(st.text(max_size=60), st.dictionaries(st.sampled_from(sorted(LANGUAGES)), st.floats(0, 1e6), max_size=4))
def test_any_text_and_prior_give_a_known_language_and_a_probability(
    languages: TextLanguages, text: str, prior: dict[LanguageTag, float]
) -> None:
    detected = languages.detect(text, prior)
    assert detected.language in LANGUAGES
    assert 0.0 <= detected.probability <= 1.0


def test_characters_of_one_chinese_form_are_told_apart() -> None:
    assert all(map(is_simplified_only, "国们这说钱"))
    assert all(map(is_traditional_only, "國們這說錢"))
    assert not any(map(is_simplified_only, "人好里后着國aあ"))
    assert not any(map(is_traditional_only, "人好里后国aあ咗"))
