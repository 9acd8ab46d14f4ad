"""A loaded sherpa-onnx model: utterances → what was heard in each. Sync, runs on the caller's thread.

sherpa-onnx ends the whole process on a model whose metadata or token table it can't read, without an exception.
So both are read here first, with ONNX Runtime, and refused as a fault that the process survives.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec

from engines.asr.types import Recognition, RecognitionRequest
from engines.audio import SAMPLE_RATE_HZ
from engines.engine import RowFailure
from engines.errors import BadModelFile, EngineFault
from engines.languages import LANGUAGES, LanguageTag, is_chinese

DETECTED = 0.9
"""The probability of a language that SenseVoice heard, as it only names one: enough to be believed in a long
utterance, too little to overrule a room's habit in a short one."""

_TAG = re.compile(r"<\|([^|]*)\|>")
_NO_SPEECH = "nospeech"
_MEL_BANDS = 80
_WHOLE = ("tensor(int32)", "tensor(int64)")
_CHINESE = frozenset(tag for tag in LANGUAGES if is_chinese(tag))
_CALLED: dict[str, tuple[frozenset[str], ...]] = {
    "zh": (frozenset({"zh-Hans", "zh-Hant", "zh-Hant-HK"}), _CHINESE),
    "yue": (frozenset({"yue"}), frozenset({"zh-Hant-HK"}), _CHINESE),
    "en": (frozenset({"en"}),),
    "ja": (frozenset({"ja"}),),
    "ko": (frozenset({"ko"}),),
}
"""What SenseVoice calls a language → our tags for it, the closest first."""


class SherpaSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the model computes, on CPUs: `threads` for each of `concurrency` calls of up to `max_batch` rows."""

    threads: Annotated[int, msgspec.Meta(ge=1)] = 1
    concurrency: Annotated[int, msgspec.Meta(ge=1)] = 1
    max_batch: Annotated[int, msgspec.Meta(ge=1)] = 4


@dataclass(frozen=True, slots=True)
class SenseVoiceFiles:
    """The files of a SenseVoice model: it names the language and marks up what it writes."""

    model: Path
    tokens: Path


@dataclass(frozen=True, slots=True)
class TransducerFiles:
    """The files of a transducer, as zipformers are: it writes words and says how sure it is of them."""

    encoder: Path
    decoder: Path
    joiner: Path
    tokens: Path


SherpaFiles: TypeAlias = SenseVoiceFiles | TransducerFiles
Answer: TypeAlias = Callable[[Any, RecognitionRequest, Sequence[LanguageTag]], Recognition | RowFailure]
"""From sherpa-onnx's result, the row and the languages that the answer may be called by."""


class SherpaModel:
    """A model in memory that knows `languages`. Several threads may call it at once."""

    def __init__(self, recogniser: Any, answer: Answer, languages: Sequence[LanguageTag]) -> None:
        self._recogniser = recogniser
        self._answer = answer
        self._languages = tuple(languages)

    def hear(self, rows: Sequence[RecognitionRequest]) -> list[Recognition | RowFailure]:
        """Answer every row; one in none of the model's languages fails alone. Takes rows with finite samples."""
        usable = [usable_languages(row, self._languages) for row in rows]
        streams = [self._stream(row) if tags else None for row, tags in zip(rows, usable, strict=True)]
        if heard := [stream for stream in streams if stream is not None]:
            self._recogniser.decode_streams(heard)
        return [
            RowFailure("the model knows none of the languages asked for")
            if stream is None
            else self._answer(stream.result, row, tags)
            for stream, row, tags in zip(streams, rows, usable, strict=True)
        ]

    def _stream(self, row: RecognitionRequest) -> Any:
        stream = self._recogniser.create_stream()
        stream.accept_waveform(SAMPLE_RATE_HZ, row.samples)
        return stream


def sense_voice_answer(result: Any, row: RecognitionRequest, usable: Sequence[LanguageTag]) -> Recognition | RowFailure:
    """What SenseVoice heard, without its tags.

    It always finds the language itself: one that the row asks for decides only what the answer is called.
    """
    tag = _TAG.fullmatch(result.lang)
    if tag is None:
        # sherpa-onnx swallows what ONNX Runtime raises; every real answer begins with a language.
        return RowFailure("the model gave no answer")
    text = "" if tag[1] == _NO_SPEECH else _TAG.sub("", result.text)
    language, probability = named(tag[1], usable)
    return _recognition(text, language, 1.0 if row.language else probability)


def transducer_answer(result: Any, row: RecognitionRequest, usable: Sequence[LanguageTag]) -> Recognition | RowFailure:
    """What a transducer heard, in the language asked for, else in the first possible one with probability 0."""
    # Many are trained on capitals alone, which translate badly.
    text = result.text.lower() if result.text.isupper() else result.text
    sureness = result.ys_log_probs
    return _recognition(text, usable[0], 1.0 if row.language else 0.0, sum(sureness) / max(1, len(sureness)))


def _recognition(
    text: str, language: LanguageTag, probability: float, mean_log_probability: float = 0.0
) -> Recognition:
    text = text.strip()
    return Recognition(
        text=text,
        language=language,
        language_probability=probability,
        no_speech_probability=0.0 if text else 1.0,
        mean_log_probability=min(0.0, mean_log_probability),
    )


def usable_languages(row: RecognitionRequest, languages: Sequence[LanguageTag]) -> tuple[LanguageTag, ...]:
    """What the answer to a row may be called, the preferred first: empty where the model knows none of it."""
    wanted = (row.language,) if row.language else row.candidates or languages
    return tuple(tag for tag in wanted if tag in languages)


