"""A constant offset of a stream's sound → taken away, as it hides quiet speech and feigns loudness. Sync."""

from dataclasses import replace

import numpy as np

from engines.audio import seconds
from engines.vad.types import WINDOW_SAMPLES
from pipelines.speech.windows import Stretch

_SETTLES_S = 0.5  # far longer than a period of the lowest voice
_SHARE = seconds(WINDOW_SAMPLES) / _SETTLES_S
_RAMP = np.arange(WINDOW_SAMPLES) / WINDOW_SAMPLES


class Offset:
    """Follows the mean of one stream's windows. Keeps one number between calls."""

    def __init__(self) -> None:
        self._mean: float | None = None

    def removed(self, stretch: Stretch) -> Stretch:
        """The stretch without its offset; how it is cut into stretches makes no difference."""
        windows = stretch.samples.reshape(-1, WINDOW_SAMPLES)
        found = windows.mean(axis=1, dtype=np.float64)
        mean = float(found[0]) if stretch.gap or self._mean is None else self._mean
        means = [mean]
        for value in found:
            mean += _SHARE * (float(value) - mean)
            means.append(mean)
        self._mean = mean
        offsets = np.array(means[:-1])[:, np.newaxis] + np.diff(means)[:, np.newaxis] * _RAMP
        return replace(stretch, samples=(windows - offsets).astype(np.float32).reshape(-1))
