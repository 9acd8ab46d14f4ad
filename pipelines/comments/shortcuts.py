"""Comments that every reader gets as they are: nothing to translate in them, or translated by a person already."""

import re
from collections.abc import Sequence

from pipelines.spans import Span, without

NO_WORDS = "no_words"
INTERPRETED = "interpreted"

_LETTERLIKE_EMOJI = frozenset("ℹ")
# Viewers who interpret for others write so: 【…】, [EN] …, (TL) ….
_BY_A_PERSON = re.compile(
    r"\s*(?:【.{2,}】|[\[(（](?:EN|ENG|JP|JA|CN|ZH|KR|KO|VN|VI|TH|ID|MY|TL|英|日|中|韩|韓|译|譯)[\])）]\s*\S.*)\s*",
    re.DOTALL,
)


def why_as_it_is(text: str, spans: Sequence[Span]) -> str | None:
    """Why a normalised comment needs no translation, or None where it does.

    no_words: emoji, numbers, punctuation, faces, addresses, names and emotes only; interpreted: a viewer's own
    translation, in the form that interpreters in chats use.
    """
    if not any(character.isalpha() and character not in _LETTERLIKE_EMOJI for character in without(text, spans)):
        return NO_WORDS
    return INTERPRETED if _BY_A_PERSON.fullmatch(text) else None
