"""Voice activity probabilities → utterances: opened, paused, resumed, closed. Sync."""

from collections import deque
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from engines.audio import SAMPLE_RATE_HZ, Samples, seconds
from engines.vad.types import WINDOW_SAMPLES
from pipelines.speech.windows import Stretch

_SILENT_DB = -120.0


class EndpointingSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where an utterance starts and ends."""

    threshold: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    """A window with at least this probability of speech is speech."""
    release_threshold: Annotated[float, Meta(gt=0, lt=1)] = 0.35
    """Inside an utterance, silence begins below this probability."""
    min_speech_s: Annotated[float, Meta(gt=0, le=2)] = 0.25
    """Speech shorter than this opens no utterance."""
    pre_roll_s: Annotated[float, Meta(gt=0, le=1)] = 0.2
    """Sound kept from before the first window of speech."""
    pause_s: Annotated[float, Meta(gt=0, le=1)] = 0.2
    """After so much silence the whole utterance is recognised, in the hope that it has ended."""
    end_silence_s: Annotated[float, Meta(gt=0, le=5)] = 0.6
    """Silence that ends an utterance."""
    sentence_end_silence_s: Annotated[float, Meta(gt=0, le=5)] = 0.25
    """Silence that ends it after a complete sentence."""
    max_utterance_s: Annotated[float, Meta(ge=4, le=28)] = 12.0
    """A longer utterance is cut at its quietest point."""
    cut_search_s: Annotated[float, Meta(gt=0, le=3)] = 2.5
    """How far back from there the quietest point is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UtteranceSound:
    """The sound of an utterance so far: float32 mono 16 kHz samples and their place in the stream.

    `voiced_s` is how much of it is speech, `level_db` the speech's level in dB below full scale, `received_at`
    when the last window of speech was received, in seconds of the loop's clock.
    """

    samples: Samples
    stream_start: float
    voiced_s: float
    level_db: float
    received_at: float

    @property
    def duration_s(self) -> float:
        """How long it is."""
        return seconds(len(self.samples))

    @property
    def stream_end(self) -> float:
        """Where it ends, in seconds of the broadcaster's clock."""
        return self.stream_start + self.duration_s


@dataclass(frozen=True, slots=True)
class Opened:
    """Somebody speaks."""


@dataclass(frozen=True, slots=True, eq=False)
class Paused:
    """Nobody has spoken for `pause_s`: this is the whole utterance, if it has ended."""

    sound: UtteranceSound


@dataclass(frozen=True, slots=True)
class Resumed:
    """It had not ended."""


@dataclass(frozen=True, slots=True, eq=False)
class Closed:
    """The utterance has ended, or was cut because it was too long (`cut`)."""

    sound: UtteranceSound
    cut: bool = False


EndpointEvent: TypeAlias = Opened | Paused | Resumed | Closed


@dataclass(frozen=True, slots=True, eq=False)
class _Window:
    samples: Samples
    probability: float
    stream_start: float
    received_at: float


