import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.audio import Samples, seconds
from engines.vad.types import WINDOW_SAMPLES
from pipelines.speech.endpointing import (
    Closed,
    EndpointEvent,
    Endpointing,
    EndpointingSettings,
    Opened,
    Paused,
    Resumed,
)
from pipelines.speech.windows import Stretch
from tests.unit.pipelines.speech.sound import LoudnessVAD, loud, silent

pytestmark = pytest.mark.unit

WINDOW_S = seconds(WINDOW_SAMPLES)


def feed(endpointing: Endpointing, samples: Samples, start: float = 0.0, *, gap: bool = False) -> list[EndpointEvent]:
    samples = samples[: len(samples) // WINDOW_SAMPLES * WINDOW_SAMPLES]
    stretch = Stretch(samples=samples, stream_start=start, received_at=start, gap=gap)
    return endpointing.push(stretch, LoudnessVAD.probabilities(samples))


def kinds(events: list[EndpointEvent]) -> list[type[EndpointEvent]]:
    return [type(event) for event in events]


def test_speech_opens_pauses_and_closes_an_utterance_with_its_pre_roll() -> None:
    sound = np.concatenate((silent(1.024), loud(2.048), silent(1.024)))
    events = feed(Endpointing(EndpointingSettings()), sound, 100.0)
    assert kinds(events) == [Opened, Paused, Closed]
    closed = events[-1]
    assert isinstance(closed, Closed)
    assert closed.sound.stream_start == pytest.approx(101.024 - 0.2, abs=WINDOW_S)
    assert closed.sound.stream_end == pytest.approx(103.072 + 0.2, abs=WINDOW_S)
    assert closed.sound.voiced_s == pytest.approx(2.048)
    assert closed.sound.level_db == pytest.approx(-23, abs=1)


def test_what_is_heard_at_the_pause_is_the_whole_utterance() -> None:
    events = feed(Endpointing(EndpointingSettings()), np.concatenate((loud(1.0), silent(2.0))))
    paused, closed = events[1], events[2]
    assert isinstance(paused, Paused)
    assert isinstance(closed, Closed)
    assert np.array_equal(paused.sound.samples, closed.sound.samples)


def test_a_short_blip_opens_nothing() -> None:
    blips = np.concatenate([np.concatenate((loud(0.16), silent(0.512))) for _ in range(20)])
    assert feed(Endpointing(EndpointingSettings()), blips) == []


def test_speech_after_a_pause_resumes_the_utterance() -> None:
    sound = np.concatenate((loud(0.992), silent(0.32), loud(0.992), silent(0.992)))
    assert kinds(feed(Endpointing(EndpointingSettings()), sound)) == [Opened, Paused, Resumed, Paused, Closed]


def test_a_complete_sentence_closes_sooner() -> None:
    endpointing = Endpointing(EndpointingSettings())
    assert kinds(feed(endpointing, np.concatenate((loud(0.992), silent(0.224))))) == [Opened, Paused]
    endpointing.sentence_complete()
    assert kinds(feed(endpointing, silent(0.032))) == [Closed]


def test_a_complete_sentence_is_forgotten_when_speech_resumes() -> None:
    endpointing = Endpointing(EndpointingSettings())
    feed(endpointing, np.concatenate((loud(0.992), silent(0.224))))
    endpointing.sentence_complete()
    assert kinds(feed(endpointing, np.concatenate((loud(0.32), silent(0.32))))) == [Resumed, Paused]


def test_a_long_utterance_is_cut_at_its_quietest_point_and_goes_on() -> None:
    sound = loud(14.08)
    quiet = slice(round(10.5 * 16_000), round(10.6 * 16_000))
    sound[quiet] *= 0.2
    events = feed(Endpointing(EndpointingSettings()), np.concatenate((sound, silent(1.024))))
    assert kinds(events) == [Opened, Closed, Opened, Paused, Closed]
    first, last = events[1], events[-1]
    assert isinstance(first, Closed)
    assert isinstance(last, Closed)
    assert first.cut
    assert first.sound.stream_end == pytest.approx(10.55, abs=0.06)
    assert last.sound.stream_start == pytest.approx(first.sound.stream_end)


def test_a_short_word_after_a_cut_is_kept() -> None:
    sound = np.concatenate((loud(10.016), silent(0.16), loud(1.6), silent(0.128), loud(0.16), silent(1.6)))
    events = feed(Endpointing(EndpointingSettings(max_utterance_s=12.0)), sound)
    voiced = sum(event.sound.voiced_s for event in events if isinstance(event, Closed))
    assert voiced == pytest.approx(LoudnessVAD.probabilities(sound[: len(sound) // 512 * 512]).round().sum() * WINDOW_S)


@pytest.mark.parametrize("start", [3602.0, -3600.0])
def test_a_gap_closes_what_is_open_and_starts_anew(start: float) -> None:
    endpointing = Endpointing(EndpointingSettings())
    assert kinds(feed(endpointing, loud(2.016))) == [Opened]
    events = feed(endpointing, np.concatenate((loud(1.024), silent(1.024))), start, gap=True)
    assert kinds(events) == [Closed, Opened, Paused, Closed]
    before, after = events[0], events[-1]
    assert isinstance(before, Closed)
    assert isinstance(after, Closed)
    assert before.sound.stream_end == pytest.approx(2.016, abs=WINDOW_S)
    assert after.sound.stream_start == start


probabilities = st.lists(
    st.tuples(st.sampled_from([0.0, 0.4, 0.6, 0.99]), st.integers(1, 120), st.booleans()), min_size=1, max_size=12
)


@settings(max_examples=60, deadline=None)
@given(probabilities, st.integers(1, 50), st.data())
def test_sound_is_never_doubled_events_alternate_and_memory_is_bounded(
    runs: list[tuple[float, int, bool]], size: int, data: st.DataObject
) -> None:
    scores = np.concatenate([np.full(length, probability, np.float32) for probability, length, _ in runs])
    # Each window holds its own number, so that a window given out twice would show.
    numbers = (np.arange(len(scores)) / 10_000).astype(np.float32)
    sound = np.repeat(numbers, WINDOW_SAMPLES)
    chosen = EndpointingSettings(max_utterance_s=4.0)
    endpointing = Endpointing(chosen)
    events: list[EndpointEvent] = []
    for at in range(0, len(scores), size):
        part = slice(at * WINDOW_SAMPLES, min(len(scores), at + size) * WINDOW_SAMPLES)
        stretch = Stretch(samples=sound[part], stream_start=at * WINDOW_S, received_at=0.0, gap=False)
        events += endpointing.push(stretch, scores[at : at + size])
        current = endpointing.current()
        assert current is None or current.duration_s <= 4.0 + WINDOW_S
        if data.draw(st.booleans()):
            endpointing.sentence_complete()
    events += endpointing.flush()
    assert not endpointing.is_open
    open_now = paused = False
    given_out: list[float] = []
    for event in events:
        match event:
            case Opened():
                assert not open_now
                open_now = True
            case Paused():
                assert open_now
                assert not paused
                paused = True
            case Resumed():
                assert paused
                paused = False
            case Closed(closed):
                assert open_now
                open_now = paused = False
                given_out += closed.samples[::WINDOW_SAMPLES].tolist()
                assert closed.duration_s <= 4.0 + WINDOW_S
                assert closed.stream_start == pytest.approx(closed.samples[0] * 10_000 * WINDOW_S, abs=1e-3)
    assert given_out == sorted(set(given_out))
