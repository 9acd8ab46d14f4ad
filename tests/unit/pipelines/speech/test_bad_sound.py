"""The speech path under sound that is broken, late, doubled or missing. Loudness stands for voice activity."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.settings import SettingsError, load
from engines.asr.types import RecognitionRequest
from engines.audio import AudioChunk, Samples, samples_in, seconds
from engines.vad.types import WINDOW_SAMPLES
from pipelines.speech.offset import Offset
from pipelines.speech.pipeline import SpeechParts, SpeechPath
from pipelines.speech.settings import SpeechSettings
from pipelines.speech.windows import Stretch, Windows
from pipelines.types import RoomSettings, SourceText
from tests.support.virtual_time import run_virtual
from tests.unit.pipelines.speech.sound import ENGLISH, Broadcaster, LoudnessVAD, ScriptedRecogniser, loud, silent
from tests.unit.pipelines.speech.test_pipeline import held_bytes

pytestmark = pytest.mark.unit

WORD_WINDOWS = 13
LETTERS = "bdfghklmnprstvz"
WORDS = [f"{a}a{b}o{LETTERS[(7 * n) % 15]}" for n, (a, b) in enumerate(itertools.product(LETTERS, LETTERS))]


def said(first: int, count: int) -> Samples:
    """Sound of so many words, each told from the others by its level: what is heard twice is seen."""
    levels = 0.05 + 0.002 * np.arange(first, first + count)
    signs = np.resize([1.0, -1.0], WORD_WINDOWS * WINDOW_SAMPLES)
    return np.outer(levels, signs).astype(np.float32).reshape(-1)


def what_was_said(row: RecognitionRequest) -> str:
    """The words that a sound holds more than half of."""
    levels = np.abs(row.samples[WINDOW_SAMPLES // 2 :: WINDOW_SAMPLES])
    numbers, counts = np.unique(np.round((levels[levels > 0.01] - 0.05) / 0.002).astype(int), return_counts=True)
    return " ".join(WORDS[n] for n, count in zip(numbers, counts, strict=True) if count > WORD_WINDOWS // 2)


class Heard:
    """What a speech path gave out while a broadcaster followed a script."""

    def __init__(self, script: Callable[[Broadcaster], Awaitable[None]], *, takes_s: float = 0.2) -> None:
        self.emitted: list[SourceText] = []
        parts = SpeechParts(
            voice=LoudnessVAD(),
            recognise=ScriptedRecogniser(what_was_said, takes_s),
            settings=SpeechSettings(),
            to_script=lambda text, language: text,
            count=lambda cause: None,
        )

        async def run() -> None:
            self.path = SpeechPath(RoomSettings(room="r", sources=(ENGLISH,)), parts, self.emitted.append)
            async with asyncio.TaskGroup() as tasks:
                running = tasks.create_task(self.path.run())
                await script(Broadcaster(self.path.push))
                await self.path.finish()
                running.cancel()

        run_virtual(run())

    @property
    def finals(self) -> list[SourceText]:
        return [source for source in self.emitted if source.final]

    @property
    def words(self) -> list[int]:
        return [WORDS.index(word) for source in self.finals for word in source.text.split()]

    @property
    def utterances(self) -> int:
        return len({source.id.split(".")[0] for source in self.emitted})

    def assert_orderly(self) -> None:
        """Each id ends once and is silent then; time runs on within an utterance; no word comes twice or too soon."""
        for piece in dict.fromkeys(source.id for source in self.emitted):
            versions = [source for source in self.emitted if source.id == piece]
            assert [version.revision for version in versions] == list(range(len(versions)))
            assert [version.final for version in versions].index(True) == len(versions) - 1
        for source, after in pairwise(self.finals):
            assert source.stream_start <= source.stream_end
            if source.id.split(".")[0] == after.id.split(".")[0]:
                assert source.stream_end <= after.stream_start
        assert self.words == sorted(set(self.words))


@pytest.mark.parametrize("takes_s", [0.05, 0.2, 0.6])
@pytest.mark.parametrize("pause_s", [10.0, 300.0])
def test_speak_15_s_pause_speak_shows_every_word_once(pause_s: float, takes_s: float) -> None:
    async def speak(broadcaster: Broadcaster) -> None:
        for first in (0, 37):
            await broadcaster.send(np.concatenate((said(first, 37), silent(pause_s))))

    heard = Heard(speak, takes_s=takes_s)
    heard.assert_orderly()
    assert heard.words == list(range(74))
    ends = [source.stream_end for source in heard.finals]
    assert ends == sorted(ends)


@pytest.mark.parametrize("away_s", [0.3, 5.0, 3600.0])
@pytest.mark.parametrize("back_at_s", [0.0, 3.328])
def test_a_broadcaster_that_returns_is_heard_anew_whatever_time_it_says(away_s: float, back_at_s: float) -> None:
    async def vanish(broadcaster: Broadcaster) -> None:
        await broadcaster.send(said(0, 8)[:-2000])
        await asyncio.sleep(away_s)
        broadcaster.stream_time = back_at_s
        await broadcaster.send(np.concatenate((said(8, 8), silent(1.0))), gap=True)

    heard = Heard(vanish)
    heard.assert_orderly()
    assert heard.words == list(range(16))
    assert heard.utterances == 2
    assert heard.finals[-1].stream_end == pytest.approx(back_at_s + 3.5, abs=0.1)


steps = st.lists(
    st.tuples(
        st.sampled_from(["speak", "silence", "broken", "nothing", "gap", "jump", "back", "jitter", "stall"]),
        st.integers(1, 30),
        st.sampled_from([0.001, 0.0373, 0.1, 0.9]),
    ),
    max_size=12,
)


@settings(max_examples=30, deadline=None)
@given(steps)
def test_whatever_comes_each_piece_ends_once_and_no_word_is_shown_twice(script: list[tuple[str, int, float]]) -> None:
    async def play(broadcaster: Broadcaster) -> None:
        broadcaster.stream_time, word = 7200.0, 0
        for what, count, chunk_s in script:
            later = Broadcaster(broadcaster._push, max(chunk_s, count / 100))
            later.stream_time = broadcaster.stream_time
            match what:
                case "speak":
                    await later.send(said(word, min(count, len(WORDS) - word)))
                    word = min(word + count, len(WORDS))
                case "silence":
                    await later.send(silent(count / 10))
                case "broken":
                    await later.send(np.resize(np.array([np.nan, np.inf, -np.inf], np.float32), count * 500))
                case "nothing":
                    now = asyncio.get_running_loop().time()
                    later._push(AudioChunk(stream_start=9e9, samples=silent(0), received_at=now))
                case "gap":
                    await later.send(silent(chunk_s), gap=True)
                case "stall":
                    await asyncio.sleep(count / 5)
            later.stream_time += {"jump": 3600.0, "back": -3600.0, "jitter": (count - 15) / 70}.get(what, 0.0)
            broadcaster.stream_time = later.stream_time
            assert held_bytes(later._push.__self__, set()) < 3_000_000

    Heard(play).assert_orderly()


@given(st.lists(st.tuples(st.integers(0, 3000), st.floats(-0.24, 0.24)), max_size=30))
def test_time_never_runs_back_but_by_a_gap(pushes: list[tuple[int, float]]) -> None:
    windows, at, end = Windows(), 100.0, 0.0
    for size, jitter_s in pushes:
        sound = AudioChunk(stream_start=at, samples=np.zeros(size, np.float32), received_at=0.0)
        at = sound.stream_end + jitter_s
        stretch = windows.push(sound)
        assert len(windows._rest) < WINDOW_SAMPLES
        if stretch is not None:
            assert stretch.gap or stretch.stream_start >= end - 0.01 * seconds(size + WINDOW_SAMPLES)
            end = stretch.stream_start + seconds(len(stretch.samples))


def stretch_of(samples: Samples, *, gap: bool = False) -> Stretch:
    return Stretch(samples=samples, stream_start=0.0, received_at=0.0, gap=gap)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=12), st.floats(-1.0, 1.0))
def test_an_offset_goes_however_the_sound_is_cut_and_what_has_none_stays(cuts: list[int], level: float) -> None:
    sound = np.resize(loud(1.0), sum(cuts) * WINDOW_SAMPLES)
    offset, places = Offset(), np.cumsum(cuts)[:-1] * WINDOW_SAMPLES
    parts = [offset.removed(stretch_of(part + np.float32(level))).samples for part in np.split(sound, places)]
    whole = Offset().removed(stretch_of(sound + np.float32(level))).samples
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    np.testing.assert_allclose(whole, sound, atol=0.003)
    assert not Offset().removed(stretch_of(silent(1.024))).samples.any()


def test_an_offset_that_appears_is_gone_after_some_seconds_and_at_once_after_a_gap() -> None:
    offset, level = Offset(), np.full(samples_in(3.2), 0.3, np.float32)
    offset.removed(stretch_of(silent(1.024)))
    assert abs(offset.removed(stretch_of(level)).samples[-1]) < 0.001
    assert np.abs(offset.removed(stretch_of(-level, gap=True)).samples).max() < 1e-6


BOUNDS = {
    "gates": {
        "min_voiced_s": (-0.1, 2.1),
        "min_level_db": (-121.0, 1.0),
        "no_speech": (-0.1, 1.1),
        "likely": (-21.0, 0.1),
        "unlikely": (-21.0, 0.1),
        "doubtful": (-21.0, 0.1),
        "compression": (1.0, 101.0),
        "letters_per_s": (0.0, 1001.0),
        "repeated": (0.0, 1.1),
    },
    "segmenter": {
        "lines": (0, 11),
        "full_width_per_line": (3, 201),
        "latin_per_line": (7, 401),
        "shortest_sentence": (-0.1, 1.1),
    },
    "language": {
        "long_s": (0.0, 31.0),
        "long_probability": (-0.1, 1.1),
        "short_probability": (-0.1, 1.1),
        "decide_s": (-0.1, 31.0),
    },
}
BEYOND = [
    (section, name, value)
    for section, fields in BOUNDS.items()
    for name, beyond in fields.items()
    for value in (*beyond, "nan", "inf", "-inf")
]


@pytest.mark.parametrize(("section", "name", "value"), BEYOND)
def test_the_settings_file_refuses_values_beyond_their_bounds(
    section: str, name: str, value: float | str, tmp_path: Path
) -> None:
    file = tmp_path / "sampan.toml"
    file.write_text(f"[speech.{section}]\n{name} = {value}\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=rf"speech\.{section}\.{name} = "):
        load(file, {}, {})


def test_every_field_of_these_sections_has_bounds() -> None:
    for section, fields in BOUNDS.items():
        assert set(fields) == set(getattr(SpeechSettings(), section).__struct_fields__)
