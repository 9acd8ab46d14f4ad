"""What the sherpa-onnx engine does without a model: what results mean, which rows are heard, how it fails."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from engines.asr.sherpa import SherpaEngine, SherpaSettings, recognise
from engines.asr.sherpa_model import (
    DETECTED,
    SenseVoiceFiles,
    SherpaModel,
    TransducerFiles,
    find_files,
    load_sherpa,
    named,
    sense_voice_answer,
    transducer_answer,
    usable_languages,
)
from engines.asr.types import Recognition, RecognitionRequest
from engines.audio import samples_in
from engines.cores import Cores
from engines.engine import Capacity, RowFailure
from engines.errors import BadModelFile, EngineFault, OutOfMemory, Unavailable
from engines.languages import LanguageTag

pytestmark = pytest.mark.unit

ZH, ZH_TW, ZH_HK, YUE, EN, JA, KO, VI = (
    LanguageTag(tag) for tag in ("zh-Hans", "zh-Hant", "zh-Hant-HK", "yue", "en", "ja", "ko", "vi")
)
SPOKEN = (ZH, ZH_TW, ZH_HK, YUE, EN, JA, KO)


@dataclass
class Result:
    """What sherpa-onnx says of a stream."""

    text: str = ""
    lang: str = ""
    ys_log_probs: list[float] = field(default_factory=list)


def request(
    duration_s: float = 1.0, language: LanguageTag | None = None, candidates: tuple[LanguageTag, ...] = ()
) -> RecognitionRequest:
    samples = np.zeros(samples_in(duration_s), np.float32)
    return RecognitionRequest(samples=samples, language=language, candidates=candidates)


def sense_voice(result: Result, row: RecognitionRequest) -> Recognition:
    answer = sense_voice_answer(result, row, usable_languages(row, SPOKEN))
    assert isinstance(answer, Recognition)
    return answer


@pytest.mark.parametrize(
    ("heard", "candidates", "called"),
    [
        ("zh", (), (ZH, DETECTED)),
        ("yue", (), (YUE, DETECTED)),
        ("en", (ZH, EN), (EN, DETECTED)),
        ("zh", (EN, ZH_TW), (ZH_TW, DETECTED)),
        ("zh", (ZH_TW, ZH), (ZH_TW, DETECTED)),
        ("zh", (EN, YUE), (YUE, DETECTED)),
        ("yue", (ZH, ZH_HK), (ZH_HK, DETECTED)),
        ("yue", (EN, ZH), (ZH, DETECTED)),
        ("ko", (JA, EN), (JA, 0.0)),
        ("ru", (VI, EN), (EN, 0.0)),
    ],
)
def test_the_language_heard_is_called_by_the_closest_candidate(
    heard: str, candidates: tuple[LanguageTag, ...], called: tuple[LanguageTag, float]
) -> None:
    assert named(heard, usable_languages(request(candidates=candidates), SPOKEN)) == called


def test_tags_are_no_text_wherever_they_stand() -> None:
    answer = sense_voice(Result("<|zh|><|NEUTRAL|><|Speech|><|withitn|> 你好 <|BGM|>吗", "<|zh|>"), request())
    assert (answer.text, answer.language, answer.language_probability) == ("你好 吗", ZH, DETECTED)
    assert (answer.no_speech_probability, answer.mean_log_probability) == (0.0, 0.0)


def test_a_language_that_is_asked_for_is_certain_whatever_was_heard() -> None:
    answer = sense_voice(Result("你好", "<|yue|>"), request(language=ZH_TW))
    assert (answer.language, answer.language_probability) == (ZH_TW, 1.0)


@pytest.mark.parametrize(
    "result", [Result("", "<|en|>"), Result(" <|Laughter|> ", "<|en|>"), Result(".", "<|nospeech|>")]
)
def test_without_text_or_by_the_models_own_word_nobody_spoke(result: Result) -> None:
    answer = sense_voice(result, request())
    assert (answer.text, answer.no_speech_probability) == ("", 1.0)


@pytest.mark.parametrize("lang", ["", "hello", "<|en|><|ja|>"])
def test_a_result_that_begins_with_no_language_is_no_answer(lang: str) -> None:
    assert isinstance(sense_voice_answer(Result("text", lang), request(), SPOKEN), RowFailure)


def test_a_transducer_says_how_sure_it_is_but_not_which_language() -> None:
    answer = transducer_answer(Result(" xin chào", ys_log_probs=[-0.5, -0.1]), request(), (VI,))
    assert isinstance(answer, Recognition)
    assert (answer.text, answer.language, answer.language_probability) == ("xin chào", VI, 0.0)
    assert answer.mean_log_probability == pytest.approx(-0.3)
    asked = transducer_answer(Result(), request(language=VI), (VI,))
    assert isinstance(asked, Recognition)
    assert (asked.language_probability, asked.no_speech_probability, asked.mean_log_probability) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(("said", "shown"), [("TRÀ NÓNG", "trà nóng"), ("Trà OK", "Trà OK"), ("123", "123")])
def test_a_text_in_capitals_alone_is_written_small(said: str, shown: str) -> None:
    answer = transducer_answer(Result(said), request(), (VI,))
    assert isinstance(answer, Recognition)
    assert answer.text == shown


class Recorded:
    """A recogniser of sherpa-onnx that says one thing of everything, and notes how many streams it decoded."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.decoded: list[int] = []

    def create_stream(self) -> "Recorded":
        return self

    def accept_waveform(self, rate: int, samples: object) -> None:
        assert rate == 16_000

    def decode_streams(self, streams: Sequence[object]) -> None:
        self.decoded.append(len(streams))


