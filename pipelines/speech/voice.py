"""The voice activity of one stream: keeps the model's state between calls."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engines.vad.types import VADRow, VADState
from pipelines.speech.windows import Stretch


class VoiceActivity(Protocol):
    """The voice activity model, as the speech path sees it. A call takes a millisecond or two a second of sound."""

    def initial_state(self) -> VADState:
        """What a stream starts with."""

    def speech(self, rows: Sequence[VADRow]) -> Sequence[tuple[NDArray[np.float32], VADState]]:
        """For each row one probability of speech a window, and the state to go on with."""


class Voice:
    """Hears where one stream has speech."""

    def __init__(self, model: VoiceActivity) -> None:
        self._model = model
        self._state = model.initial_state()

    def probabilities(self, stretch: Stretch) -> NDArray[np.float32]:
        """One probability of speech for each window of a stretch."""
        if stretch.gap:
            self._state = self._model.initial_state()
        [(probabilities, self._state)] = self._model.speech([VADRow(samples=stretch.samples, state=self._state)])
        return probabilities
