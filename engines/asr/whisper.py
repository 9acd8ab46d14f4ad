"""Whisper on CTranslate2 as an engine, with no more context than the utterance needs."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias

import numpy as np

from engines.asr.types import Recognition, RecognitionRequest
from engines.asr.whisper_context import LONGEST_S, contexts
from engines.asr.whisper_model import CHECK_DEVICE, Heard, WhisperModel, WhisperSettings, load_whisper
from engines.audio import samples_in, seconds
from engines.cores import Cores
from engines.engine import Capacity, RowFailure
from engines.errors import EngineFault, OutOfMemory, Unavailable, place_of
from engines.languages import LANGUAGES

__all__ = ["WhisperEngine", "WhisperSettings"]

_SHORTEST_S = 0.1

Hear: TypeAlias = Callable[[Sequence[RecognitionRequest], int], Sequence[Heard]]


class WhisperEngine:
    """Recognises utterances with the multilingual Whisper model in `folder`, in CTranslate2's format.

    The model is loaded by `warm` or the first `run`. A row of over 30 s or with samples that are not finite
    fails alone; one under 0.1 s is answered with no text.
    """

    name = "ctranslate2"

    def __init__(self, folder: Path, settings: WhisperSettings, cores: Cores) -> None:
        self.version = f"{folder.name}@{settings.compute_type}"
        self.capacity = Capacity(max_batch=settings.max_batch, concurrency=settings.concurrency)
        self._folder = folder
        self._settings = settings
        self._cores = cores
        self._executor = ThreadPoolExecutor(settings.concurrency, thread_name_prefix="whisper")
        self._lock = threading.Lock()
        self._model: WhisperModel | None = None
        self._calls: set[asyncio.Future[list[Recognition | RowFailure]]] = set()
        self._closed = False

    def group(self, row: RecognitionRequest) -> tuple[int, int]:
        """Rows of one call share the context they are first heard in, in seconds, and the beam."""
        return contexts(seconds(len(row.samples)))[0], row.beam_size

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
                return recognise(model.hear, rows)
        except (MemoryError, RuntimeError) as error:
            raise _fault(error) from error

    def _loaded(self) -> WhisperModel:
        with self._lock:
            if self._model is None:
                self._model = load_whisper(self._folder, self._settings)
            return self._model


def recognise(hear: Hear, rows: Sequence[RecognitionRequest]) -> list[Recognition | RowFailure]:
    """Answer every row; one whose decoding ran away is heard again in longer contexts until it says the same twice."""
    answers = [_unheard(row) for row in rows]
    left = [n for n, answer in enumerate(answers) if answer is None]
    said: dict[int, tuple[int, ...]] = {}
    for context_s in contexts(max((seconds(len(rows[n].samples)) for n in left), default=0.0)):
        if not left:
            break
        heard = dict(zip(left, hear([rows[n] for n in left], context_s), strict=True))
        for n, one in heard.items():
            answers[n] = one.recognition
        left = [n for n, one in heard.items() if one.ran_away and one.tokens != said.get(n)]
        said = {n: heard[n].tokens for n in left}
    return [answer for answer in answers if answer is not None]


def _unheard(row: RecognitionRequest) -> Recognition | RowFailure | None:
    """The answer to a row that needn't or can't be heard; None for all others."""
    duration_s = seconds(len(row.samples))
    if duration_s > LONGEST_S:
        return RowFailure(f"an utterance of {duration_s:.1f} s; at most {LONGEST_S} s can be recognised at once")
    if not np.isfinite(row.samples).all():
        return RowFailure("samples that are not finite")
    if duration_s >= _SHORTEST_S:
        return None
    return Recognition(
        text="",
        language=row.language or next(iter(row.candidates or LANGUAGES)),
        language_probability=1.0 if row.language else 0.0,
        no_speech_probability=1.0,
        mean_log_probability=0.0,
    )


def _fault(error: Exception) -> EngineFault:
    if isinstance(error, MemoryError) or "out of memory" in str(error).lower():
        return OutOfMemory(
            "Whisper ran out of memory", hint="Lower `concurrency` or `max_batch`, or take a smaller model."
        )
    return EngineFault(f"Whisper failed: {place_of(error)}", hint=CHECK_DEVICE)
