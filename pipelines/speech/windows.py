"""Chunks of any size → whole voice activity windows with a stream time that is right after every gap."""

from dataclasses import dataclass

import numpy as np

from engines.audio import AudioChunk, Samples, seconds
from engines.vad.types import WINDOW_SAMPLES

_JUMP_S = 0.25  # timestamps off by more than this are another place in the stream, not jitter
_DRIFT = 0.01  # by so much may the stream's clock run faster or slower than its samples


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stretch:
    """Consecutive windows: samples of shape (n * WINDOW_SAMPLES,), n ≥ 1, and where the first one starts.

    `gap` is True where they do not follow the stretch before. `received_at` is in seconds of the loop's clock.
    """

    samples: Samples
    stream_start: float
    received_at: float
    gap: bool


class Windows:
    """Cuts the chunks of one stream. Keeps less than one window between calls."""

    def __init__(self) -> None:
        self._rest = np.zeros(0, np.float32)
        self._end: float | None = None
        self._gap = False

    def push(self, chunk: AudioChunk) -> Stretch | None:
        """The whole windows that a chunk completes; None where it completes none.

        Samples that are no number become silence, those beyond ±1 are clipped. Time is counted by the samples and
        follows the timestamps slowly: jitter never turns it back, and jitter that adds up is a jump.
        """
        start = self._place(chunk) - seconds(len(self._rest))
        sound = np.nan_to_num(chunk.samples.astype(np.float32, copy=False), posinf=0.0, neginf=0.0).clip(-1.0, 1.0)
        samples = np.concatenate((self._rest, sound))
        whole = len(samples) // WINDOW_SAMPLES * WINDOW_SAMPLES
        self._rest, self._end = samples[whole:].copy(), start + seconds(len(samples))
        if not whole:
            return None
        gap, self._gap = self._gap, False
        return Stretch(samples=samples[:whole], stream_start=start, received_at=chunk.received_at, gap=gap)

    def _place(self, chunk: AudioChunk) -> float:
        """Where a chunk starts; after a gap or a jump it follows nothing."""
        expected = chunk.stream_start if self._end is None else self._end
        off = chunk.stream_start - expected
        if chunk.gap or abs(off) > _JUMP_S:
            self._rest, self._gap = self._rest[:0], True
            return chunk.stream_start
        most = _DRIFT * seconds(len(chunk.samples))
        return expected + max(-most, min(most, off))
