"""Whisper's short context against its full one: error rates and seconds a clip, by language, on referenced speech."""

import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jiwer
import numpy as np
import opencc
import pytest
from faster_whisper import decode_audio

from engines.asr.types import Recognition, RecognitionRequest
from engines.asr.whisper import WhisperSettings, recognise
from engines.asr.whisper_context import LONGEST_S
from engines.asr.whisper_model import WhisperModel, load_whisper
from engines.audio import samples_in, seconds
from engines.languages import LanguageTag, is_chinese
from tests.support.material import installed_model, recordings

pytestmark = pytest.mark.quality

LANGUAGES = {name.split("-")[0]: LanguageTag(name) for name in ("zh-Hans", "vi", "ms", "en")}
WORSE_AT_MOST = 0.01
# A sample more or less changes a word here and there: each clip is heard after so many seconds of silence.
DELAYS_S = (0.0, 0.0125, 0.025, 0.0375)
SIMPLIFIED = opencc.OpenCC("t2s")


@dataclass(frozen=True, slots=True)
class Clip:
    """One recording, at most 30 s, and what is said in it."""

    name: str
    request: RecognitionRequest
    reference: str


@dataclass(slots=True)
class Score:
    """The texts of one language, each clip as often as it was heard."""

    references: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    took_s: list[float] = field(default_factory=list)

    def error(self, language: LanguageTag) -> float:
        """Character error rate for Chinese, word error rate for others, over all clips."""
        rate = jiwer.cer if is_chinese(language) else jiwer.wer
        return float(rate(self.references, self.texts))

    def allowance(self, language: LanguageTag) -> float:
        """How much worse counts as no worse: a point, or one word where the clips hold fewer than a hundred."""
        words = sum(len(text) if is_chinese(language) else len(text.split()) for text in self.references)
        return max(WORSE_AT_MOST, len(DELAYS_S) / words)


@pytest.fixture(scope="module")
def model() -> WhisperModel:
    return load_whisper(installed_model("whisper-base-ct2-fp16"), WhisperSettings())


@pytest.fixture(scope="module")
def clips() -> list[Clip]:
    found = [clip for file in sorted(recordings("speech").glob("*.flac")) if (clip := referenced(file))]
    if not found:
        pytest.fail("no referenced clip of at most 30 s among the test data", pytrace=False)
    return found


def referenced(file: Path) -> Clip | None:
    text = file.with_suffix(".txt")
    language = LANGUAGES.get(file.stem.split("-")[0])
    if language is None or not text.is_file():
        return None
    samples = decode_audio(str(file))
    if seconds(len(samples)) > LONGEST_S:
        return None
    return Clip(file.stem, RecognitionRequest(samples=samples, language=language), text.read_text(encoding="utf-8"))


def plain(text: str, language: LanguageTag) -> str:
    """Words in small letters without punctuation; Chinese simplified and without spaces."""
    letters = "".join(" " if unicodedata.category(letter)[0] in "PSZ" else letter for letter in text.lower())
    words = letters.split()
    return SIMPLIFIED.convert("".join(words)) if is_chinese(language) else " ".join(words)


def delayed(request: RecognitionRequest, delay_s: float) -> RecognitionRequest:
    samples = np.concatenate([np.zeros(samples_in(delay_s), np.float32), request.samples])
    return RecognitionRequest(samples=samples[: samples_in(LONGEST_S)], language=request.language)


def score(clips: Sequence[Clip], hear: Callable[[RecognitionRequest], str]) -> dict[LanguageTag, Score]:
    scores: dict[LanguageTag, Score] = {}
    for clip in clips:
        language = clip.request.language
        assert language is not None
        one = scores.setdefault(language, Score())
        for delay_s in DELAYS_S:
            request = delayed(clip.request, delay_s)
            began = time.perf_counter()
            text = hear(request)
            one.took_s.append(time.perf_counter() - began)
            one.references.append(plain(clip.reference, language))
            one.texts.append(plain(text, language))
    return scores


def test_a_short_context_is_at_most_one_point_worse_and_takes_less_time(model: WhisperModel, clips: list[Clip]) -> None:
    def short(request: RecognitionRequest) -> str:
        (answer,) = recognise(model.hear, [request])
        assert isinstance(answer, Recognition)
        return answer.text

    def full(request: RecognitionRequest) -> str:
        return model.hear([request], LONGEST_S)[0].recognition.text

    shorts, fulls = score(clips, short), score(clips, full)
    print(f"\n{'language':10} {'clips':>5} {'error short':>12} {'error 30 s':>11} {'s short':>8} {'s 30 s':>7}")
    worse = []
    for language, one in sorted(shorts.items()):
        other = fulls[language]
        errors = one.error(language), other.error(language)
        means = [sum(took) / len(took) for took in (one.took_s, other.took_s)]
        clip_count = len(one.texts) // len(DELAYS_S)
        print(f"{language:10} {clip_count:5} {errors[0]:12.1%} {errors[1]:11.1%} {means[0]:8.2f} {means[1]:7.2f}")
        if errors[0] > errors[1] + one.allowance(language):
            worse.append(language)
    assert not worse
    total = [sum(sum(one.took_s) for one in scores.values()) for scores in (shorts, fulls)]
    assert total[0] < total[1]


def test_the_language_of_every_clip_is_detected(model: WhisperModel, clips: list[Clip]) -> None:
    wrong = []
    for clip in clips:
        request = RecognitionRequest(samples=clip.request.samples, candidates=tuple(LANGUAGES.values()))
        (answer,) = recognise(model.hear, [request])
        assert isinstance(answer, Recognition)
        if answer.language != clip.request.language:
            wrong.append(f"{clip.name}: {answer.language} {answer.language_probability:.2f}")
    print("\ntaken for another language:", ", ".join(wrong) or "none")
    assert len(wrong) <= len(clips) // 10
