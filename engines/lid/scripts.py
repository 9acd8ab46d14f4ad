"""Unicode scripts of characters, by ranges, and their shares in a text."""

import unicodedata
from bisect import bisect_right
from collections import Counter

COMMON = "Common"  # digits, punctuation, symbols, emoji
INHERITED = "Inherited"  # marks that any script may carry
OTHER = "Other"  # a letter of a script that no language of the service is written in

_RANGES = sorted(
    (
        (0x0041, 0x005A, "Latin"),
        (0x0061, 0x007A, "Latin"),
        (0x00AA, 0x00AA, "Latin"),
        (0x00BA, 0x00BA, "Latin"),
        (0x00C0, 0x00D6, "Latin"),
        (0x00D8, 0x00F6, "Latin"),
        (0x00F8, 0x02B8, "Latin"),
        (0x0300, 0x036F, INHERITED),
        (0x0E01, 0x0E3A, "Thai"),
        (0x0E40, 0x0E4E, "Thai"),
        (0x0E80, 0x0EFF, "Lao"),
        (0x1000, 0x109F, "Myanmar"),
        (0x1100, 0x11FF, "Hangul"),
        (0x1780, 0x17D3, "Khmer"),
        (0x17D7, 0x17D7, "Khmer"),
        (0x17DC, 0x17DD, "Khmer"),
        (0x1AB0, 0x1AFF, INHERITED),
        (0x1DC0, 0x1DFF, INHERITED),
        (0x1E00, 0x1EFF, "Latin"),
        (0x20D0, 0x20FF, INHERITED),
        (0x2C60, 0x2C7F, "Latin"),
        (0x2E80, 0x2FDF, "Han"),
        (0x3005, 0x3005, "Han"),
        (0x3007, 0x3007, "Han"),
        (0x3021, 0x3029, "Han"),
        (0x3041, 0x3096, "Hiragana"),
        (0x309D, 0x309F, "Hiragana"),
        (0x30A1, 0x30FA, "Katakana"),
        (0x30FC, 0x30FF, "Katakana"),
        (0x3131, 0x318E, "Hangul"),
        (0x31F0, 0x31FF, "Katakana"),
        (0x3400, 0x4DBF, "Han"),
        (0x4E00, 0x9FFF, "Han"),
        (0xA720, 0xA7FF, "Latin"),
        (0xA960, 0xA97C, "Hangul"),
        (0xA9E0, 0xA9FE, "Myanmar"),
        (0xAA60, 0xAA7F, "Myanmar"),
        (0xAC00, 0xD7FB, "Hangul"),
        (0xF900, 0xFAD9, "Han"),
        (0xFE00, 0xFE2F, INHERITED),
        (0xFF21, 0xFF3A, "Latin"),
        (0xFF41, 0xFF5A, "Latin"),
        (0xFF66, 0xFF9D, "Katakana"),
        (0xFFA0, 0xFFDC, "Hangul"),
        (0x20000, 0x323AF, "Han"),
        (0xE0100, 0xE01EF, INHERITED),
    )
)
_STARTS = [first for first, _, _ in _RANGES]

# Letters with a hook, a horn, a breve or a dot below: among the languages of the service only Vietnamese has them.
_VIETNAMESE = frozenset("ăđĩũơưĂĐĨŨƠƯ") | {chr(code) for code in range(0x1EA0, 0x1EFA)}


def script_of(character: str) -> str:
    """The Unicode script of one character (UAX #24), for the scripts of the service's languages.

    COMMON for digits, punctuation, symbols and emoji; INHERITED for marks; OTHER for all other letters.
    """
    code = ord(character)
    place = bisect_right(_STARTS, code) - 1
    if place >= 0 and code <= _RANGES[place][1]:
        return _RANGES[place][2]
    category = unicodedata.category(character)[0]
    return {"L": OTHER, "M": INHERITED}.get(category, COMMON)


def count_scripts(text: str) -> Counter[str]:
    """Letters of each script in a text; marks, digits, punctuation and emoji are not counted."""
    return Counter(script_of(character) for character in text if character.isalpha())


def script_shares(text: str) -> dict[str, float]:
    """Each script's share of a text's letters, summing to 1; empty where there are no letters."""
    counts = count_scripts(text)
    total = counts.total()
    return {script: count / total for script, count in counts.items()}


def has_vietnamese_letter(text: str) -> bool:
    """Whether a letter is there that, of the service's languages, only Vietnamese has."""
    return not _VIETNAMESE.isdisjoint(text)
