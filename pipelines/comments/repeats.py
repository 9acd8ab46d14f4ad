"""Repeats: the same comment by many viewers within a short time becomes one cue with a count. Sync."""

import re
from collections import OrderedDict
from typing import Annotated

import msgspec
from msgspec import Meta

from engines.languages import LanguageTag

_LONGEST_LIFE = 4  # windows: what is said for an hour is a new cue now and then
_LONGEST_UNIT = 4  # characters that count as one thing said again and again

# Without numbers in circles.
_SYMBOLS = "\u2190-\u245f\u2500-\u2775\u2794-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
# Variation selectors, tones of skin, places where lines may break. After a digit they part it from the next.
_UNSAID = re.compile("(?<!\\d)[\u200b\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")
_APOSTROPHE = re.compile(r"(?<=[^\W\d_])['’‘](?=[^\W\d_])")
# A point before a digit is part of a number. What else is a sign (- : / + < ^ _ …) may be one of a number or a face.
_PAUSES = re.compile(r"(?:[\s!！。｡，、；…‥·・—〜～?？។။၊]|[.,~](?!\d))+")
# Thai, Lao, Burmese, Khmer, Japanese, Chinese: where words aren't parted by blanks, one is a pause.
_WITHOUT_BLANKS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_BY_SYMBOL = re.compile(f"[ ，]?([{_SYMBOLS}]+)[ ，]?")
_SYMBOLS_ONLY = re.compile(f"[{_SYMBOLS}]+")
_SAME_PARTS = re.compile(r"([^\d'’‘ ，]+)(?:[ ，]\1)+")
_LAUGHTER = re.compile(r"([a-z]{2,4})\1(?!\1)([a-z]{1,3})")
_ONE_DIGIT = re.compile(r"((\d)\2{2,})(?:[ ，]\2{3,})*\+*")
_CHINESE_LAUGHTER = re.compile(r"23{2,}")


class RepeatsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When comments that say the same are shown as one."""

    window_s: Annotated[float, Meta(ge=0, le=600)] = 15.0
    """A comment that says what another said within so many seconds is counted with it; 0: never."""
    most: Annotated[int, Meta(ge=1, le=65_536)] = 512
    """Comments of one room that are remembered for it."""


class Repeat(msgspec.Struct, frozen=True):
    """A comment that was said before: by the comment `id`, and with it `count` times by now."""

    id: str
    count: int


class _Said(msgspec.Struct):
    id: str
    since: float
    last: float
    count: int = 1


class Repeats:
    """Remembers what was said lately in one room, folded; bounded in number and age."""

    def __init__(self, settings: RepeatsSettings) -> None:
        self._settings = settings
        self._said: OrderedDict[tuple[LanguageTag, str], _Said] = OrderedDict()  # said last comes last

    def seen(self, comment_id: str, text: str, language: LanguageTag, now: float) -> Repeat | None:
        """The comment that said the same within the window before `now`, or None: then this one is remembered.

        `now` is in seconds and never goes back. The window slides with every repeat, but after 4 windows what is said
        still is a new comment.
        """
        window_s = self._settings.window_s
        if not window_s:
            return None
        key = (language, fold(text))
        self._forget(now - window_s)
        said = self._said.pop(key, None)
        if said is None or now - said.since > _LONGEST_LIFE * window_s:
            self._said[key] = _Said(comment_id, now, now)
            if len(self._said) > self._settings.most:
                self._said.popitem(last=False)
            return None
        said.last, said.count = now, said.count + 1
        self._said[key] = said
        return Repeat(said.id, said.count)

    def _forget(self, before: float) -> None:
        while self._said and next(iter(self._said.values())).last < before:
            self._said.popitem(last=False)


def fold(text: str) -> str:
    """What is alike of normalised comments that say the same; folding twice changes nothing more.

    Case and what stands around the words don't count, and what is said again and again is cut short: 哈哈哈哈 is
    哈哈, 来了！来了！来了！ is 来了来了, 😂😂😂 is 😂. Numbers stay as they are but for a comment that is one digit
    alone, three times or more (6666 is 666), or laughter (23333). Pauses within a comment do count: 不，能吃 is not
    不能吃. A typo or a word more makes another comment.
    """
    said = _APOSTROPHE.sub("", _UNSAID.sub("", text.casefold()))
    said = _BY_SYMBOL.sub(r"\1", _PAUSES.sub(_pause, said)).strip(" ，")
    if not said:  # signs alone
        return _cut_short(text)
    digits = _ONE_DIGIT.fullmatch(said)
    if digits:
        return digits[2] * 3
    if _CHINESE_LAUGHTER.fullmatch(said):
        return "233"
    said = _cut_short(said)
    if _SAME_PARTS.fullmatch(said):
        said = _cut_short(said.replace(" ", "").replace("，", ""))
    laughter = _LAUGHTER.fullmatch(said)
    if laughter and laughter[1].startswith(laughter[2]):  # wkwkw, hahah
        return laughter[1] * 2
    return said


def _pause(run: re.Match[str]) -> str:
    """One sign for a run of them: a question, a pause, or a blank between words."""
    if "?" in run[0] or "？" in run[0]:
        return "?"
    before, after = run.string[max(0, run.start() - 1) : run.start()], run.string[run.end() : run.end() + 1]
    blank = run[0].isspace() and not (_WITHOUT_BLANKS.match(before) and _WITHOUT_BLANKS.match(after))
    return " " if blank else "，"


def _cut_short(text: str) -> str:
    """No unit of up to 4 characters more than twice in a row, none of symbols more than once; numbers as they are."""
    kept: list[str] = []
    for character in text:
        kept.append(character)
        for size in range(1, _LONGEST_UNIT + 1):
            if len(kept) >= 2 * size and kept[-1] == kept[-1 - size] and _once_too_often(kept, size):
                del kept[-size:]
                break
    return "".join(kept)


def _once_too_often(kept: list[str], size: int) -> bool:
    unit = kept[-size:]
    if unit != kept[-2 * size : -size]:
        return False
    said = "".join(unit)
    if said.isnumeric() or any(map(str.isdigit, unit)):  # 九九九 is a number too
        return False
    return unit == kept[-3 * size : -2 * size] or _SYMBOLS_ONLY.fullmatch(said) is not None
