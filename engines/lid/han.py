"""Simplified or Traditional Chinese, Cantonese or Japanese: told by characters that exist in one of them only."""

import re
from collections.abc import Iterator
from math import log

from engines.languages import LanguageTag
from engines.lid.scripts import script_of

# Words of spoken Cantonese that written Mandarin does not have.
_CANTONESE = re.compile(
    "[嘅咗喺哋啲嚟冇佢嗰噉咁嘢啱嘥攰喎㗎睇畀俾瞓攞乜啩孭靚搵諗嬲屌撚咋]"
    "|唔(?=[㐀-鿿])(?!唔)|[我你]係|係[我你咪]|仲(?=[有未係要好想])|喇(?=$|[^㐀-鿿])|[搞做]咩|咩事"
    "|點[解樣]|点解|邊[個度位]|边[个度位]|呢[個个度間支粒隻條種本架張次]|幾[多時]|[而依]家|屋企|好鬼"
    "|[鍾钟鐘]意|返[工學屋]|[尋琴聽]日|阿[媽爸媽哥妹]|少少|好耐"
)
_WRITTEN_IN_BOTH = frozenset("着着么幺")  # Hong Kong's Traditional has 着 too
_RARE_CANTONESE = log(0.3)  # without any of its own words, a line is more often Mandarin
_RARE_JAPANESE = log(0.2)  # Japanese almost always has kana, which are looked for before
_SIMPLIFIED_FIRST = log(1.3)  # between the two forms, nothing else known
_EVIDENCE = 3.0  # log odds of one character that the other form does not have


def _in(character: str, encoding: str) -> bool:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def is_simplified_only(character: str) -> bool:
    """Whether GB 2312 has the character and Big5 has not: 国, 们, 这."""
    return _in(character, "gb2312") and not _in(character, "big5") and character not in _WRITTEN_IN_BOTH


def is_traditional_only(character: str) -> bool:
    """Whether the frequent half of Big5 has the character and GB 2312 has not: 國, 們, 這."""
    try:
        code = character.encode("big5")
    except UnicodeEncodeError:
        return False
    return code < b"\xc9\x40" and not _in(character, "gb2312") and not _CANTONESE.match(character)


def _han(text: str) -> Iterator[str]:
    return (character for character in text if script_of(character) == "Han")


def han_scores(text: str) -> dict[LanguageTag, float]:
    """Log-likelihoods, up to a constant, that a text in Chinese characters is zh-Hans, zh-Hant, yue or ja."""
    simplified = traditional = japanese = not_japanese = 0
    for character in _han(text):
        in_japanese = _in(character, "shift_jis")
        not_japanese += not in_japanese
        if is_simplified_only(character):
            simplified += 1
        elif is_traditional_only(character):
            traditional += 1
        elif in_japanese and not _in(character, "gb2312") and not _in(character, "big5"):
            japanese += 1
    cantonese = len(_CANTONESE.findall(text))
    only = simplified + traditional
    return {
        LanguageTag("zh-Hans"): _EVIDENCE * simplified + _SIMPLIFIED_FIRST,
        LanguageTag("zh-Hant"): _EVIDENCE * traditional,
        LanguageTag("yue"): _EVIDENCE * (max(simplified, traditional) + 1.5 * cantonese) + _RARE_CANTONESE,
        LanguageTag("ja"): _EVIDENCE * (japanese + only - 2 * not_japanese) + _RARE_JAPANESE,
    }
