"""The sherpa-onnx engine with real recognisers of sherpa-onnx, on models of random weights made here.

They have the inputs, outputs and metadata of SenseVoice and of a zipformer transducer. What is recognised is
random: how well the real models hear is not tested.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engines.asr.sherpa import SherpaEngine, SherpaSettings
from engines.asr.sherpa_model import load_sherpa
from engines.asr.types import Recognition, RecognitionRequest
from engines.audio import Samples, samples_in
from engines.cores import Cores
from engines.engine import Engine, RowFailure
from engines.errors import BadModelFile, Unavailable
from engines.languages import LanguageTag
from engines.vad.silero import SileroVAD
from tests.support.tiny_asr import make_sense_voice, make_transducer, sense_voice_facts

pytestmark = pytest.mark.integration

ZH, YUE, EN, JA, VI = (LanguageTag(tag) for tag in ("zh-Hans", "yue", "en", "ja", "vi"))
SPOKEN = (ZH, YUE, EN, JA)
SILENCE, QUIET, LOUD = 0.0, 0.0005, 0.05
"""Levels at which the tiny SenseVoice hears nobody, a yue speaker, a ja speaker."""

Make = Callable[[Path], Path]


def hiss(duration_s: float, level: float = LOUD, seed: int = 1) -> Samples:
    return np.random.default_rng(seed).uniform(-level, level, samples_in(duration_s)).astype(np.float32)


def request(
    samples: Samples, language: LanguageTag | None = None, candidates: tuple[LanguageTag, ...] = ()
) -> RecognitionRequest:
    return RecognitionRequest(samples=samples, language=language, candidates=candidates)


def engine_of(folder: Path, *languages: LanguageTag) -> SherpaEngine:
    return SherpaEngine(folder, languages or SPOKEN, SherpaSettings(), Cores(2))


async def heard(engine: SherpaEngine, *rows: RecognitionRequest) -> list[Recognition]:
    answers = await engine.run(rows)
    assert len(answers) == len(rows)
    return [answer for answer in answers if isinstance(answer, Recognition)]


async def test_sense_voice_hears_who_speaks_and_what_without_its_tags(tmp_path: Path) -> None:
    SileroVAD()  # which runs on an ONNX Runtime of its own in the same process
    engine = engine_of(make_sense_voice(tmp_path))
    recogniser: Engine[RecognitionRequest, Recognition] = engine
    await recogniser.warm()
    nobody, yue, ja = await heard(engine, *(request(hiss(2.0, level)) for level in (SILENCE, QUIET, LOUD)))
    assert (nobody.text, nobody.no_speech_probability, nobody.language_probability) == ("", 1.0, 0.0)
    for answer, language in ((yue, YUE), (ja, JA)):
        assert (answer.language, answer.language_probability) == (language, 0.9)
        assert answer.text
        assert "<|" not in answer.text
        assert (answer.no_speech_probability, answer.mean_log_probability) == (0.0, 0.0)
    await engine.close()


async def test_sense_voice_keeps_to_the_candidates_and_to_the_language_asked_for(tmp_path: Path) -> None:
    engine = engine_of(make_sense_voice(tmp_path))
    sound = hiss(1.0, QUIET)
    asked, near, none = await heard(
        engine, request(sound, EN), request(sound, candidates=(JA, ZH)), request(sound, candidates=(EN, JA))
    )
    assert (asked.language, asked.language_probability) == (EN, 1.0)
    assert (near.language, near.language_probability) == (ZH, 0.9)
    assert (none.language, none.language_probability) == (EN, 0.0)
    await engine.close()


async def test_a_transducer_answers_in_its_language_and_says_how_sure_it_is(tmp_path: Path) -> None:
    engine = engine_of(make_transducer(tmp_path), VI)
    await engine.warm()
    free, asked = await heard(engine, request(hiss(2.0)), request(hiss(2.0), VI))
    assert free.text == asked.text == free.text.lower()
    assert set(free.text.split()) <= {"trà", "nóng", "nhà", "bạn"}
    assert (free.language, free.language_probability, asked.language_probability) == (VI, 0.0, 1.0)
    assert -3.0 < free.mean_log_probability < 0.0
    (refused,) = await engine.run([request(hiss(2.0), JA)])
    assert isinstance(refused, RowFailure)
    await engine.close()


@pytest.mark.parametrize("make", [make_sense_voice, make_transducer])
async def test_rows_together_are_heard_as_each_alone(tmp_path: Path, make: Make) -> None:
    engine = engine_of(make(tmp_path))
    rows = [request(hiss(duration, seed=seed)) for seed, duration in enumerate((0.2, 1.0, 2.5, 4.0))]
    together = await heard(engine, *rows)
    alone = [(await heard(engine, row))[0] for row in rows]
    assert [answer.text for answer in together] == [answer.text for answer in alone]
    assert len({answer.text for answer in alone}) > 1
    await engine.close()


async def test_rows_that_cannot_be_heard_fail_alone_and_in_their_place(tmp_path: Path) -> None:
    engine = engine_of(make_sense_voice(tmp_path))
    rows = [request(hiss(31.0)), request(hiss(1.0)), request(hiss(0.05)), request(hiss(1.0), VI)]
    answers = await engine.run(rows)
    assert [type(answer) for answer in answers] == [RowFailure, Recognition, Recognition, RowFailure]
    await engine.close()


async def test_what_onnx_runtime_refuses_is_no_silence(tmp_path: Path) -> None:
    narrow = ",".join(["0"] * 480)
    facts = sense_voice_facts() | {"lfr_window_size": "6", "neg_mean": narrow, "inv_stddev": narrow}
    engine = engine_of(make_sense_voice(tmp_path, facts))
    answers = await engine.run([request(hiss(1.0)), request(hiss(2.0))])
    assert [type(answer) for answer in answers] == [RowFailure, RowFailure]
    await engine.close()


async def test_a_cancelled_call_leaves_the_engine_usable_and_closing_ends_what_was_asked(tmp_path: Path) -> None:
    engine = engine_of(make_sense_voice(tmp_path))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(engine.run([request(hiss(25.0))]), timeout=0)
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(engine.run([request(hiss(2.0))])) for _ in range(2)]
        await asyncio.sleep(0)
        await engine.close()
    assert [len(task.result()) for task in running] == [1, 1]
    with pytest.raises(Unavailable):
        await engine.run([request(hiss(1.0))])


def refused(folder: Path, *, match: str | None = None) -> None:
    with pytest.raises(BadModelFile, match=match) as fault:
        load_sherpa(folder, SPOKEN, SherpaSettings())
    assert "sampan models" in fault.value.hint


@pytest.mark.parametrize("make", [make_sense_voice, make_transducer])
@pytest.mark.parametrize("content", [b"", b"nonsense 1 2 3\n", None])
def test_a_model_with_a_damaged_file_is_refused_and_the_process_lives(
    tmp_path: Path, make: Make, content: bytes | None
) -> None:
    for file in sorted(make(tmp_path).iterdir()):
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2] if content is None else content)
        refused(tmp_path, match="could not be loaded")
        file.unlink()
        refused(tmp_path, match="lacks")
        file.write_bytes(whole)
    load_sherpa(tmp_path, SPOKEN, SherpaSettings())


@pytest.mark.parametrize("key", sense_voice_facts())
@pytest.mark.parametrize("value", [None, "", "-1", "x", "1,2,3"])
def test_a_sense_voice_with_other_metadata_is_refused_and_the_process_lives(
    tmp_path: Path, key: str, value: str | None
) -> None:
    facts = sense_voice_facts()
    del facts[key]
    if value is not None:
        facts[key] = value
    make_sense_voice(tmp_path, facts)
    refused(tmp_path)


@pytest.mark.parametrize("facts", [{}, {"vocab_size": "7"}, {"vocab_size": "0", "context_size": "2"}])
def test_a_transducer_with_other_metadata_is_refused_and_the_process_lives(
    tmp_path: Path, facts: dict[str, str]
) -> None:
    refused(make_transducer(tmp_path, facts), match="metadata")


def test_a_transducer_of_other_inputs_is_refused_and_the_process_lives(tmp_path: Path) -> None:
    refused(make_transducer(tmp_path, lengths="float32"), match="inputs")


def test_a_part_of_another_model_is_refused_and_the_process_lives(tmp_path: Path) -> None:
    folder = make_transducer(tmp_path)
    (joiner,) = folder.glob("joiner*")
    (encoder,) = folder.glob("encoder*")
    encoder.write_bytes(joiner.read_bytes())
    refused(folder)
