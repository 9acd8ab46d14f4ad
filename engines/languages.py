"""The languages of the service: BCP-47 tags, their scripts, their names, and the tables to model codes."""

from typing import NewType

import msgspec

LanguageTag = NewType("LanguageTag", str)


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """One language: how it is written and what models and people call it.

    `scripts` are Unicode script names; `whisper` is Whisper's code.
    """

    tag: LanguageTag
    english: str
    own: str
    scripts: tuple[str, ...]
    whisper: str


def _language(tag: str, english: str, own: str, scripts: tuple[str, ...], whisper: str) -> Language:
    return Language(tag=LanguageTag(tag), english=english, own=own, scripts=scripts, whisper=whisper)


_LATIN = ("Latin",)
LANGUAGES: dict[LanguageTag, Language] = {
    language.tag: language
    for language in (
        _language("zh-Hans", "Simplified Chinese", "简体中文", ("Han",), "zh"),
        _language("zh-Hant", "Traditional Chinese", "繁體中文", ("Han",), "zh"),
        _language("zh-Hant-HK", "Traditional Chinese (Hong Kong)", "繁體中文（香港）", ("Han",), "zh"),
        _language("yue", "Cantonese", "粵語", ("Han",), "zh"),
        _language("en", "English", "English", _LATIN, "en"),
        _language("vi", "Vietnamese", "Tiếng Việt", _LATIN, "vi"),
        _language("th", "Thai", "ไทย", ("Thai",), "th"),
        _language("id", "Indonesian", "Bahasa Indonesia", _LATIN, "id"),
        _language("ms", "Malay", "Bahasa Melayu", _LATIN, "ms"),
        _language("fil", "Filipino", "Filipino", _LATIN, "tl"),
        _language("km", "Khmer", "ខ្មែរ", ("Khmer",), "km"),
        _language("my", "Burmese", "မြန်မာ", ("Myanmar",), "my"),
        _language("lo", "Lao", "ລາວ", ("Lao",), "lo"),
        _language("ja", "Japanese", "日本語", ("Han", "Hiragana", "Katakana"), "ja"),
        _language("ko", "Korean", "한국어", ("Hangul",), "ko"),
    )
}

_ALIASES = {
    "zh": "zh-Hans",
    "zh-cn": "zh-Hans",
    "zh-sg": "zh-Hans",
    "zh-my": "zh-Hans",
    "zh-tw": "zh-Hant",
    "zh-hk": "zh-Hant-HK",
    "zh-mo": "zh-Hant-HK",
    "zh-hant-mo": "zh-Hant-HK",
    "zh-yue": "yue",
    "tl": "fil",
    "in": "id",
    "jp": "ja",
}


class UnknownLanguage(ValueError):
    """A tag that names no language of the service."""

    def __init__(self, tag: str) -> None:
        super().__init__(f"{tag[:40]!r} is not one of: {', '.join(LANGUAGES)}")
        self.tag = tag


def parse_language(tag: str) -> LanguageTag:
    """The service's tag for a BCP-47 tag, whatever its case or region (BCP 47, RFC 5646).

    Raises UnknownLanguage.
    """
    wanted = tag.strip().replace("_", "-").lower()
    known = {name.lower(): name for name in LANGUAGES}
    parts = wanted.split("-")
    for size in range(len(parts), 0, -1):
        prefix = "-".join(parts[:size])
        if prefix in known:
            return known[prefix]
        if prefix in _ALIASES:
            return LanguageTag(_ALIASES[prefix])
    raise UnknownLanguage(tag)


def is_chinese(tag: LanguageTag) -> bool:
    """Whether a language is written in Chinese characters alone."""
    return LANGUAGES[tag].scripts == ("Han",)
