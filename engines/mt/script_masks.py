"""Which tokens may stand in a text of a language: those of its scripts, Latin, digits, punctuation and emoji."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from engines.languages import LANGUAGES, LanguageTag
from engines.lid.scripts import COMMON, INHERITED, script_of

_FREE = frozenset({COMMON, INHERITED, "Latin"})
_SAMPLES = 64  # code points looked at in the range that a cut character may still become


class ScriptMasks:
    """Banned tokens by target language, over one vocabulary."""

    def __init__(self, pieces: Sequence[bytes], ends: Iterable[int] = ()) -> None:
        """`pieces`: the bytes of every token, in order; `ends`: the tokens that end a text, never banned.

        Takes about a second for 150,000 tokens.
        """
        self._bits: dict[str, int] = {}
        self._needs = np.zeros(len(pieces), np.uint32)  # scripts that must all be allowed
        self._may_become = np.zeros(len(pieces), np.uint32)  # scripts of which one must be allowed
        self._empty = np.array([not piece or b"\n" in piece or b"\x00" in piece for piece in pieces])
        self._empty[list(ends)] = False
        for token, piece in enumerate(pieces):
            if piece.isascii():
                continue
            whole, rest = _split(piece)
            self._needs[token] = self._mask({script_of(character) for character in whole})
            if rest:
                self._may_become[token] = self._mask(_scripts_after(rest), keep_free=True)
        self._latin = np.array([any(script_of(one) == "Latin" for one in _split(piece)[0]) for piece in pieces])
        self._banned: dict[LanguageTag, NDArray[np.bool_]] = {}

    def banned(self, target: LanguageTag) -> NDArray[np.bool_]:
        """True at every token that can't stand in the language; of the vocabulary's length, shared, not to be
        written to."""
        if target not in self._banned:
            allowed = sum(self._bits.get(script, 0) for script in {*LANGUAGES[target].scripts, *_FREE})
            foreign = (self._needs & ~np.uint32(allowed)) != 0
            dead_end = (self._may_become != 0) & ((self._may_become & np.uint32(allowed)) == 0)
            self._banned[target] = foreign | dead_end | self._empty
        return self._banned[target]

    def banned_with_latin(self, target: LanguageTag) -> NDArray[np.bool_]:
        """The same for an answer that has to do without Latin letters; computed anew each time."""
        banned: NDArray[np.bool_] = self.banned(target) | self._latin
        return banned

    def _mask(self, scripts: set[str], *, keep_free: bool = False) -> int:
        bits = 0
        for script in scripts:
            if keep_free or script not in _FREE:
                bits |= self._bits.setdefault(script, 1 << len(self._bits))
        return bits


def _split(piece: bytes) -> tuple[str, bytes]:
    """Whole characters of a piece, and the first bytes of one that is cut off at its end."""
    for cut in range(1, min(4, len(piece) + 1)):
        lead = piece[-cut]
        if lead >= 0xC0:
            length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            if length > cut:
                return piece[:-cut].decode("utf-8", "ignore"), piece[-cut:]
            break
    return piece.decode("utf-8", "ignore"), b""


def _scripts_after(start: bytes) -> set[str]:
    """The scripts of the characters that begin with these bytes (UTF-8, RFC 3629)."""
    lead = start[0]
    length, low = (2, lead & 0x1F) if lead < 0xE0 else (3, lead & 0x0F) if lead < 0xF0 else (4, lead & 0x07)
    for byte in start[1:]:
        low = low << 6 | byte & 0x3F
    open_bits = 6 * (length - len(start))
    first, last = low << open_bits, ((low + 1) << open_bits) - 1
    first, last = max(first, 0x80), min(last, 0x10FFFF)
    if length == 4:
        return {COMMON}  # emoji, and Han so rare that no model writes it
    codes = range(first, last + 1, max(1, (last - first) // _SAMPLES))
    found = Counter(script_of(chr(code)) for code in codes)
    common = found.pop(COMMON, 0) + found.pop(INHERITED, 0)
    # A currency sign among Thai letters does not make their first byte fit for English.
    return {*found, COMMON} if 2 * common >= len(codes) else set(found)
