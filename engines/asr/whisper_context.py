"""How much context Whisper gets, how many tokens it may write, and how a decoding that ran away is known. Sync."""

from collections.abc import Sequence

from engines.languages import LANGUAGES, LanguageTag

LONGEST_S = 30
# Contexts of less than 8 s run away, into repeats or to the limit, however wide the margin.
_CONTEXTS_S = (8, 15, 20, LONGEST_S)
_MARGIN_S = 1.5  # with 1 s, Vietnamese loses a point
_LEAST_TOKENS = 8
_MOST_TOKENS = 224
_TOKENS_PER_SECOND = 14
# These scripts are written byte by byte: up to three tokens a letter.
_TOKENS_PER_SECOND_IN = {"Thai": 24, "Khmer": 48, "Myanmar": 48, "Lao": 48}
_REPEATED_TOKENS = 8


def contexts(duration_s: float) -> tuple[int, ...]:
    """The contexts, in seconds, to try one after another: what fits, the next longer, the longest."""
    fitting = [context for context in _CONTEXTS_S if context - duration_s >= _MARGIN_S]
    return tuple(dict.fromkeys((*fitting[:2], LONGEST_S)))


def token_bound(duration_s: float, language: LanguageTag) -> int:
    """More tokens than anyone says in that time."""
    rate = max(_TOKENS_PER_SECOND_IN.get(script, _TOKENS_PER_SECOND) for script in LANGUAGES[language].scripts)
    return min(_MOST_TOKENS, _LEAST_TOKENS + int(rate * duration_s))


def ran_away(tokens: Sequence[int], bound: int) -> bool:
    """Whether a decoding reached its bound, or says the same at once again over 8 tokens or more."""
    return len(tokens) >= bound or any(
        _longest_echo(tokens, period) >= max(period, _REPEATED_TOKENS - period)
        for period in range(1, len(tokens) // 2 + 1)
    )


def _longest_echo(tokens: Sequence[int], period: int) -> int:
    """The longest stretch of tokens each equal to the one `period` before it."""
    longest = echo = 0
    for token, earlier in zip(tokens[period:], tokens, strict=False):
        echo = echo + 1 if token == earlier else 0
        longest = max(longest, echo)
    return longest
