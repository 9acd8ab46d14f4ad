"""The voice activity model: streams window by window, silence, bad input."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines.audio import Samples
from engines.errors import BadModelFile
from engines.vad.silero import SileroVAD
from engines.vad.types import WINDOW_SAMPLES, VADRow

pytestmark = pytest.mark.unit

VAD = SileroVAD()
WINDOWS = 60


def sound(seed: int) -> Samples:
    """Bursts of a buzzing tone: probabilities of all sizes."""
    random = np.random.default_rng(seed)
    at = np.arange(WINDOWS * WINDOW_SAMPLES) / 16_000
    pitch = np.cumsum(random.uniform(0.6, 1.4, len(at))) * 2 * np.pi * 140 / 16_000
    buzz = sum(np.sin(k * pitch) / k for k in range(1, 20))
    return (0.2 * buzz * (np.sin(2 * np.pi * 3 * at) > 0)).astype(np.float32)


def listen(samples: Samples, cuts: list[int]) -> NDArray[np.float32]:
    """Probabilities of a stream given in pieces that end after so many windows."""
    state, heard = VAD.initial_state(), []
    for piece in np.split(samples, [cut * WINDOW_SAMPLES for cut in cuts]):
        ((probabilities, state),) = VAD.speech([VADRow(piece, state)])
        heard.append(probabilities)
    return np.concatenate(heard)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1_000), st.lists(st.integers(0, WINDOWS), max_size=8).map(sorted))
def test_a_stream_in_pieces_is_heard_as_in_one(seed: int, cuts: list[int]) -> None:
    samples = sound(seed)
    np.testing.assert_allclose(listen(samples, cuts), listen(samples, []), atol=1e-5)


def test_every_window_has_a_probability() -> None:
    probabilities = listen(sound(1), list(range(1, WINDOWS)))
    assert probabilities.shape == (WINDOWS,)
    assert (probabilities >= 0).all()
    assert (probabilities <= 1).all()
    assert np.ptp(probabilities) > 0.1


def test_silence_is_no_speech() -> None:
    assert listen(np.zeros(31 * WINDOW_SAMPLES, np.float32), []).max() < 0.1


def test_rows_of_several_streams_do_not_hear_each_other() -> None:
    state = VAD.initial_state()
    one, other = sound(1), sound(2)
    together = VAD.speech([VADRow(one, state), VADRow(other, state)])
    for (probabilities, _), samples in zip(together, (one, other), strict=True):
        np.testing.assert_array_equal(probabilities, listen(samples, []))


def test_a_row_leaves_the_state_it_was_given_as_it_was() -> None:
    state = VAD.initial_state()
    VAD.speech([VADRow(sound(1), state)])
    assert not state.hidden.any()
    assert not state.cell.any()
    assert not state.context.any()


def test_no_samples_leave_the_stream_where_it_was() -> None:
    state = VAD.initial_state()
    ((probabilities, after),) = VAD.speech([VADRow(np.empty(0, np.float32), state)])
    assert probabilities.shape == (0,)
    assert after is state


def test_no_rows_have_no_answers() -> None:
    assert VAD.speech([]) == []


@pytest.mark.parametrize("shape", [(WINDOW_SAMPLES - 1,), (WINDOW_SAMPLES + 1,), (2, WINDOW_SAMPLES)])
def test_samples_that_are_not_whole_windows_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="windows of 512"):
        VAD.speech([VADRow(np.zeros(shape, np.float32), VAD.initial_state())])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_samples_that_are_not_finite_count_as_silence_and_spoil_nothing_after_them(bad: float) -> None:
    samples = np.zeros(4 * WINDOW_SAMPLES, np.float32)
    expected = listen(samples, [])
    samples[: 2 * WINDOW_SAMPLES] = bad
    np.testing.assert_array_equal(listen(samples, [1, 2, 3]), expected)


def test_a_missing_or_damaged_model_is_a_bad_model_file(tmp_path: Path) -> None:
    damaged = tmp_path / "vad.onnx"
    damaged.write_bytes(b"not a model")
    for file in (damaged, tmp_path / "missing.onnx"):
        with pytest.raises(BadModelFile) as fault:
            SileroVAD(file)
        assert "faster-whisper" in fault.value.hint