class Endpointing:
    """Finds the utterances of one stream. Holds at most `max_utterance_s` of sound and the pre-roll."""

    def __init__(self, settings: EndpointingSettings) -> None:
        self._settings = settings
        self._pause = _windows(settings.pause_s)
        self._longest = _windows(settings.max_utterance_s)
        self._before: deque[_Window] = deque(maxlen=_windows(settings.pre_roll_s))
        self._speech: list[_Window] = []  # the open utterance, or what may become one
        self._opened = False
        self._paused = False
        self._complete = False
        self._quiet = 0  # windows since the last one of speech
        self._voiced = 0
        self._continues = False  # right after a cut any speech belongs to it

    def push(self, stretch: Stretch, probabilities: NDArray[np.float32]) -> list[EndpointEvent]:
        """Take windows with one probability each; what happened in them, in order."""
        events = self.flush() if stretch.gap else []
        step = seconds(WINDOW_SAMPLES)
        cut = stretch.samples.reshape(-1, WINDOW_SAMPLES)
        for n, (samples, probability) in enumerate(zip(cut, probabilities, strict=True)):
            start = stretch.stream_start + n * step
            events += self._step(_Window(samples, float(probability), start, stretch.received_at))
        return events

    def flush(self) -> list[EndpointEvent]:
        """Close what is open and start anew: nothing after this belongs to what came before."""
        events: list[EndpointEvent] = [Closed(_sound(self._kept(), self._settings.threshold))] if self._opened else []
        self._reset()
        self._before.clear()
        self._continues = False
        return events

    def sentence_complete(self) -> None:
        """Tell that what was said up to this pause is a whole sentence; forgotten when speech resumes."""
        self._complete = self._paused

    @property
    def is_open(self) -> bool:
        """Whether an utterance is open."""
        return self._opened

    @property
    def voiced_s(self) -> float:
        """How much speech the open utterance has so far."""
        return seconds(self._voiced * WINDOW_SAMPLES) if self._opened else 0.0

    def current(self) -> UtteranceSound | None:
        """The open utterance so far, without silence longer than a pause at its end."""
        return _sound(self._kept(), self._settings.threshold) if self._opened else None

    def _step(self, window: _Window) -> list[EndpointEvent]:
        if not self._speech:
            if window.probability < self._settings.threshold:
                self._continues = self._continues and len(self._before) + 1 < (self._before.maxlen or 0)
                self._before.append(window)
                return []
            self._speech.extend(self._before)
            self._before.clear()
        self._speech.append(window)
        events = self._voice() if window.probability >= self._settings.threshold else self._silence(window)
        return events + self._cut() if self._opened and len(self._speech) >= self._longest else events

    def _voice(self) -> list[EndpointEvent]:
        self._voiced += 1
        self._quiet = 0
        self._complete = False
        if self._paused:
            self._paused = False
            return [Resumed()]
        if not self._opened and (self._continues or self._voiced >= _windows(self._settings.min_speech_s)):
            self._opened = True
            return [Opened()]
        return []

    def _silence(self, window: _Window) -> list[EndpointEvent]:
        release = self._settings.release_threshold if self._opened else self._settings.threshold
        if self._quiet or window.probability < release:
            self._quiet += 1
        if self._quiet < self._pause:
            return []
        if not self._opened:
            self._start_over(self._speech)
            return []
        settings = self._settings
        if self._quiet >= _windows(settings.sentence_end_silence_s if self._complete else settings.end_silence_s):
            kept = self._kept()
            sound = _sound(kept, settings.threshold)
            self._start_over(self._speech[len(kept) :])
            return [Closed(sound)]
        if not self._paused:
            self._paused = True
            return [Paused(_sound(self._kept(), settings.threshold))]
        return []

    def _cut(self) -> list[EndpointEvent]:
        """Close at the quietest of the last windows; what follows it is listened to again as the next utterance."""
        first = len(self._speech) - _windows(self._settings.cut_search_s)
        levels = np.array([_rms(window.samples) for window in self._speech[first:]])
        probabilities = np.array([window.probability for window in self._speech[first:]])
        at = first + int(np.argmin(probabilities + levels / max(float(levels.max()), 1e-9))) + 1
        events: list[EndpointEvent] = [Closed(_sound(self._speech[:at], self._settings.threshold), cut=True)]
        rest = self._speech[at:]
        self._start_over([])
        self._continues = True
        for window in rest:
            events += self._step(window)
        return events

    def _kept(self) -> list[_Window]:
        """The utterance without silence longer than a pause at its end: what is heard at the pause is the whole."""
        return self._speech[: len(self._speech) - max(0, self._quiet - self._pause)]

    def _start_over(self, before: list[_Window]) -> None:
        self._before.extend(before)
        self._reset()
        self._continues = False

    def _reset(self) -> None:
        self._speech = []
        self._opened = self._paused = self._complete = False
        self._quiet = self._voiced = 0


def _windows(duration_s: float) -> int:
    return max(1, round(duration_s * SAMPLE_RATE_HZ / WINDOW_SAMPLES))


def _rms(samples: Samples) -> float:
    return float(np.sqrt(np.mean(np.square(samples), dtype=np.float64)))


def _sound(windows: list[_Window], threshold: float) -> UtteranceSound:
    voiced = [window for window in windows if window.probability >= threshold]
    level = _rms(np.concatenate([window.samples for window in voiced])) if voiced else 0.0
    return UtteranceSound(
        samples=np.concatenate([window.samples for window in windows]),
        stream_start=windows[0].stream_start,
        voiced_s=seconds(len(voiced) * WINDOW_SAMPLES),
        level_db=max(_SILENT_DB, 20 * float(np.log10(level))) if level > 0 else _SILENT_DB,
        received_at=(voiced or windows)[-1].received_at,
    )
