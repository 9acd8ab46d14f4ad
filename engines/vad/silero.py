"""Silero's voice activity model on ONNX Runtime: 0.05 ms a window, on the caller's thread."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from engines.audio import Samples
from engines.errors import BadModelFile
from engines.vad.types import WINDOW_SAMPLES, VADRow, VADState

_CONTEXT_SAMPLES = 64
_STATE_SHAPE = (1, 1, 128)


class SileroVAD:
    """Speech probability of 32 ms windows. Holds no stream's state; may be called from one thread at a time.

    Takes the model file that faster-whisper carries, or another of the same inputs. Raises BadModelFile.
    """

    def __init__(self, file: Path | None = None) -> None:
        import onnxruntime

        file = _carried_file() if file is None else file
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 4  # what fails is raised
        try:
            self._session = onnxruntime.InferenceSession(
                file.read_bytes(), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # ONNX Runtime's own exceptions share no narrower base
            raise BadModelFile(
                f"{file} is no voice activity model: {error}", hint="Install the faster-whisper package again."
            ) from error

    def initial_state(self) -> VADState:
        """What the model remembers of a stream that begins."""
        nothing = np.zeros(_STATE_SHAPE, np.float32)
        return VADState(hidden=nothing, cell=nothing, context=np.zeros(_CONTEXT_SAMPLES, np.float32))

    def speech(self, rows: Sequence[VADRow]) -> list[tuple[NDArray[np.float32], VADState]]:
        """For each row: the speech probability of its n windows, shape (n,), and the state after them.

        Samples that are not finite count as silence. Raises ValueError for samples that are not whole windows.
        """
        # The model's first axis is time, not rows: it carries its state along it, so rows can't share a call.
        return [self._listen(row.samples, row.state) for row in rows]

    def _listen(self, samples: Samples, state: VADState) -> tuple[NDArray[np.float32], VADState]:
        if samples.ndim != 1 or len(samples) % WINDOW_SAMPLES:
            raise ValueError(f"samples of shape {samples.shape} are not windows of {WINDOW_SAMPLES}")
        if not len(samples):
            return np.empty(0, np.float32), state
        sound = np.nan_to_num(np.concatenate([state.context, samples]), nan=0.0, posinf=0.0, neginf=0.0)
        windows = sliding_window_view(sound, _CONTEXT_SAMPLES + WINDOW_SAMPLES)[::WINDOW_SAMPLES]
        probabilities, hidden, cell = self._session.run(
            None, {"input": np.ascontiguousarray(windows), "h": state.hidden, "c": state.cell}
        )
        return probabilities.reshape(-1), VADState(hidden, cell, sound[-_CONTEXT_SAMPLES:].copy())


def _carried_file() -> Path:
    # Found without importing the package, which brings in much that the model doesn't need.
    package = find_spec("faster_whisper")
    if package is None or package.origin is None:
        raise BadModelFile("no voice activity model is installed", hint="Install the faster-whisper package.")
    return Path(package.origin).parent / "assets" / "silero_vad_v6.onnx"