def test_a_row_in_no_language_of_the_model_fails_alone_and_is_not_heard() -> None:
    recogniser = Recorded(Result("hi", "<|en|>"))
    model = SherpaModel(recogniser, sense_voice_answer, SPOKEN)
    answers = model.hear([request(language=VI), request(), request(candidates=(VI,)), request(candidates=(VI, EN))])
    assert [type(answer) for answer in answers] == [RowFailure, Recognition, RowFailure, Recognition]
    assert recogniser.decoded == [2]
    assert isinstance(model.hear([request(language=VI)])[0], RowFailure)
    assert recogniser.decoded == [2]


def test_rows_that_cannot_or_need_not_be_heard_are_kept_from_the_model() -> None:
    heard: list[int] = []

    def hear(rows: Sequence[RecognitionRequest]) -> Sequence[Recognition | RowFailure]:
        heard.append(len(rows))
        return [sense_voice(Result("hi", "<|en|>"), row) for row in rows]

    broken = RecognitionRequest(samples=np.full(16_000, np.nan, np.float32))
    rows = [request(31.0), request(2.0), broken, request(0.1, candidates=(JA,)), request(0.1, EN), request(0.2)]
    long, said, wrong, short, asked, least = recognise(hear, rows, SPOKEN)
    assert heard == [2]
    assert isinstance(long, RowFailure)
    assert "31.0 s" in long.reason
    assert isinstance(wrong, RowFailure)
    for answer, text in ((said, "hi"), (short, ""), (asked, ""), (least, "hi")):
        assert isinstance(answer, Recognition)
        assert answer.text == text
    assert isinstance(short, Recognition)
    assert (short.language, short.language_probability, short.no_speech_probability) == (JA, 0.0, 1.0)
    assert isinstance(asked, Recognition)
    assert (asked.language, asked.language_probability) == (EN, 1.0)
    assert recognise(hear, [], SPOKEN) == []


def folder_of(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).touch()
    return folder


def test_the_files_in_a_folder_tell_the_kind_of_model(tmp_path: Path) -> None:
    with pytest.raises(BadModelFile, match="lacks"):
        find_files(tmp_path)
    folder_of(tmp_path, "tokens.txt", "model.onnx")
    assert find_files(tmp_path) == SenseVoiceFiles(tmp_path / "model.onnx", tmp_path / "tokens.txt")
    folder_of(tmp_path, "model.int8.onnx")
    assert find_files(tmp_path) == SenseVoiceFiles(tmp_path / "model.int8.onnx", tmp_path / "tokens.txt")


def test_a_transducers_parts_are_taken_in_int8_where_there_are_such(tmp_path: Path) -> None:
    folder_of(tmp_path, "tokens.txt", "encoder-a.onnx", "encoder-a.int8.onnx", "decoder-a.onnx")
    with pytest.raises(BadModelFile, match="lacks"):
        find_files(tmp_path)
    folder_of(tmp_path, "joiner-a.int8.onnx")
    files = find_files(tmp_path)
    assert isinstance(files, TransducerFiles)
    names = [files.encoder.name, files.decoder.name, files.joiner.name]
    assert names == ["encoder-a.int8.onnx", "decoder-a.onnx", "joiner-a.int8.onnx"]


def engine_of(folder: Path) -> SherpaEngine:
    return SherpaEngine(folder, SPOKEN, SherpaSettings(max_batch=3, concurrency=2), Cores(2))


async def test_an_engine_says_what_it_is_and_takes_no_model_before_it_is_used(tmp_path: Path) -> None:
    engine = engine_of(tmp_path / "sense-voice")
    assert (engine.name, engine.version) == ("sherpa-onnx", "sense-voice")
    assert engine.capacity == Capacity(max_batch=3, concurrency=2)
    assert engine.group(request(1.0)) == engine.group(request(4.9)) != engine.group(request(5.0))
    with pytest.raises(BadModelFile) as fault:
        await engine.warm()
    assert "sampan models verify sense-voice" in fault.value.hint
    await engine.close()
    await engine.close()
    with pytest.raises(Unavailable):
        await engine.run([request()])


def test_an_engine_without_languages_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="language"):
        SherpaEngine(tmp_path, (), SherpaSettings(), Cores(1))


def test_without_the_package_the_command_that_brings_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sherpa_onnx", None)
    with pytest.raises(EngineFault, match="not installed") as fault:
        load_sherpa(tmp_path, SPOKEN, SherpaSettings())
    assert "pip install" in fault.value.hint


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryError(), OutOfMemory),
        (RuntimeError("Failed to allocate memory for requested buffer"), OutOfMemory),
        (RuntimeError("said: secret words"), EngineFault),
        (IndexError("_Map_base::at"), EngineFault),
    ],
)
async def test_what_breaks_in_the_model_is_a_fault_without_its_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[EngineFault]
) -> None:
    class Breaking(Recorded):
        def decode_streams(self, streams: Sequence[object]) -> None:
            raise error

    model = SherpaModel(Breaking(Result()), sense_voice_answer, SPOKEN)
    monkeypatch.setattr("engines.asr.sherpa.load_sherpa", lambda *_: model)
    engine = engine_of(tmp_path)
    with pytest.raises(kind) as fault:
        await engine.run([request()])
    assert type(fault.value) is kind
    assert "secret" not in fault.value.detail
    await engine.close()
