"""Audio as it travels: float32 mono at 16 kHz with its place in the stream."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 16_000

Samples = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioChunk:
    """A stretch of a broadcaster's sound.

    `stream_start` is in seconds of the broadcaster's clock, `received_at` in seconds of the loop's clock;
    `gap` is True where something was lost just before it.
    """

    stream_start: float
    samples: Samples
    received_at: float
    gap: bool = False

    @property
    def stream_end(self) -> float:
        """Where the chunk ends, in seconds of the broadcaster's clock."""
        return self.stream_start + seconds(len(self.samples))


def seconds(samples: int) -> float:
    """How long so many samples last."""
    return samples / SAMPLE_RATE_HZ


def samples_in(duration_s: float) -> int:
    """How many samples a duration holds, rounded to the nearest."""
    return round(duration_s * SAMPLE_RATE_HZ)
