"""Frames of one playing → the texts that a reader saw grow, and their log."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.frames import Cue, Retract
from loadtest.speech.log import log_lines
from loadtest.speech.scores import shown
from loadtest.speech.texts import Moment, Seen, grow, tokens

pytestmark = pytest.mark.unit


def cue(name: str, source: str, text: str = "", *, final: bool = False, flags: tuple[str, ...] = ()) -> Cue:
    return Cue(
        seq=1,
        id=name,
        revision=0,
        final=final,
        kind="speech",
        lang="zh-Hans",
        source_lang="en",
        text=text,
        source_text=source,
        flags=flags,
    )


def seen(*frames: tuple[float, Cue | Retract]) -> list[Seen]:
    return [Seen(at=at, frame=frame) for at, frame in frames]


def test_pieces_are_read_in_the_order_of_speech_whatever_came_first() -> None:
    texts = grow(
        seen(
            (1.0, cue("s1.10", "third", final=True)),
            (2.0, cue("s1.2", "second", final=True)),
            (3.0, cue("s0.0", "first", final=True)),
        ),
        "en",
        "zh-Hans",
    )
    assert [moment.text for moment in texts.source] == ["third", "second third", "first second third"]


def test_what_is_taken_back_is_gone_and_what_is_not_translated_is_no_translation() -> None:
    texts = grow(
        seen(
            (1.0, cue("s1.0", "hello", flags=("pending",))),
            (1.5, cue("s1.0", "hello there", "你好", flags=("pending",))),
            (2.0, Retract(seq=2, id="s1.0")),
            (3.0, cue("s2.0", "bye", "bye", final=True, flags=("untranslated",))),
        ),
        "en",
        "zh-Hans",
    )
    assert [(moment.at, moment.text) for moment in texts.source] == [
        (1.0, "hello"),
        (1.5, "hello there"),
        (2.0, ""),
        (3.0, "bye"),
    ]
    assert [moment.text for moment in texts.target] == ["你好", ""]
    assert (texts.finished, texts.untranslated, texts.revisions) == (3.0, 1, 3)


def test_nothing_seen_is_nothing() -> None:
    texts = grow([], "en", "zh-Hans")
    assert (texts.source, texts.target, texts.finished) == ((), (), None)
    assert shown(log_lines("clip", texts.source, "en"), "en") is None


def test_a_log_counts_what_was_taken_back_and_when_the_rest_came_to_stay() -> None:
    moments = [Moment(at=1.0, text="a b"), Moment(at=2.0, text="a c d"), Moment(at=3.0, text="a c d e")]
    found = shown(log_lines("clip", moments, "en"), "en")
    assert found is not None
    assert (found.text, found.delays) == ("a c d e", (1.0, 2.0, 2.0, 3.0))
    assert found.normalized_erasure == pytest.approx(1 / 4)


WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6).map(" ".join)


@given(st.lists(WORDS, max_size=6), st.sampled_from(["en", "zh-Hans"]))
def test_the_log_of_any_growth_is_read_as_its_last_text(texts: list[str], language: str) -> None:
    moments = [Moment(at=float(n), text=text) for n, text in enumerate(texts)]
    found = shown(log_lines("clip", moments, language), language)
    last = tokens(texts[-1], language) if texts else []
    assert (tokens(found.text, language) if found else []) == last
    if found:
        assert len(found.delays) == len(last)
