"""A text as its words, or its characters where a script has no spaces: what hypotheses are compared by."""

import unicodedata

import msgspec

# Scripts written without spaces: Thai, Lao, Myanmar, Khmer, kana, Han. Their characters count one by one.
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3005, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
_INNER = frozenset("'’")


class Token(msgspec.Struct, frozen=True):
    """One word or character: `text[start:end]`, and `key` to compare it by, whatever its case and width."""

    key: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """The words and characters of a text; punctuation and spaces lie between them."""
    found: list[Token] = []
    start = 0
    while start < len(text):
        if not _is_letter(text[start]):
            start += 1
            continue
        end = _end(text, start)
        found.append(Token(_key(text[start:end]), start, end))
        start = end
    return found


def letters(text: str) -> str:
    """A text's letters and digits alone, whatever their case and width."""
    return "".join(token.key for token in tokens(text))


def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script that is written without spaces."""
    return any(first <= ord(character) <= last for first, last in _UNSPACED)


def _end(text: str, start: int) -> int:
    """Where the token ends that starts here."""
    end = start + 1
    alone = is_unspaced(text[start])
    while end < len(text):
        character = text[end]
        inner = character in _INNER and end + 1 < len(text) and text[end + 1].isalpha()
        if not _is_mark(character) and (
            alone or is_unspaced(character) or not (_is_letter(character) or (inner and not is_unspaced(text[end + 1])))
        ):
            break
        end += 1
    return end


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LN"


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def _key(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character not in _INNER)