def named(heard: str, usable: Sequence[LanguageTag]) -> tuple[LanguageTag, float]:
    """Our tag for a language that SenseVoice heard, and DETECTED; the first usable one and 0 where none fits."""
    for closest in _CALLED.get(heard, ()):
        for tag in usable:
            if tag in closest:
                return tag, DETECTED
    return usable[0], 0.0


def find_files(folder: Path) -> SherpaFiles:
    """Tell the kind of model in a folder by its files; int8 ones are taken first. Raises BadModelFile."""
    tokens = folder / "tokens.txt"
    encoder, decoder, joiner = (_first(folder, f"{part}*.onnx") for part in ("encoder", "decoder", "joiner"))
    model = next((path for name in ("model.int8.onnx", "model.onnx") if (path := folder / name).is_file()), None)
    if tokens.is_file() and encoder and decoder and joiner:
        return TransducerFiles(encoder, decoder, joiner, tokens)
    if tokens.is_file() and model:
        return SenseVoiceFiles(model, tokens)
    raise BadModelFile(
        f"{folder} lacks tokens.txt with model.onnx, or with encoder, decoder and joiner", hint=_pull(folder)
    )


def _first(folder: Path, pattern: str) -> Path | None:
    found = sorted(folder.glob(pattern))
    return next((path for path in found if path.name.endswith(".int8.onnx")), found[0] if found else None)


def load_sherpa(folder: Path, languages: Sequence[LanguageTag], settings: SherpaSettings) -> SherpaModel:
    """Read a model into memory. Raises BadModelFile, EngineFault where sherpa-onnx isn't installed, MemoryError."""
    try:
        import sherpa_onnx
    except ImportError as error:
        raise EngineFault("sherpa-onnx is not installed", hint="pip install 'sherpa-onnx>=2.0.1,<3'") from error
    files = find_files(folder)
    try:
        _require_readable(files)
        if isinstance(files, SenseVoiceFiles):
            recogniser = sherpa_onnx.OfflineRecognizer.from_sense_voice(
                model=str(files.model), tokens=str(files.tokens), num_threads=settings.threads, use_itn=True
            )
            return SherpaModel(recogniser, sense_voice_answer, languages)
        recogniser = sherpa_onnx.OfflineRecognizer.from_transducer(
            encoder=str(files.encoder),
            decoder=str(files.decoder),
            joiner=str(files.joiner),
            tokens=str(files.tokens),
            num_threads=settings.threads,
        )
        return SherpaModel(recogniser, transducer_answer, languages)
    except MemoryError:
        raise
    except Exception as error:  # ONNX Runtime's own exceptions share no narrower base
        raise BadModelFile(f"{folder} could not be loaded: {error}", hint=_pull(folder)) from error


def _pull(folder: Path) -> str:
    return f"Run `sampan models verify {folder.name}`, then pull."


def _require_readable(files: SherpaFiles) -> None:
    """Check what sherpa-onnx would end the process over. Raises ValueError and whatever ONNX Runtime does."""
    if isinstance(files, SenseVoiceFiles):
        told = _open(files.model).get_modelmeta().custom_metadata_map
        counts = ("normalize_samples", "with_itn", "without_itn", *(f"lang_{code}" for code in ("auto", *_CALLED)))
        _require_whole(told, counts, at_least=0)
        _require_whole(told, ("vocab_size", "lfr_window_size", "lfr_window_shift"), at_least=1)
        for key in ("neg_mean", "inv_stddev"):
            values = [float(value) for value in told.get(key, "").split(",") if value.strip()]
            if len(values) != _MEL_BANDS * int(told["lfr_window_size"]):
                raise ValueError(f"its metadata has {len(values)} numbers as {key}")
    else:
        encoder, decoder = _open(files.encoder), _open(files.decoder)
        whole = [*encoder.get_inputs()[1:2], *encoder.get_outputs()[1:2], *decoder.get_inputs()[:1]]
        if [tensor.type in _WHOLE for tensor in whole] != [True] * 3:
            raise ValueError("its encoder or decoder takes other inputs than a transducer's")
        told = decoder.get_modelmeta().custom_metadata_map
        _require_whole(told, ("vocab_size", "context_size"), at_least=1)
    _require_tokens(files.tokens.read_bytes(), int(told["vocab_size"]))


def _open(file: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what fails is raised
    return onnxruntime.InferenceSession(str(file), sess_options=options, providers=["CPUExecutionProvider"])


def _require_whole(told: dict[str, str], keys: Iterable[str], *, at_least: int) -> None:
    for key in keys:
        if not re.fullmatch(r"\d{1,9}", told.get(key, "")) or int(told[key]) < at_least:
            raise ValueError(f"its metadata has {told.get(key, 'nothing')[:40]!r} as {key}")


def _require_tokens(table: bytes, vocabulary: int) -> None:
    """A token and its number a line, in ASCII white space; the number alone stands for a space."""
    known: set[int] = set()
    for line in table.split(b"\n"):
        match line.split():
            case []:
                continue
            case [number] | [_, number] if number.isdigit():
                known.add(int(number))
            case _:
                raise ValueError(f"its tokens.txt has a line of another form: {line[:40]!r}")
    if lacking := set(range(vocabulary)) - known:
        raise ValueError(f"its tokens.txt lacks {len(lacking)} of {vocabulary} tokens")
