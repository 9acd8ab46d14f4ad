"""Translation on CTranslate2: OPUS-MT, M2M100 and NLLB models, on CPU and GPU, in closed batches."""

import asyncio
import json
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, Literal

import ctranslate2
import msgspec
import sentencepiece
from msgspec import Meta

from engines.engine import Capacity, RowFailure
from engines.errors import BadModelFile, EngineFault, Unavailable
from engines.languages import LanguageTag
from engines.mt.checks import LOST, fault_of
from engines.mt.codes import M2M100, NLLB, OPUS
from engines.mt.types import Translation, TranslationRequest

MAX_BATCH = 32
_BUCKETS = (12, 24, 48, 96, 192, 384, 768, 2_000)  # characters; rows of one call are about as long
_SPARE_TOKENS = 16
_GROWTH = 2
_LONGEST_ANSWER = 512  # tokens

Family = Literal["opus", "m2m100", "nllb"]


class CTranslate2Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a model runs. `instances`: calls at once, each on `threads` of the CPU's cores."""

    device: Literal["cpu", "cuda", "auto"] = "cpu"
    compute_type: str = "default"
    beam_size: Annotated[int, Meta(ge=1, le=8)] = 1
    instances: Annotated[int, Meta(ge=1, le=64)] = 1
    threads: Annotated[int, Meta(ge=1, le=256)] = 2


class CTranslate2Engine:
    """Engine[TranslationRequest, Translation] over one converted model's folder.

    The folder holds model.bin, its vocabularies and SentencePiece models: source.spm and target.spm, or one
    sentencepiece.bpe.model or spm.model for both. `pairs` are what it translates.
    """

    name = "ctranslate2"

    def __init__(
        self,
        folder: Path,
        version: str,
        pairs: Sequence[tuple[LanguageTag, LanguageTag]],
        settings: CTranslate2Settings,
        *,
        check: Callable[[str, TranslationRequest], str | None] = fault_of,
    ) -> None:
        """`check` says why an answer can't be shown, None where it can."""
        self.version = version
        self.capacity = Capacity(max_batch=MAX_BATCH, concurrency=settings.instances)
        self._folder = folder
        self._pairs = frozenset(pairs)
        self._settings = settings
        self._check = check
        self._threads = ThreadPoolExecutor(max_workers=settings.instances, thread_name_prefix="ctranslate2")
        self._model: _Model | None = None
        self._loading: asyncio.Future[_Model] | None = None
        self._closed = False

    def group(self, row: TranslationRequest) -> Hashable:
        """Rows of one call are of one pair and about as long, so that little is padded."""
        return row.source, row.target, next((size for size in _BUCKETS if len(row.text) <= size), None)

    async def warm(self) -> None:
        """Load the model. Raises EngineFault."""
        if self._closed:
            raise Unavailable("the engine is closed", hint="start it again")
        if self._model is None:
            if self._loading is None:
                loop = asyncio.get_running_loop()
                self._loading = loop.run_in_executor(self._threads, _Model, self._folder, self._settings)
            loading = self._loading
            try:
                self._model = await asyncio.shield(loading)
            except EngineFault:
                self._loading = None  # a file that was mended is found at the next probe
                raise

    async def run(self, rows: Sequence[TranslationRequest]) -> Sequence[Translation | RowFailure]:
        """Translate; a cancelled call goes on in its thread until it ends, its answers are lost. Raises EngineFault."""
        await self.warm()
        model = self._model
        assert model is not None
        wanted = [row for row in rows if row.text and (row.source, row.target) in self._pairs]
        loop = asyncio.get_running_loop()
        said = iter(await loop.run_in_executor(self._threads, model.translate, wanted) if wanted else [])
        return [self._answer(row, said) for row in rows]

    async def close(self) -> None:
        """End the threads and free the model; waits for calls that are under way."""
        self._closed = True
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(max_workers=1) as waiting:
            await loop.run_in_executor(waiting, self._threads.shutdown)
        self._model = None

    def _answer(self, row: TranslationRequest, said: Any) -> Translation | RowFailure:
        if (row.source, row.target) not in self._pairs:
            return RowFailure("unsupported_pair")
        text, tokens, cut = next(said) if row.text else ("", 0, False)
        fault = "too_long" if cut else self._check(text, row) if row.text else None
        if fault is not None and fault != LOST:
            return RowFailure(fault)
        return Translation(text=text, engine=self.name, model_version=self.version, tokens=tokens)


