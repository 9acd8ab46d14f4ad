"""Voice activity windows: what goes in, what the caller keeps between calls."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.audio import Samples

WINDOW_SAMPLES = 512  # 32 ms at 16 kHz, the only size Silero takes


@dataclass(frozen=True, slots=True, eq=False)
class VADState:
    """What the model remembers of one stream; held by the caller, replaced on every call."""

    hidden: NDArray[np.float32]
    cell: NDArray[np.float32]
    context: Samples


@dataclass(frozen=True, slots=True, eq=False)
class VADRow:
    """Consecutive windows of one stream: samples of shape (n * WINDOW_SAMPLES,), and the state before them."""

    samples: Samples
    state: VADState
