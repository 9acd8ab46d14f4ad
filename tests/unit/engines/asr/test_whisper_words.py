"""engines/asr/whisper_words.py"""

import pytest

from engines.asr.types import Word
from engines.asr.whisper_words import words_of

pytestmark = pytest.mark.unit


class Writing:
    """Three tokens, the first two of them one word."""

    eot = 99

    def split_to_word_tokens(self, tokens: list[int]) -> tuple[list[str], list[list[int]]]:
        assert tokens == [1, 2, 3, 99]
        return [" kettle", " boils", "<|endoftext|>"], [[1, 2], [3], [99]]


def test_a_word_ends_where_the_next_token_is_first_heard() -> None:
    alignment = [(0, 0), (0, 6), (1, 12), (2, 40), (2, 46), (3, 60)]
    found = words_of([1, 2, 3], alignment, Writing(), 2.0)
    assert found == [Word(" kettle", pytest.approx(0.8)), Word(" boils", pytest.approx(1.2))]


def test_the_last_word_ends_with_the_sound_at_the_latest() -> None:
    assert words_of([1, 2, 3], [(0, 0), (2, 150)], Writing(), 1.5)[-1] == Word(" boils", 1.5)
    assert words_of([1, 2, 3], [(0, 0), (2, 40), (3, 90)], Writing(), 1.5)[0].end == pytest.approx(0.8)
    assert words_of([1, 2, 3], [(0, 0), (3, 90)], Writing(), 1.5)[1] == Word(" boils", 1.5)
