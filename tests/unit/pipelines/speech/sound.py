"""Sound, a voice activity model and a recogniser for tests: loud is speech, and text is what the test says."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engines.asr.types import Recognition, RecognitionRequest
from engines.audio import AudioChunk, Samples, samples_in, seconds
from engines.batching.ticket import Done, Outcome, Ticket
from engines.languages import LanguageTag
from engines.vad.types import WINDOW_SAMPLES, VADRow, VADState
from pipelines.speech.endpointing import UtteranceSound

ENGLISH = LanguageTag("en")
_TONE = 0.1 * np.sin(np.arange(16_000) * 0.3).astype(np.float32)


def loud(duration_s: float) -> Samples:
    return np.resize(_TONE, samples_in(duration_s))


def silent(duration_s: float) -> Samples:
    return np.zeros(samples_in(duration_s), np.float32)


def utterance_sound(voiced_s: float = 1.0, level_db: float = -20.0, stream_start: float = 0.0) -> UtteranceSound:
    return UtteranceSound(
        samples=loud(voiced_s), stream_start=stream_start, voiced_s=voiced_s, level_db=level_db, received_at=0.0
    )


def recognition(
    text: str,
    language: LanguageTag = ENGLISH,
    *,
    language_probability: float = 0.9,
    no_speech_probability: float = 0.05,
    mean_log_probability: float = -0.2,
) -> Recognition:
    return Recognition(
        text=text,
        language=language,
        language_probability=language_probability,
        no_speech_probability=no_speech_probability,
        mean_log_probability=mean_log_probability,
    )


class LoudnessVAD:
    """Calls every loud window speech."""

    def initial_state(self) -> VADState:
        nothing = np.zeros(0, np.float32)
        return VADState(hidden=nothing, cell=nothing, context=nothing)

    def speech(self, rows: Sequence[VADRow]) -> list[tuple[NDArray[np.float32], VADState]]:
        return [(self.probabilities(row.samples), row.state) for row in rows]

    @staticmethod
    def probabilities(samples: Samples) -> NDArray[np.float32]:
        levels = np.abs(samples.reshape(-1, WINDOW_SAMPLES)).max(axis=1)
        return np.where(levels > 0.01, 0.95, 0.02).astype(np.float32)


class ScriptedRecogniser:
    """Answers what `says` tells of a request, after `takes_s`; keeps the last tickets and lengths."""

    def __init__(self, says: Callable[[RecognitionRequest], Outcome[Recognition] | str], takes_s: float = 0.2) -> None:
        self.says = says
        self.takes_s = takes_s
        self.asked: list[tuple[float, float, Ticket]] = []  # when, how many seconds of sound, ticket
        self.most_at_once = 0
        self._at_once = 0

    async def submit(self, row: RecognitionRequest, ticket: Ticket) -> Outcome[Recognition]:
        self.asked = [*self.asked[-99:], (asyncio.get_running_loop().time(), seconds(len(row.samples)), ticket)]
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await asyncio.sleep(self.takes_s)
        finally:
            self._at_once -= 1
        answer = self.says(row)
        if not isinstance(answer, str):
            return answer
        result = recognition(answer, row.language or ENGLISH)
        return Done(result=result, queued_s=0.0, infer_s=self.takes_s, batch_rows=1)


class Broadcaster:
    """Sends chunks in step with the loop's clock."""

    def __init__(self, push: Callable[[AudioChunk], None], chunk_s: float = 0.1) -> None:
        self._push = push
        self._chunk_s = chunk_s
        self.stream_time = 0.0

    async def send(self, samples: Samples, *, gap: bool = False) -> None:
        step = samples_in(self._chunk_s)
        for at in range(0, len(samples), step):
            part = samples[at : at + step]
            await asyncio.sleep(seconds(len(part)))
            now = asyncio.get_running_loop().time()
            self._push(AudioChunk(stream_start=self.stream_time, samples=part, received_at=now, gap=gap and at == 0))
            self.stream_time += seconds(len(part))
