"""The Whisper engine with the default model, on sounds made here."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from engines.asr.types import Recognition, RecognitionRequest
from engines.asr.whisper import WhisperEngine, WhisperSettings
from engines.asr.whisper_model import load_whisper
from engines.audio import Samples, samples_in, seconds
from engines.cores import Cores
from engines.engine import Engine, RowFailure
from engines.errors import BadModelFile, EngineFault, Unavailable
from engines.languages import LanguageTag
from tests.support.material import installed_model, spoken

pytestmark = pytest.mark.integration

MODEL = "whisper-base-ct2-fp16"
EN, VI, MS = LanguageTag("en"), LanguageTag("vi"), LanguageTag("ms")


def hiss(duration_s: float, seed: int = 1) -> Samples:
    return np.random.default_rng(seed).uniform(-0.05, 0.05, samples_in(duration_s)).astype(np.float32)


def request(samples: Samples, language: LanguageTag | None = EN) -> RecognitionRequest:
    return RecognitionRequest(samples=samples, language=language, candidates=() if language else (VI, MS))


@pytest.fixture
async def engine() -> AsyncIterator[WhisperEngine]:
    engine = WhisperEngine(installed_model(MODEL), WhisperSettings(), Cores(2))
    yield engine
    await engine.close()


def broken_copy(folder: Path, without: str, content: bytes | None) -> Path:
    """The model with one file missing or replaced."""
    folder.mkdir()
    for file in installed_model(MODEL).iterdir():
        if file.name != without and file.is_file():
            (folder / file.name).symlink_to(file.resolve())
    if content is not None:
        (folder / without).write_bytes(content)
    return folder


async def test_it_is_an_engine_that_answers_in_order_with_sound_numbers(engine: WhisperEngine) -> None:
    recogniser: Engine[RecognitionRequest, Recognition] = engine
    await recogniser.warm()
    rows = [request(hiss(2.0), EN), request(hiss(0.05), VI), request(hiss(3.0), MS), request(hiss(31.0))]
    answers = await recogniser.run(rows)
    assert isinstance(answers[3], RowFailure)
    for answer, row in zip(answers[:3], rows[:3], strict=True):
        assert isinstance(answer, Recognition)
        assert answer.language == row.language
        assert answer.text == answer.text.strip()
        assert 0.0 <= answer.no_speech_probability <= 1.0
        assert answer.mean_log_probability <= 0.0


async def test_rows_together_are_heard_as_each_alone(engine: WhisperEngine) -> None:
    rows = [request(hiss(duration, seed), EN) for seed, duration in enumerate((1.0, 2.5, 4.0, 6.5))]
    together = await engine.run(rows)
    for row, answer in zip(rows, together, strict=True):
        (alone,) = await engine.run([row])
        assert isinstance(answer, Recognition)
        assert isinstance(alone, Recognition)
        assert answer.text == alone.text
        assert answer.mean_log_probability == pytest.approx(alone.mean_log_probability, abs=0.01)


async def test_an_unknown_language_is_found_among_the_candidates(engine: WhisperEngine) -> None:
    asked, detected = await engine.run([request(hiss(2.0), EN), request(hiss(2.0), None)])
    assert isinstance(asked, Recognition)
    assert (asked.language, asked.language_probability) == (EN, 1.0)
    assert isinstance(detected, Recognition)
    assert detected.language in (VI, MS)
    assert 0.0 < detected.language_probability < 1.0


async def test_words_are_told_with_when_they_were_said(engine: WhisperEngine, tmp_path: Path) -> None:
    first, second = (spoken(text, tmp_path) for text in ("The kettle is new.", "It boils in three minutes."))
    pause = np.zeros(samples_in(1.0), np.float32)
    row = RecognitionRequest(samples=np.concatenate((first, pause, second)), language=EN, word_times=True)
    timed, other = await engine.run([row, request(hiss(2.0), VI)])
    assert isinstance(timed, Recognition)
    assert isinstance(other, Recognition)
    assert other.words == ()
    assert "".join(word.text for word in timed.words).strip() == timed.text
    ends = [word.end for word in timed.words]
    assert ends == sorted(ends)
    assert ends[-1] <= seconds(len(row.samples))
    (kettle,) = (word for word in timed.words if "kettle" in word.text)
    (boils,) = (word for word in timed.words if "boils" in word.text)
    assert 0.2 < kettle.end < seconds(len(first))
    assert boils.end > seconds(len(first)) + 1.0


async def test_calls_at_once_are_all_answered(engine: WhisperEngine) -> None:
    answers = await asyncio.gather(*(engine.run([request(hiss(1.0, seed))]) for seed in range(4)))
    assert [len(answer) for answer in answers] == [1, 1, 1, 1]


async def test_a_cancelled_call_leaves_the_engine_usable(engine: WhisperEngine) -> None:
    await engine.warm()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(engine.run([request(hiss(25.0))]), timeout=0)
    assert isinstance((await engine.run([request(hiss(1.0))]))[0], Recognition)


async def test_closing_ends_what_was_asked_before_and_refuses_what_comes_after(engine: WhisperEngine) -> None:
    await engine.warm()
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(engine.run([request(hiss(2.0))])) for _ in range(2)]
        await asyncio.sleep(0)
        await engine.close()
    assert [len(task.result()) for task in running] == [1, 1]
    with pytest.raises(Unavailable):
        await engine.run([request(hiss(2.0))])


@pytest.mark.parametrize("file", ["model.bin", "config.json", "tokenizer.json"])
def test_a_model_that_lacks_a_file_is_refused(tmp_path: Path, file: str) -> None:
    with pytest.raises(BadModelFile, match=file):
        load_whisper(broken_copy(tmp_path / "model", file, None), WhisperSettings())


@pytest.mark.parametrize("file", ["model.bin", "config.json", "tokenizer.json", "vocabulary.txt"])
def test_a_model_with_a_damaged_file_is_refused(tmp_path: Path, file: str) -> None:
    whole = installed_model(MODEL) / file
    with whole.open("rb") as opened:
        half = opened.read(min(whole.stat().st_size // 2, 1_000_000))
    folder = broken_copy(tmp_path / "model", file, half)
    with pytest.raises(BadModelFile) as fault:
        load_whisper(folder, WhisperSettings())
    assert "sampan models pull" in fault.value.hint


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    other = b'{"version":"1.0","model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"}}'
    with pytest.raises(BadModelFile, match="no multilingual Whisper"):
        load_whisper(broken_copy(tmp_path / "model", "tokenizer.json", other), WhisperSettings())


@pytest.mark.parametrize("settings", [WhisperSettings(device="abacus"), WhisperSettings(compute_type="int3")])
def test_a_device_or_type_that_is_not_there_is_no_fault_of_the_model(settings: WhisperSettings) -> None:
    with pytest.raises(EngineFault, match="cannot run so") as fault:
        load_whisper(installed_model(MODEL), settings)
    assert "compute_type" in fault.value.hint
