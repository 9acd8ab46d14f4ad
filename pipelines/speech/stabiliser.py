"""Hypotheses of one utterance → what of them is worth showing, and a stable prefix that only grows. Sync.

Words are worth showing once two hypotheses in a row agree on them and on all before them (LocalAgreement-2: Liu et
al., 2020, https://arxiv.org/abs/2005.11185), and stable once they are not among the last two of a hypothesis any
more: recognisers change their mind about those when they hear what follows. A first hypothesis is shown without its
last word, which may have been cut off.
"""

from engines.languages import LanguageTag
from pipelines.speech.letters import Token, is_unspaced, tokens
from pipelines.types import Hypothesis

_HELD_BACK = 2


class Stabiliser:
    """The text of one utterance. Stable text never changes; a later hypothesis that says otherwise is aligned."""

    def __init__(self, utterance: int) -> None:
        self._utterance = utterance
        self._revision = 0
        self._stable = ""
        self._stable_keys: list[str] = []
        self._before: list[str] | None = None  # the words after the stable ones in the hypothesis before
        self._language: LanguageTag | None = None
        self._frozen = False

    def freeze(self) -> None:
        """From here on only a final hypothesis makes more of the text stable."""
        self._frozen = True

    def push(
        self, text: str, language: LanguageTag, stream_start: float, stream_end: float, *, final: bool = False
    ) -> Hypothesis:
        """The newest hypothesis, behind what is stable already; a final one becomes stable as a whole."""
        if language != self._language:
            self._before = None
        self._language = language
        text = text.strip()
        found = tokens(text)
        known = aligned(self._stable_keys, [token.key for token in found])
        rest, shown = found[known:], self._joined(text, found, known)
        agreed = len(rest) if final else self._agreed(rest)
        stable = len(rest) if final else self._certain(rest, agreed)
        after = len(text) - rest[agreed - 1].end if agreed else len(shown) - len(self._stable)
        self._grow(shown, len(text), rest, stable)
        if final:
            self._stable, after = shown, 0
        self._revision += 1
        return Hypothesis(
            utterance=self._utterance,
            revision=self._revision,
            text=shown,
            agreed_length=len(shown) - after,
            stable_length=len(self._stable),
            language=language,
            stream_start=stream_start,
            stream_end=stream_end,
            final=final,
        )

    def _joined(self, text: str, found: list[Token], known: int) -> str:
        """The stable text and what the hypothesis says after it."""
        if known:
            return self._stable + text[found[known - 1].end :]
        if not self._stable or not text:
            return self._stable + text
        return self._stable + ("" if is_unspaced(self._stable[-1]) or is_unspaced(text[0]) else " ") + text

    def _agreed(self, rest: list[Token]) -> int:
        """How many words two hypotheses in a row agree on; of a first one all but the last."""
        if self._before is None:
            return max(0, len(rest) - 1)
        agreed = 0
        for token, key in zip(rest, self._before, strict=False):
            if token.key != key:
                break
            agreed += 1
        return agreed

    def _certain(self, rest: list[Token], agreed: int) -> int:
        """How many of these won't change any more: none once frozen."""
        if self._before is None or self._frozen:
            return 0
        return max(0, min(agreed, len(rest) - _HELD_BACK, len(self._before) - _HELD_BACK))

    def _grow(self, shown: str, text_length: int, rest: list[Token], count: int) -> None:
        if count > 0:
            after = text_length - rest[count - 1].end  # what of the hypothesis follows its last stable word
            self._stable = shown[: len(shown) - after]
            self._stable_keys += [token.key for token in rest[:count]]
        self._before = [token.key for token in rest[count:]]


def aligned(stable: list[str], found: list[str]) -> int:
    """How many of the found words are the stable ones, said again: the prefix with the fewest edits to them.

    Of prefixes with as few edits one that ends in the same word is taken, then the one nearest in length.
    """
    if found[: len(stable)] == stable:
        return len(stable)
    row = list(range(len(found) + 1))
    for n, key in enumerate(stable, start=1):
        above, row = row, [n]
        for m, other in enumerate(found, start=1):
            row.append(min(above[m] + 1, row[m - 1] + 1, above[m - 1] + (key != other)))

    def cost(length: int) -> tuple[int, bool, int]:
        ends_alike = length > 0 and found[length - 1] == stable[-1]
        return row[length], not ends_alike, abs(length - len(stable))

    return min(range(len(row)), key=cost)
