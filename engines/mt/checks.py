"""Is this a translation? Script, length, repetition and talk about the task, judged without a model."""

import re

from engines.languages import LANGUAGES, LanguageTag
from engines.lid.scripts import script_shares

_META = re.compile(
    r"^(sure[,!.]|here (is|are) (the|your)|the translation (is|of)|translation:|as an ai|i('m| am) sorry|i can(no|')t"
    r"|好的，|以下是|翻译[:：]|翻译结果|作为(一个)?(人工智能|ai)|抱歉，我(无法|不能)|对不起，我(无法|不能))",
    re.IGNORECASE,
)
_REPEAT = re.compile(r"(.{2,40}?)\1{4,}", re.DOTALL)
_LEAST_SHARE = 0.4  # names, units and quotes may be in Latin; the rest must be in the target's scripts


def fault_of(text: str, source_text: str, target: LanguageTag) -> str | None:
    """Why `text` can't be shown as a translation of `source_text`, or None.

    Codes: empty, meta, repeat, wrong_script, too_long.
    """
    if not text.strip():
        return "empty"
    if _META.match(text) and not _META.match(source_text):
        return "meta"
    if _REPEAT.search(text) and not _REPEAT.search(source_text):
        return "repeat"
    if len(text) > 40 + 8 * len(source_text):
        return "too_long"
    shares = script_shares(text)
    wanted = LANGUAGES[target].scripts
    if shares and sum(shares.get(script, 0.0) for script in wanted) < _LEAST_SHARE:
        return None if _only_names(text, source_text) else "wrong_script"
    return None


def _only_names(text: str, source_text: str) -> bool:
    """A line of names and codes alone may come back as it went in."""
    return text.strip().casefold() == source_text.strip().casefold() and len(text) <= 24 and " " not in text.strip()