class _Model:
    """The loaded model; safe to call from several threads."""

    def __init__(self, folder: Path, settings: CTranslate2Settings) -> None:
        self._settings = settings
        self._words = _vocabulary(folder)
        self._family: Family = (
            "nllb" if NLLB["en"] in self._words else "m2m100" if f"__{M2M100['en']}__" in self._words else "opus"
        )
        try:
            pieces = [folder / name for name in _pieces(folder)]
            self._source = sentencepiece.SentencePieceProcessor(model_file=str(pieces[0]))
            self._target = sentencepiece.SentencePieceProcessor(model_file=str(pieces[-1]))
            self._translator = ctranslate2.Translator(
                str(folder),
                device=settings.device,
                compute_type=settings.compute_type,
                inter_threads=settings.instances,
                intra_threads=settings.threads,
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise BadModelFile(f"{folder.name} can't be loaded", hint="sampan models verify, then pull") from error

    def translate(self, rows: Sequence[TranslationRequest]) -> list[tuple[str, int, bool]]:
        """Each row's text, how many tokens were generated, and whether it went on beyond what its source allows."""
        sources = [self._tokens(row) for row in rows]
        prefixes = [_prefix(self._family, row.target) for row in rows]
        results = self._translator.translate_batch(
            sources,
            target_prefix=prefixes if any(prefixes) else None,
            beam_size=self._settings.beam_size,
            max_batch_size=MAX_BATCH,
            max_input_length=0,
            max_decoding_length=max(map(_most_tokens, sources)) + 1,
        )
        answers: list[tuple[str, int, bool]] = []
        for result, source, prefix in zip(results, sources, prefixes, strict=True):
            tokens = result.hypotheses[0][len(prefix or ()) :]
            answers.append((self._target.decode(tokens), len(tokens), len(tokens) > _most_tokens(source)))
        return answers

    def _tokens(self, row: TranslationRequest) -> list[str]:
        pieces: list[str] = self._source.encode(row.text, out_type=str)
        if self._family == "nllb":
            return [NLLB[row.source], *pieces, "</s>"]
        if self._family == "m2m100":
            return [f"__{M2M100[row.source]}__", *pieces, "</s>"]
        to_one_of_several = f">>{OPUS[row.target]}<<"
        return [to_one_of_several, *pieces] if to_one_of_several in self._words else pieces


def _most_tokens(source: Sequence[str]) -> int:
    return min(_LONGEST_ANSWER, _GROWTH * len(source) + _SPARE_TOKENS)


def _vocabulary(folder: Path) -> frozenset[str]:
    """The source's words, by whose special ones a family is told."""
    for name in ("shared_vocabulary", "source_vocabulary"):
        for path in (folder / f"{name}.json", folder / f"{name}.txt"):
            if path.is_file():
                text = path.read_text(encoding="utf-8")
                return frozenset(json.loads(text) if path.suffix == ".json" else text.splitlines())
    raise BadModelFile(f"{folder.name} has no vocabulary", hint="sampan models verify, then pull")


def _pieces(folder: Path) -> tuple[str, ...]:
    for names in (("source.spm", "target.spm"), ("sentencepiece.bpe.model",), ("spm.model",)):
        if all((folder / name).is_file() for name in names):
            return names
    raise BadModelFile(f"{folder.name} has no SentencePiece model", hint="sampan models verify, then pull")


def _prefix(family: Family, target: LanguageTag) -> list[str] | None:
    if family == "nllb":
        return [NLLB[target]]
    return [f"__{M2M100[target]}__"] if family == "m2m100" else None
