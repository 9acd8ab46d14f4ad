"""A loaded Whisper model: utterances in one context → what was heard in each. Sync, runs on the caller's thread."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from engines.asr.types import Recognition, RecognitionRequest, Word
from engines.asr.whisper_context import ran_away, token_bound
from engines.asr.whisper_features import FRAMES_PER_SECOND, LogMel
from engines.asr.whisper_words import words_of
from engines.audio import seconds
from engines.errors import BadModelFile, EngineFault
from engines.languages import LANGUAGES, LanguageTag

CHECK_DEVICE = "Check `device` and `compute_type` against this machine."
_FILES = ("model.bin", "config.json", "tokenizer.json")


class WhisperSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where and how the model computes: `threads` for each of `concurrency` calls of up to `max_batch` rows."""

    device: str = "cpu"
    compute_type: str = "int8"
    threads: Annotated[int, msgspec.Meta(ge=1)] = 1
    concurrency: Annotated[int, msgspec.Meta(ge=1)] = 1
    max_batch: Annotated[int, msgspec.Meta(ge=1)] = 4


@dataclass(frozen=True, slots=True)
class Heard:
    """What one decoding gave, and whether it ran away and had better be tried again."""

    recognition: Recognition
    tokens: tuple[int, ...]
    ran_away: bool


class WhisperModel:
    """A multilingual Whisper in memory. Several threads may call it at once."""

    def __init__(self, whisper: Any, tokenizer: Any) -> None:
        from faster_whisper.transcribe import get_suppressed_tokens

        self._whisper = whisper
        self._tokenizer = tokenizer
        self._mel = LogMel(whisper.n_mels)
        self._suppressed = list(get_suppressed_tokens(self._writing("en"), [-1]))

    def hear(self, rows: Sequence[RecognitionRequest], context_s: int) -> list[Heard]:
        """Decode every row, padded with silence to `context_s` seconds.

        Takes rows that share a beam,  of 0.1 s to `context_s` with finite samples.
        """
        import ctranslate2

        features = np.stack([self._mel.features(row.samples, context_s) for row in rows])
        encoded = self._whisper.encode(ctranslate2.StorageView.from_array(features))
        languages = self._languages(rows, encoded)
        bounds = [
            token_bound(seconds(len(row.samples)), language) for row, (language, _) in zip(rows, languages, strict=True)
        ]
        writing = [self._writing(LANGUAGES[language].whisper) for language, _ in languages]
        results = self._whisper.generate(
            encoded,
            [[*tokens.sot_sequence, tokens.no_timestamps] for tokens in writing],
            beam_size=rows[0].beam_size,
            max_length=2 * max(bounds),  # CTranslate2 lets half of it be new tokens
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=True,
            suppress_tokens=self._suppressed,
        )
        tokens = [result.sequences_ids[0][:bound] for result, bound in zip(results, bounds, strict=True)]
        words = self._words(rows, encoded, tokens, writing)
        return [
            self._heard(result, language, bound, said)
            for result, language, bound, said in zip(results, languages, bounds, words, strict=True)
        ]

    def _words(
        self, rows: Sequence[RecognitionRequest], encoded: Any, tokens: list[list[int]], writing: list[Any]
    ) -> list[tuple[Word, ...]]:
        """The rows' words, where they are asked for."""
        if not any(row.word_times and said for row, said in zip(rows, tokens, strict=True)):
            return [()] * len(rows)
        # One language token for all: it makes no difference to where words are.
        frames = [int(seconds(len(row.samples)) * FRAMES_PER_SECOND) for row in rows]
        found = self._whisper.align(encoded, list(writing[0].sot_sequence), tokens, frames)
        return [
            tuple(words_of(said, one.alignments, own, seconds(len(row.samples)))) if row.word_times and said else ()
            for row, said, one, own in zip(rows, tokens, found, writing, strict=True)
        ]

    def _heard(self, result: Any, language: tuple[LanguageTag, float], bound: int, words: tuple[Word, ...]) -> Heard:
        tag, probability = language
        whole = result.sequences_ids[0]
        tokens = whole[:bound]
        recognition = Recognition(
            text=self._writing(LANGUAGES[tag].whisper).decode(tokens).strip(),
            language=tag,
            language_probability=probability,
            no_speech_probability=result.no_speech_prob,
            # CTranslate2 divides by the tokens of the text; Whisper's mean counts the one that ends it too.
            mean_log_probability=result.scores[0] * len(whole) / (len(whole) + 1),
            words=words,
        )
        return Heard(recognition, tuple(tokens), ran_away(tokens, bound))

    def _languages(self, rows: Sequence[RecognitionRequest], encoded: Any) -> list[tuple[LanguageTag, float]]:
        asked = [row.language for row in rows]
        if None not in asked:
            return [(tag, 1.0) for tag in asked if tag is not None]
        detected = self._whisper.detect_language(encoded)
        return [
            (row.language, 1.0) if row.language else likeliest(row.candidates or LANGUAGES, dict(probabilities))
            for row, probabilities in zip(rows, detected, strict=True)
        ]

    def _writing(self, whisper_code: str) -> Any:
        from faster_whisper.tokenizer import Tokenizer

        return Tokenizer(self._tokenizer, multilingual=True, task="transcribe", language=whisper_code)


def likeliest(candidates: Iterable[LanguageTag], probabilities: dict[str, float]) -> tuple[LanguageTag, float]:
    """The likeliest candidate and its probability, given those of Whisper's language tokens.

    Tags that share a token are equally likely: the first of them is taken.
    """
    likelihood = {tag: probabilities.get(f"<|{LANGUAGES[tag].whisper}|>", 0.0) for tag in candidates}
    best = max(likelihood, key=likelihood.__getitem__)
    return best, likelihood[best]


def load_whisper(folder: Path, settings: WhisperSettings) -> WhisperModel:
    """Read a model into memory.

    Raises BadModelFile for missing or damaged files or another kind of model, EngineFault for a device or
    compute type that isn't there, MemoryError.
    """
    import ctranslate2
    import tokenizers

    hint = f"Run `sampan models pull {folder.name}`."
    if missing := [name for name in _FILES if not (folder / name).is_file()]:
        raise BadModelFile(f"{folder} lacks {', '.join(missing)}", hint=hint)
    try:
        whisper = ctranslate2.models.Whisper(
            str(folder),
            device=settings.device,
            compute_type=settings.compute_type,
            inter_threads=settings.concurrency,
            intra_threads=settings.threads,
        )
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    except MemoryError:
        raise
    except ValueError as error:
        raise EngineFault(f"Whisper cannot run so: {error}", hint=CHECK_DEVICE) from error
    except Exception as error:  # the tokenizers package raises nothing narrower
        raise BadModelFile(f"{folder} could not be loaded: {error}", hint=hint) from error
    if not whisper.is_multilingual or tokenizer.token_to_id("<|notimestamps|>") is None:
        raise BadModelFile(f"{folder} holds no multilingual Whisper model", hint=hint)
    return WhisperModel(whisper, tokenizer)
