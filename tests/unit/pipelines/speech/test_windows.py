from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.audio import AudioChunk, Samples, seconds
from engines.vad.types import WINDOW_SAMPLES
from pipelines.speech.windows import Windows

pytestmark = pytest.mark.unit


def chunk(samples: NDArray[Any], start: float, *, gap: bool = False) -> AudioChunk:
    return AudioChunk(stream_start=start, samples=samples.astype(np.float32), received_at=start, gap=gap)


@given(st.lists(st.integers(0, 3000), max_size=20))
def test_no_sample_is_lost_or_doubled_whatever_the_size_of_the_chunks(sizes: list[int]) -> None:
    total = sum(sizes)
    sound = np.linspace(-1, 1, total, dtype=np.float32)
    windows, at = Windows(), 0
    found: list[Samples] = []
    for size in sizes:
        stretch = windows.push(chunk(sound[at : at + size], 5.0 + seconds(at)))
        at += size
        if stretch is not None:
            assert stretch.stream_start == pytest.approx(5.0 + seconds(sum(len(part) for part in found)))
            assert not stretch.gap
            found.append(stretch.samples)
    whole = total // WINDOW_SAMPLES * WINDOW_SAMPLES
    assert np.array_equal(np.concatenate([*found, np.zeros(0, np.float32)]), sound[:whole])


@pytest.mark.parametrize("jump_s", [3600.0, -3600.0, 1.0])
def test_a_jump_of_the_stream_time_is_a_gap_and_the_new_time_holds(jump_s: float) -> None:
    windows = Windows()
    windows.push(chunk(np.ones(700), 5000.0))
    stretch = windows.push(chunk(np.ones(1024), 5000.0 + jump_s))
    assert stretch is not None
    assert stretch.gap
    assert stretch.stream_start == 5000.0 + jump_s


def test_a_gap_before_an_unfinished_window_is_told_with_the_next_whole_one() -> None:
    windows = Windows()
    assert windows.push(chunk(np.ones(100), 0.0, gap=True)) is None
    stretch = windows.push(chunk(np.ones(600), seconds(100)))
    assert stretch is not None
    assert stretch.gap


def test_jitter_of_the_stream_time_is_no_gap() -> None:
    windows = Windows()
    windows.push(chunk(np.ones(512), 0.0))
    stretch = windows.push(chunk(np.ones(512), 0.1))
    assert stretch is not None
    assert not stretch.gap


def test_samples_that_are_no_numbers_or_too_loud_are_made_harmless() -> None:
    stretch = Windows().push(chunk(np.array([np.nan, np.inf, -np.inf, 7.0] * 128), 0.0))
    assert stretch is not None
    assert stretch.samples[:4].tolist() == [0.0, 0.0, 0.0, 1.0]
