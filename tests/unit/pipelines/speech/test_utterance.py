import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.asr.types import Word
from pipelines.speech.segmenter import SegmenterSettings
from pipelines.speech.utterance import Heard, Utterance
from pipelines.types import CueKind, SourceText
from tests.unit.pipelines.speech.sound import ENGLISH, utterance_sound

pytestmark = pytest.mark.unit


def heard(text: str, duration_s: float = 1.0) -> Heard:
    sound = utterance_sound(duration_s, stream_start=50.0)
    return Heard(text=text, language=ENGLISH, sound=sound, recognised_at=7.0)


def utterance() -> tuple[Utterance, list[SourceText]]:
    emitted: list[SourceText] = []
    return Utterance(3, emitted.append, SegmenterSettings()), emitted


def brief(emitted: list[SourceText]) -> list[tuple[str, int, bool, str]]:
    return [(source.id, source.revision, source.final, source.text) for source in emitted]


def test_partials_and_the_final_are_revisions_of_one_piece() -> None:
    spoken, emitted = utterance()
    spoken.hear(heard("Good mourn", 1.0))
    spoken.hear(heard("Good morning to", 1.5))
    spoken.hear(heard("Good morning, two of", 2.0))
    spoken.end(heard("Good morning to all.", 2.0), 6.5)
    assert brief(emitted) == [
        ("s3.0", 0, False, "Good"),  # the last word may have been cut off
        ("s3.0", 1, False, "Good morning"),  # two agree on it
        ("s3.0", 2, True, "Good morning to all."),
    ]
    last = emitted[-1]
    assert (last.kind, last.stream_start, last.stream_end) == (CueKind.SPEECH, 50.0, 52.0)
    assert (last.ledger.endpointed, last.ledger.recognised) == (6.5, 7.0)
    assert emitted[0].ledger.endpointed is None


def test_unchanged_text_is_emitted_again_only_when_more_of_it_is_certain() -> None:
    spoken, emitted = utterance()
    for duration_s in (1.0, 1.5, 2.0, 2.5):
        spoken.hear(heard("Good morning to all of you", duration_s))
    assert [(source.text, source.steady) for source in emitted] == [
        ("Good morning to all of", 0),
        ("Good morning to all of you", len("Good morning to all")),
    ]


def test_unfinished_text_is_what_two_recognitions_agree_on_and_at_a_pause_all_of_it() -> None:
    spoken, emitted = utterance()
    spoken.hear(heard("We go to the bar", 1.0))
    spoken.hear(heard("We go home now", 1.5))
    spoken.hear(heard("We go home", 2.0), may_be_whole=True)
    assert [source.text for source in emitted] == ["We go to the", "We go", "We go home"]


def test_what_may_be_the_whole_is_certain_to_its_end() -> None:
    spoken, emitted = utterance()
    spoken.hear(heard("Good morning to all"), may_be_whole=True)
    assert emitted[-1].steady == len(emitted[-1].text)
    spoken.hear(heard("Good morning to all of you", 2.0))
    assert emitted[-1].steady < len("Good morning to all")


def test_a_sentence_is_given_out_for_good_before_the_end_and_times_join() -> None:
    spoken, emitted = utterance()
    text = "Good morning everybody. Today we sell kettles"
    spoken.hear(heard(text, 3.0))
    spoken.hear(heard(text, 3.5))
    spoken.end(heard(text + ".", 4.0), 6.5)
    assert [(source.id, source.final, source.text) for source in emitted] == [
        ("s3.0", False, "Good morning everybody. Today we sell"),
        ("s3.0", True, "Good morning everybody."),
        ("s3.1", False, "Today we sell kettles"),
        ("s3.1", True, "Today we sell kettles."),
    ]
    assert emitted[1].stream_end == emitted[3].stream_start
    assert emitted[3].stream_end == 54.0


def test_a_piece_ends_with_its_last_word_where_word_times_are_known() -> None:
    spoken, emitted = utterance()
    text = "Good morning everybody. Today we sell kettles."
    ends = (0.5, 1.0, 1.5, 3.0, 3.2, 3.4, 3.8)
    words = tuple(Word(f" {word}", end) for word, end in zip(text.split(), ends, strict=True))
    spoken.end(msgspec.structs.replace(heard(text, 4.0), words=words), 6.5)
    assert [(source.stream_start, source.stream_end) for source in emitted] == [(50.0, 51.5), (51.5, 54.0)]


@given(st.lists(st.floats(-1.0, 9.0), max_size=12), st.integers(1, 12))
def test_pieces_end_in_their_order_and_inside_the_sound_whatever_the_word_times(ends: list[float], count: int) -> None:
    spoken, emitted = utterance()
    text = "We sell kettles. " * count
    words = tuple(Word(word, end) for word, end in zip(text.split(), ends, strict=False))
    spoken.end(msgspec.structs.replace(heard(text, 4.0), words=words), 6.5)
    times = [time for source in emitted for time in (source.stream_start, source.stream_end)]
    assert times == sorted(times)
    assert (times[0], times[-1]) == (50.0, 54.0)


def test_an_answer_to_less_sound_than_the_last_is_ignored() -> None:
    spoken, emitted = utterance()
    spoken.hear(heard("Good morning to", 2.0))
    spoken.hear(heard("Good", 1.0))
    assert [source.text for source in emitted] == ["Good morning"]


def test_without_a_final_what_was_heard_last_stays() -> None:
    spoken, emitted = utterance()
    spoken.hear(heard("Good morning"))
    spoken.end(None, 6.5)
    assert brief(emitted)[-1] == ("s3.0", 1, True, "Good morning")


def test_a_partial_that_comes_to_nothing_is_taken_back() -> None:
    spoken, emitted = utterance()
    spoken.hear(heard("Thanks for"))
    spoken.retract(utterance_sound(2.0, stream_start=50.0), 6.5, 7.5)
    assert brief(emitted)[-1] == ("s3.0", 1, True, "")
    spoken.hear(heard("Thanks for", 3.0))
    assert len(emitted) == 2


def test_nothing_is_taken_back_where_nothing_was_shown() -> None:
    spoken, emitted = utterance()
    spoken.retract(utterance_sound(), 6.5, 7.5)
    spoken.end(None, 7.0)
    assert emitted == []
