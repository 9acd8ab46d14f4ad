"""How much context an utterance gets and when a decoding is not believed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.asr.whisper_context import LONGEST_S, contexts, ran_away, token_bound
from engines.languages import LANGUAGES, LanguageTag

pytestmark = pytest.mark.unit

EN = LanguageTag("en")


@pytest.mark.parametrize(
    ("duration_s", "expected"),
    [
        (0.5, (8, 15, 30)),
        (6.5, (8, 15, 30)),
        (6.6, (15, 20, 30)),
        (13.5, (15, 20, 30)),
        (13.6, (20, 30)),
        (18.6, (30,)),
        (30.0, (30,)),
    ],
)
def test_a_context_leaves_a_margin_and_is_followed_by_longer_ones(duration_s: float, expected: tuple[int, ...]) -> None:
    assert contexts(duration_s) == expected


@given(st.floats(0.0, LONGEST_S))
def test_every_utterance_fits_its_contexts_which_grow_to_the_longest(duration_s: float) -> None:
    tried = contexts(duration_s)
    assert tried[0] >= duration_s
    assert list(tried) == sorted(set(tried))
    assert len(tried) <= 3
    assert tried[-1] == LONGEST_S


@given(st.floats(0.0, LONGEST_S), st.floats(0.0, LONGEST_S), st.sampled_from(sorted(LANGUAGES)))
def test_longer_utterances_may_hold_more_tokens_up_to_what_whisper_writes(
    one: float, other: float, language: LanguageTag
) -> None:
    shorter, longer = sorted((one, other))
    assert 8 <= token_bound(shorter, language) <= token_bound(longer, language) <= 224


def test_scripts_written_byte_by_byte_may_take_more_tokens() -> None:
    assert token_bound(2.0, EN) == 36
    assert token_bound(2.0, LanguageTag("my")) == 104


@given(st.lists(st.integers(0, 50_000), unique=True, max_size=50))
def test_a_decoding_that_never_says_a_token_twice_is_believed(tokens: list[int]) -> None:
    assert not ran_away(tokens, bound=len(tokens) + 1)


def test_a_decoding_that_reaches_its_bound_is_not_believed() -> None:
    assert ran_away([1, 2, 3], bound=3)


@given(
    st.lists(st.integers(0, 99), max_size=6),
    st.lists(st.integers(100, 200), min_size=4, max_size=20),
    st.lists(st.integers(0, 99), max_size=6),
)
def test_a_sentence_said_twice_at_once_is_not_believed(before: list[int], said: list[int], after: list[int]) -> None:
    assert ran_away([*before, *said, *said, *after], bound=224)


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [([7] * 8, True), ([7] * 7, False), ([7, 8] * 4, True), ([7, 8] * 3, False), ([1, 2, 3, 1, 2, 3], False)],
)
def test_short_words_may_be_said_a_few_times(tokens: list[int], expected: bool) -> None:
    assert ran_away(tokens, bound=224) is expected
