"""Repeats: the same comment by many viewers within a short time becomes one cue with a count. Sync."""

import re
from collections import OrderedDict
from typing import Annotated

import msgspec
from msgspec import Meta

from engines.languages import LanguageTag

_LONGEST_LIFE = 4  # windows: what is said for an hour is a new cue now and then
_ONE_DIGIT = re.compile(r"(\d)\1{2,}|23{2,}")
_AGAIN = re.compile(r"(\D{1,4}?)\1+")
_ASKED = re.compile(r"[?？]+")
_UNSPOKEN = re.compile(r"[^\w?？]+")


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
        self._said: OrderedDict[tuple[LanguageTag, str], _Said] = OrderedDict()

    def seen(self, comment_id: str, text: str, language: LanguageTag, now: float) -> Repeat | None:
        """The comment that said the same within the window before `now`, or None: then this one is remembered."""
        window_s = self._settings.window_s
        if not window_s:
            return None
        key = (language, fold(text))
        self._forget(now - window_s)
        said = self._said.pop(key, None)
        if said is None or now - said.since > _LONGEST_LIFE * window_s:
            said = _Said(comment_id, now, now)
            self._said[key] = said
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
    """What is alike of comments that say the same: no case, no blanks or signs but question marks, runs cut short.

    哈哈哈哈 is 哈哈, 来了来了来了 is 来了来了 and 6666 is 666, but 99 is not 999. A comment of signs alone is itself.
    """
    words = _ASKED.sub("?", _UNSPOKEN.sub("", text.casefold()))
    digits = _ONE_DIGIT.fullmatch(words)
    if digits:
        return words[:3]
    return _AGAIN.sub(r"\1\1", words) if words else text
