"""Chat lines with what must and must not be in their translations."""

from pathlib import Path

import msgspec

from engines.languages import LanguageTag

_FILE = Path(__file__).with_name("chat_cases.jsonl")


class ChatCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line. `must`: each is in the translation, of a list one; `must_not`: none is; `same`: it stays as it is."""

    id: str
    kind: str
    source: LanguageTag
    target: LanguageTag
    text: str
    must: tuple[str | tuple[str, ...], ...] = ()
    must_not: tuple[str, ...] = ()
    same: bool = False


def load() -> tuple[ChatCase, ...]:
    """All cases, in the file's order."""
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    return tuple(msgspec.json.decode(line, type=ChatCase) for line in lines)


def checks(case: ChatCase) -> int:
    """How many things are looked at in a case."""
    return 1 + len(case.must) + len(case.must_not)


def failures(case: ChatCase, text: str) -> list[str]:
    """What is wrong with a translation, a line each; case does not matter."""
    folded = text.casefold()
    wrong: list[str] = []
    if (folded == case.text.casefold()) is not case.same:
        wrong.append(f"is not the text as it was: {text!r}" if case.same else "is left as it was")
    for must in case.must:
        words = (must,) if isinstance(must, str) else must
        if not any(word.casefold() in folded for word in words):
            wrong.append(f"lacks {' or '.join(map(repr, words))}: {text!r}")
    wrong += [f"has {word!r}: {text!r}" for word in case.must_not if word.casefold() in folded]
    return wrong
