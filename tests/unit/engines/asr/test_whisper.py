"""What the Whisper engine does without a model: which rows it hears how often, and how it fails."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engines.asr.types import Recognition, RecognitionRequest
from engines.asr.whisper import WhisperEngine, WhisperSettings, recognise
from engines.asr.whisper_model import Heard, likeliest, load_whisper
from engines.audio import samples_in
from engines.cores import Cores
from engines.engine import Capacity, RowFailure
from engines.errors import BadModelFile, Unavailable
from engines.languages import LanguageTag

pytestmark = pytest.mark.unit

ZH, ZH_TW, YUE, EN, VI = (LanguageTag(tag) for tag in ("zh-Hans", "zh-Hant", "yue", "en", "vi"))


def request(duration_s: float, language: LanguageTag | None = EN) -> RecognitionRequest:
    return RecognitionRequest(samples=np.zeros(samples_in(duration_s), np.float32), language=language)


class ScriptedModel:
    """Says what a script has for a context and a duration, and notes what it was asked."""

    def __init__(self, script: Callable[[float, int], tuple[str, bool]]) -> None:
        self.script = script
        self.heard: list[tuple[int, int]] = []

    def hear(self, rows: Sequence[RecognitionRequest], context_s: int) -> list[Heard]:
        self.heard.append((len(rows), context_s))
        answers = []
        for row in rows:
            text, away = self.script(len(row.samples) / 16_000, context_s)
            recognition = Recognition(
                text=text,
                language=EN,
                language_probability=1.0,
                no_speech_probability=0.0,
                mean_log_probability=-0.1,
            )
            answers.append(Heard(recognition, tuple(text.encode()), away))
        return answers


def texts(answers: Sequence[Recognition | RowFailure]) -> list[str]:
    return [answer.text if isinstance(answer, Recognition) else "failed" for answer in answers]


def test_a_believable_decoding_is_heard_once() -> None:
    model = ScriptedModel(lambda _duration, _context: ("hello", False))
    assert texts(recognise(model.hear, [request(2.0)])) == ["hello"]
    assert model.heard == [(1, 8)]


def test_a_decoding_that_ran_away_is_heard_in_the_next_longer_context() -> None:
    model = ScriptedModel(lambda _duration, context: (f"in {context}", context == 8))
    assert texts(recognise(model.hear, [request(2.0)])) == ["in 15"]
    assert model.heard == [(1, 8), (1, 15)]


def test_after_the_longest_context_the_last_decoding_stands() -> None:
    model = ScriptedModel(lambda _duration, context: (f"in {context}", True))
    assert texts(recognise(model.hear, [request(2.0)])) == ["in 30"]
    assert model.heard == [(1, 8), (1, 15), (1, 30)]


def test_what_two_contexts_say_alike_is_believed() -> None:
    model = ScriptedModel(lambda _duration, _context: ("ha ha ha", True))
    assert texts(recognise(model.hear, [request(2.0)])) == ["ha ha ha"]
    assert model.heard == [(1, 8), (1, 15)]


def test_only_the_rows_that_ran_away_are_heard_again_and_answers_keep_their_order() -> None:
    model = ScriptedModel(lambda duration, context: (f"{duration:.0f} in {context}", duration == 2 and context == 8))
    assert texts(recognise(model.hear, [request(1.0), request(2.0), request(3.0)])) == ["1 in 8", "2 in 15", "3 in 8"]
    assert model.heard == [(3, 8), (1, 15)]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_with_samples_that_are_not_finite_fails_alone(bad: float) -> None:
    model = ScriptedModel(lambda _duration, _context: ("hello", False))
    broken = request(1.0)
    broken.samples[77] = bad
    answers = recognise(model.hear, [broken, request(1.0)])
    assert isinstance(answers[0], RowFailure)
    assert texts(answers) == ["failed", "hello"]
    assert model.heard == [(1, 8)]


def test_a_row_longer_than_whisper_hears_fails_alone() -> None:
    model = ScriptedModel(lambda _duration, _context: ("hello", False))
    assert texts(recognise(model.hear, [request(30.0), request(30.1)])) == ["hello", "failed"]


@pytest.mark.parametrize(("language", "expected", "probability"), [(VI, VI, 1.0), (None, ZH, 0.0)])
def test_next_to_nothing_is_no_text_and_needs_no_model(
    language: LanguageTag | None, expected: LanguageTag, probability: float
) -> None:
    model = ScriptedModel(lambda _duration, _context: ("hello", False))
    answers = recognise(model.hear, [request(0.0, language), request(0.09, language)])
    assert texts(answers) == ["", ""]
    assert model.heard == []
    for answer in answers:
        assert isinstance(answer, Recognition)
        assert (answer.language, answer.language_probability) == (expected, probability)
        assert answer.no_speech_probability == 1.0


def test_the_likeliest_candidate_is_taken_and_the_first_of_those_that_share_a_code() -> None:
    probabilities = {"<|zh|>": 0.5, "<|en|>": 0.3, "<|jw|>": 0.9}
    assert likeliest((VI, EN), probabilities) == (EN, 0.3)
    assert likeliest((EN, ZH_TW, ZH), probabilities) == (ZH_TW, 0.5)
    assert likeliest((YUE,), probabilities) == (YUE, 0.5)
    assert likeliest((VI,), probabilities) == (VI, 0.0)


def test_rows_are_grouped_by_the_context_they_are_heard_in() -> None:
    engine = WhisperEngine(Path("whisper"), WhisperSettings(), Cores(2))
    assert [engine.group(request(duration))[0] for duration in (0.0, 6.0, 9.0, 40.0)] == [8, 8, 15, 30]


def test_capacity_and_version_tell_of_the_settings() -> None:
    engine = WhisperEngine(Path("models/whisper-base"), WhisperSettings(concurrency=2, max_batch=3), Cores(2))
    assert engine.capacity == Capacity(max_batch=3, concurrency=2)
    assert engine.version == "whisper-base@int8"


@pytest.mark.parametrize("name", ["threads", "concurrency", "max_batch"])
def test_settings_of_nothing_are_refused(name: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({name: 0}, WhisperSettings)


async def test_a_missing_model_says_how_to_get_it(tmp_path: Path) -> None:
    engine = WhisperEngine(tmp_path / "whisper-base", WhisperSettings(), Cores(2))
    with pytest.raises(BadModelFile) as fault:
        await engine.warm()
    assert "model.bin" in fault.value.detail
    assert "sampan models pull whisper-base" in fault.value.hint
    await engine.close()


@pytest.mark.parametrize("model_bin", [b"", b"\x00" * 1_000, b"\xff" * 1_000])
def test_a_damaged_model_is_told_from_a_missing_one(tmp_path: Path, model_bin: bytes) -> None:
    (tmp_path / "model.bin").write_bytes(model_bin)
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(BadModelFile, match="could not be loaded"):
        load_whisper(tmp_path, WhisperSettings())


async def test_a_closed_engine_is_unavailable_and_closes_again(tmp_path: Path) -> None:
    engine = WhisperEngine(tmp_path, WhisperSettings(), Cores(2))
    await engine.close()
    await engine.close()
    with pytest.raises(Unavailable):
        await engine.run([request(1.0)])
    with pytest.raises(Unavailable):
        await engine.warm()
