"""SenseVoice and zipformer transducers on sherpa-onnx as an engine."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import numpy as np

from engines.asr.sherpa_model import SherpaModel, SherpaSettings, load_sherpa
from engines.asr.types import Recognition, RecognitionRequest
from engines.audio import samples_in, seconds
from engines.cores import Cores
from engines.engine import Capacity, RowFailure
from engines.errors import EngineFault, OutOfMemory, Unavailable, place_of
from engines.languages import LanguageTag

__all__ = ["SherpaEngine", "SherpaSettings"]

_SHORTEST_S = 0.2  # a zipformer's first layers need more than 90 ms
_LONGEST_S = 30.0
_STEP_S = 5.0

Hear: TypeAlias = Callable[[Sequence[RecognitionRequest]], Sequence[Recognition | RowFailure]]


class SherpaEngine:
    """Recognises utterances in `languages` with the model in `folder`: SenseVoice or a transducer, by its files.

    The model is loaded by `warm` or the first `run`. A row of over 30 s, with samples that are not finite or in
    none of `languages` fails alone; one under 0.2 s is answered with no text. The beam is always 1.

    Of the numbers in an answer: `no_speech_probability` is 1 without text and 0 with it. `mean_log_probability` is
    0 with SenseVoice, which tells none, and the mean of the tokens with a transducer. `language_probability` is 1
    where the row names the language; else with SenseVoice 0.9, or 0 where it heard none of the candidates, and
    with a transducer, which tells no language, 0.
    """

    name = "sherpa-onnx"

    def __init__(self, folder: Path, languages: Sequence[LanguageTag], settings: SherpaSettings, cores: Cores) -> None:
        if not languages:
            raise ValueError("a recogniser needs at least one language")
        self.version = folder.name
        self.capacity = Capacity(max_batch=settings.max_batch, concurrency=settings.concurrency)
        self._folder = folder
        self._languages = tuple(languages)
        self._settings = settings
        self._cores = cores
        self._executor = ThreadPoolExecutor(settings.concurrency, thread_name_prefix="sherpa")
        self._lock = threading.Lock()
        self._model: SherpaModel | None = None
        self._calls: set[asyncio.Future[list[Recognition | RowFailure]]] = set()
        self._closed = False

    def group(self, row: RecognitionRequest) -> int:
        """Rows of one call are padded to the longest, so they share their length in steps of 5 s."""
        return int(seconds(len(row.samples)) // _STEP_S)

    async def run(self, rows: Sequence[RecognitionRequest]) -> Sequence[Recognition | RowFailure]:
        """Answer every row. Raises BadModelFile, OutOfMemory, EngineFault; Unavailable once closed.

        A cancelled call still holds its thread until the model is done with it.
        """
        if self._closed:
            raise Unavailable(f"{self.version} is closed", hint="Start the node again to use it.")
        call = asyncio.get_running_loop().run_in_executor(self._executor, self._answer, rows)
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return await call

    async def warm(self) -> None:
        """Load the model and have it listen to a second of silence. Raises as `run` does."""
        await self.run([RecognitionRequest(samples=np.zeros(samples_in(1.0), np.float32))])

    async def close(self) -> None:
        """Wait for the calls under way, then free the model and the threads. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._calls:
                await asyncio.wait(self._calls)
        finally:
            self._model = None
            self._executor.shutdown(wait=False)

    def _answer(self, rows: Sequence[RecognitionRequest]) -> list[Recognition | RowFailure]:
        try:
            model = self._loaded()
            with self._cores.claim(self._settings.threads):
                return recognise(model.hear, rows, self._languages)
        except (MemoryError, RuntimeError, LookupError) as error:
            raise _fault(error) from error

    def _loaded(self) -> SherpaModel:
        with self._lock:
            if self._model is None:
                self._model = load_sherpa(self._folder, self._languages, self._settings)
            return self._model


def recognise(
    hear: Hear, rows: Sequence[RecognitionRequest], languages: Sequence[LanguageTag]
) -> list[Recognition | RowFailure]:
    """Answer every row, in order; those that can't or needn't be heard are kept from the model."""
    answers = [_unheard(row, languages) for row in rows]
    left = [n for n, answer in enumerate(answers) if answer is None]
    if left:
        for n, answer in zip(left, hear([rows[n] for n in left]), strict=True):
            answers[n] = answer
    return [answer for answer in answers if answer is not None]


def _unheard(row: RecognitionRequest, languages: Sequence[LanguageTag]) -> Recognition | RowFailure | None:
    """The answer to a row that needn't or can't be heard; None for all others."""
    duration_s = seconds(len(row.samples))
    if duration_s > _LONGEST_S:
        return RowFailure(f"an utterance of {duration_s:.1f} s; at most {_LONGEST_S:g} s can be recognised at once")
    if not np.isfinite(row.samples).all():
        return RowFailure("samples that are not finite")
    if duration_s >= _SHORTEST_S:
        return None
    return Recognition(
        text="",
        language=row.language or next(iter(row.candidates or languages)),
        language_probability=1.0 if row.language else 0.0,
        no_speech_probability=1.0,
        mean_log_probability=0.0,
    )


def _fault(error: Exception) -> EngineFault:
    told = str(error).lower()
    if isinstance(error, MemoryError) or "out of memory" in told or "failed to allocate" in told:
        return OutOfMemory(
            "sherpa-onnx ran out of memory", hint="Lower `concurrency` or `max_batch`, or take a smaller model."
        )
    return EngineFault(f"sherpa-onnx failed: {place_of(error)}", hint="Run `sampan models verify`.")
