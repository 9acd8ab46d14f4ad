"""Log-mel features of an utterance, as Whisper was trained on them."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from engines.audio import SAMPLE_RATE_HZ, Samples

FRAMES_PER_SECOND = 100
_WINDOW = 400
_HOP = SAMPLE_RATE_HZ // FRAMES_PER_SECOND
_LOUDEST = 1.0
_LEAST_POWER = 1e-10
_RANGE = 8.0  # decades of power kept below the loudest


class LogMel:
    """Whisper's features with `bands` mel bands."""

    def __init__(self, bands: int) -> None:
        from faster_whisper.feature_extractor import FeatureExtractor

        self.bands = bands
        self._filters = FeatureExtractor.get_mel_filters(SAMPLE_RATE_HZ, _WINDOW, bands).astype(np.float32)
        self._window = np.hanning(_WINDOW + 1)[:-1].astype(np.float32)

    def features(self, samples: Samples, context_s: int) -> NDArray[np.float32]:
        """Features of the samples followed by silence up to `context_s` seconds: (bands, 100 * context_s).

        Takes finite samples of 0.1 s or more; what lies beyond full scale is clipped.
        """
        frames = context_s * FRAMES_PER_SECOND
        padded = np.pad(np.clip(samples, -_LOUDEST, _LOUDEST), (_WINDOW // 2, 0), mode="reflect")
        padded = np.pad(padded, (0, _WINDOW))
        # Frames past the last sample hold silence alone: all equal, so they are filled in, not computed.
        heard = min(frames, -(-(len(samples) + _WINDOW // 2) // _HOP))
        windows = sliding_window_view(padded, _WINDOW)[::_HOP][:heard]
        power = np.square(np.abs(np.fft.rfft(windows * self._window)), dtype=np.float32)
        # Not a matrix product: the threads of numpy's BLAS spin for 100 ms after each and take a core with them.
        mel = np.einsum("mf,tf->mt", self._filters, power)
        log = np.log10(np.maximum(mel, _LEAST_POWER))
        floor = max(float(log.max()) - _RANGE, float(np.log10(_LEAST_POWER)))
        features = np.full((self.bands, frames), floor, np.float32)
        np.maximum(log, floor, out=features[:, :heard])
        return (features + np.float32(4.0)) / np.float32(4.0)
