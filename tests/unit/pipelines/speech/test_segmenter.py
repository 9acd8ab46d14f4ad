from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.languages import LanguageTag
from pipelines.speech.letters import letters
from pipelines.speech.segmenter import Pieces, Segmenter, SegmenterSettings
from pipelines.speech.stabiliser import Stabiliser

pytestmark = pytest.mark.unit

STORY = (
    "We came to the market early in the morning, and the old man who sells the kettles was already there, "
    "singing to himself. He asked us for three coins and gave us two kettles and a song."
)


def cut(text: str, stable: int | None = None, *, final: bool = False) -> Pieces:
    return Segmenter(SegmenterSettings()).push(text, len(text) if stable is None else stable, final=final)


def width(text: str) -> float:
    """Lines that a text fills, roughly: full-width characters by sixteen, others by forty-two."""
    return sum(1 / 16 if ord(character) >= 0x1100 else 1 / 42 for character in text)


def test_a_sentence_that_is_followed_by_stable_text_is_a_piece() -> None:
    found = cut("Good morning everybody. Today we", len("Good morning everybody. Today"))
    assert found == Pieces(closed=("Good morning everybody.",), open="Today we", stable=5)


def test_a_sentence_at_the_end_stays_open() -> None:
    assert cut("Good morning everybody.") == Pieces(closed=(), open="Good morning everybody.", stable=23)


def test_a_sentence_that_is_not_stable_stays_open() -> None:
    text = "Good morning everybody. Today we"
    assert cut(text, 10) == Pieces(closed=(), open=text, stable=10)


def test_a_very_short_sentence_stays_with_the_next() -> None:
    assert cut("Yes. I would like that very much. And").closed == ("Yes. I would like that very much.",)


def test_abbreviations_and_numbers_end_no_sentence() -> None:
    text = "The price that Dr. Smith paid was 3.5 dollars at J. Kettle and sons"
    assert cut(text, final=True).closed == (text,)


def test_chinese_sentences_are_pieces() -> None:
    assert cut("我想看江苏电视台。请帮我打开。谢谢你的帮助", final=True).closed == (
        "我想看江苏电视台。",
        "请帮我打开。",
        "谢谢你的帮助",
    )


def test_long_text_is_cut_at_a_clause() -> None:
    first = cut(STORY).closed[0]
    assert first == "We came to the market early in the morning,"


def test_chinese_without_punctuation_is_cut_before_it_fills_two_lines() -> None:
    found = cut("今天我们来到市场看见了许多卖水壶的人" * 4, final=True)
    assert all(len(piece) <= 32 for piece in found.closed)


def test_the_open_piece_never_fills_more_than_two_lines() -> None:
    assert width(cut(STORY, 0).open) <= 2.05


def test_a_word_longer_than_two_lines_is_broken() -> None:
    found = cut("a" * 200, final=True)
    assert "".join(found.closed) == "a" * 200
    assert max(len(piece) for piece in found.closed) <= 84


def test_a_full_stop_that_comes_after_its_piece_was_given_out_starts_no_piece() -> None:
    segmenter = Segmenter(SegmenterSettings())
    words = "one two three four five six seven eight nine ten " * 2
    [first] = segmenter.push(words, len(words), final=False).closed
    rest = segmenter.push(first + ". " + words[len(first) :], 0, final=True).closed
    assert not rest[0].startswith(".")


words = st.sampled_from(
    [
        "so",
        "then,",
        "we",
        "go.",
        "extraordinarily",
        "好",
        "的",
        "，",
        "一",
        "。",
        "ไป",
        "3",
        "Dr.",
        "!",
        "안녕",
        "iPhone",
    ]
)
changes: st.SearchStrategy[Callable[[str], str]] = st.sampled_from(
    [str, str.upper, lambda text: text.replace(",", "."), lambda text: text.replace("。", "")]
)
speech = st.lists(words, min_size=1, max_size=120)


@settings(deadline=None)
@given(speech, st.booleans(), st.data())
def test_no_letter_is_lost_or_doubled_and_every_piece_fits(said: list[str], spaced: bool, data: st.DataObject) -> None:
    """Later hypotheses re-punctuate and change the case of what was given out already."""
    stabiliser, segmenter = Stabiliser(1), Segmenter(SegmenterSettings())
    given_out: list[str] = []
    heard = 0
    while heard < len(said):
        heard = min(len(said), heard + data.draw(st.integers(1, 30)))
        text = (" " if spaced else "").join(said[:heard])
        change = data.draw(changes)
        found = stabiliser.push(change(text), LanguageTag("en"), 0.0, 1.0, final=heard == len(said))
        pieces = segmenter.push(found.text, found.stable_length, final=found.final)
        given_out += pieces.closed
        assert width(pieces.open) <= 2.05
        assert found.final or letters("".join(given_out)) == letters(found.text)[: len(letters("".join(given_out)))]
    assert pieces.open == ""
    assert "".join(letters(piece) for piece in given_out) == letters(found.text)
    assert all(width(piece) <= 2.05 for piece in given_out)
    assert all(given_out)
