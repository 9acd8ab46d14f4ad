"""Features of an utterance against those of the package that Whisper is usually run with."""

import numpy as np
import pytest
from faster_whisper.feature_extractor import FeatureExtractor
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.asr.whisper_features import LogMel
from engines.audio import SAMPLE_RATE_HZ, Samples, samples_in

pytestmark = pytest.mark.unit

MEL = LogMel(80)


def sound(duration_s: float, level: float, seed: int = 1) -> Samples:
    random = np.random.default_rng(seed)
    samples = level * random.uniform(-1.0, 1.0, samples_in(duration_s))
    return samples.astype(np.float32)


@settings(max_examples=20, deadline=None)
@given(st.integers(1_600, 8 * SAMPLE_RATE_HZ), st.floats(1e-4, 1.0), st.integers(0, 1_000))
def test_features_equal_those_of_samples_padded_with_silence(count: int, level: float, seed: int) -> None:
    samples = sound(8.0, level, seed)[:count]
    padded = np.zeros(12 * SAMPLE_RATE_HZ, np.float32)
    padded[:count] = samples
    expected = FeatureExtractor()(padded)[:, :1200]
    np.testing.assert_allclose(MEL.features(samples, 12), expected, atol=2e-4)


def test_features_fill_the_whole_context() -> None:
    features = MEL.features(sound(30.0, 0.5), 30)
    assert features.shape == (80, 3000)
    assert features.dtype == np.float32
    assert np.isfinite(features).all()


def test_silence_is_the_same_in_every_frame() -> None:
    assert np.unique(MEL.features(np.zeros(1_600, np.float32), 8)).tolist() == [-1.5]


def test_samples_beyond_full_scale_are_clipped() -> None:
    loud = sound(1.0, 1e30)
    np.testing.assert_array_equal(MEL.features(loud, 8), MEL.features(np.clip(loud, -1, 1), 8))
