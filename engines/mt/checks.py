"""Is this a translation? Script, length, repetition, echo and talk about the task, judged without a model."""

import re

from engines.languages import LANGUAGES, LanguageTag
from engines.lid.scripts import script_shares
from engines.mt.types import TranslationRequest

_META = re.compile(
    r"^(sure[,!.]|here('s| is| are) (the|your) (\w+ )?translat|the translation (is|of)|translation:|as an ai"
    r"|i('m| am) sorry|i can(no|')t"
    r"|好的，|以下是|翻译[:：]|翻译结果|作为(一个)?(人工智能|ai)|抱歉，我(无法|不能)|对不起，我(无法|不能))",
    re.IGNORECASE,
)
_REPEAT = re.compile(r"(.{2,40}?)\1{4,}", re.DOTALL)
_SAID_AGAIN = re.compile(r"(.{1,40}?)\1{2,}", re.DOTALL)  # laughter may be translated as laughter
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏḀ-ỿ][A-Za-zÀ-ɏḀ-ỿ'’-]*")
_LATIN_RUN = re.compile(rf"(?:{_LATIN_WORD.pattern}[\s,.!?]+){{2,}}{_LATIN_WORD.pattern}")
UNTOUCHED = frozenset({"echo", "wrong_script"})  # faults of an answer that left the source as it was
LOST = "lost"  # the one fault that can be mended afterwards, by saying at the end what was lost
_LEAST_SHARE = 0.4  # of what is not carried over from the source, so much has to be in the target's scripts
_MOST_ECHO_WORDS = 2  # a name, a game, "gg": may come back as it went in


def fault_of(text: str, request: TranslationRequest) -> str | None:
    """Why `text` can't be shown as the translation that was asked for, or None.

    Codes: empty, meta, repeat, too_long, echo, wrong_script, lost (a sign that the answer has to hold).
    """
    said = request.text
    words = _LATIN_WORD.findall(text)
    faults = {
        "empty": not text.strip(),
        "meta": bool(_META.match(text)) and not _META.match(said),
        "repeat": bool(_REPEAT.search(text)) and not _SAID_AGAIN.search(said),
        "too_long": len(text) > 40 + 8 * len(said),
        "echo": len(words) > _MOST_ECHO_WORDS and text.strip().casefold() == said.strip().casefold(),
        "wrong_script": not _in_script(text, said, words, request.target),
        LOST: any(sign not in text.upper() for sign in request.keep),
    }
    return next((fault for fault, found in faults.items() if found), None)


def _in_script(text: str, source_text: str, words: list[str], target: LanguageTag) -> bool:
    """Whether what is not a Latin word of the source is written as the target is."""
    wanted = LANGUAGES[target].scripts
    if "Latin" not in wanted and _LATIN_RUN.search(text):
        return False
    carried = {word.casefold() for word in _LATIN_WORD.findall(source_text)}
    shares = script_shares(_LATIN_WORD.sub(lambda word: "" if word[0].casefold() in carried else word[0], text))
    if not shares:
        return len(words) <= _MOST_ECHO_WORDS
    return sum(shares.get(script, 0.0) for script in wanted) >= _LEAST_SHARE
