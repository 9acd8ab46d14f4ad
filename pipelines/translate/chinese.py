"""Simplified, Traditional and Cantonese text in one script each, by OpenCC."""

from functools import lru_cache

from opencc import OpenCC

from engines.languages import LanguageTag
from engines.lid.han import is_simplified_only, is_traditional_only

# Traditional text takes Taiwan's characters and words, or Hong Kong's characters; Cantonese takes these, and keeps its
# words.
_CONVERSIONS = {"zh-Hans": "t2s", "zh-Hant": "s2twp", "zh-Hant-HK": "s2hk", "yue": "s2hk"}


@lru_cache(maxsize=len(_CONVERSIONS))
def _converter(conversion: str) -> OpenCC:
    return OpenCC(conversion)


def to_script(text: str, target: LanguageTag) -> str:
    """The text in the one script of `target`, where that is a Chinese; text for other targets is given back as it is.

    Towards Traditional, a text that has characters of Traditional alone and none of Simplified alone is left as it is:
    converting it again could change words that are right (皇后, 茶几). Safe to call from any thread.
    """
    conversion = _CONVERSIONS.get(target)
    if conversion is None or text.isascii():
        return text
    if target != "zh-Hans" and any(map(is_traditional_only, text)) and not any(map(is_simplified_only, text)):
        return text
    converted: str = _converter(conversion).convert(text)
    return converted
