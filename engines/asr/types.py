"""What goes into a recogniser and what comes out."""

from dataclasses import dataclass

import msgspec

from engines.audio import Samples
from engines.languages import LanguageTag


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecognitionRequest:
    """An utterance so far: float32 mono 16 kHz samples, at most 30 s.

    `language` None asks the engine to detect it, among `candidates` where any are given. A wider beam is slower and
    hears better. `word_times` asks for the answer's `words`, which takes a little longer.
    """

    samples: Samples
    language: LanguageTag | None = None
    candidates: tuple[LanguageTag, ...] = ()
    beam_size: int = 1
    word_times: bool = False


class Word(msgspec.Struct, frozen=True):
    """A word, or a few characters where a language has no spaces; `end` in seconds from the start of the samples."""

    text: str
    end: float


class Recognition(msgspec.Struct, frozen=True, kw_only=True):
    """What was heard. Probabilities are in 0..1, `mean_log_probability` per token in natural logarithms.

    `words` are those of the text where they were asked for and the engine can tell them, else none.
    """

    text: str
    language: LanguageTag
    language_probability: float
    no_speech_probability: float
    mean_log_probability: float
    words: tuple[Word, ...] = ()
