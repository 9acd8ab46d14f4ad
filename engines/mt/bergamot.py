"""Translation by Bergamot's student models (Firefox's): one pair a model, tens of milliseconds a line on a CPU.

The models and their form are those of https://github.com/mozilla/firefox-translations-models (MPL-2.0).
"""

import asyncio
import gzip
from collections.abc import Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fxtranslate import Translator

from engines.engine import Capacity, RowFailure
from engines.errors import BadModelFile, Unavailable
from engines.languages import LanguageTag
from engines.mt.checks import LOST, fault_of
from engines.mt.types import Translation, TranslationRequest


class BergamotEngine:
    """Engine[TranslationRequest, Translation] over one pair's folder.

    The folder holds model.*.bin, lex.*.bin and vocab.*.spm, or srcvocab.*.spm and trgvocab.*.spm; each may be gzipped.
    """

    name = "bergamot"

    def __init__(self, folder: Path, version: str, pair: tuple[LanguageTag, LanguageTag]) -> None:
        self.version = version
        self.capacity = Capacity(max_batch=1, concurrency=1)
        self._folder = folder
        self._pair = pair
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bergamot")
        self._translator: Translator | None = None
        self._closed = False

    def group(self, row: TranslationRequest) -> Hashable:
        """A call has one row."""
        return row.source, row.target

    async def warm(self) -> None:
        """Load the model. Raises EngineFault."""
        if self._closed:
            raise Unavailable("the engine is closed", hint="start it again")
        await asyncio.get_running_loop().run_in_executor(self._thread, self._load)

    async def run(self, rows: Sequence[TranslationRequest]) -> Sequence[Translation | RowFailure]:
        """Translate; a cancelled row goes on in the thread until it ends. Raises EngineFault."""
        await self.warm()
        loop = asyncio.get_running_loop()
        return [await loop.run_in_executor(self._thread, self._translate, row) for row in rows]

    async def close(self) -> None:
        """End the thread and free the model."""
        self._closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._translator = None

    def _load(self) -> Translator:
        if self._translator is None:
            self._translator = _translator(self._folder)
        return self._translator

    def _translate(self, row: TranslationRequest) -> Translation | RowFailure:
        if (row.source, row.target) != self._pair:
            return RowFailure("unsupported_pair")
        text = self._load().translate_long(row.text) if row.text else ""
        fault = fault_of(text, row) if row.text else None
        if fault is not None and fault != LOST:
            return RowFailure(fault)
        return Translation(text=text, engine=self.name, model_version=self.version)


def _translator(folder: Path) -> Translator:
    source = _bytes(folder, "srcvocab.*.spm", "vocab.*.spm")
    target = _bytes(folder, "trgvocab.*.spm", "vocab.*.spm")
    try:
        return Translator(
            model=_bytes(folder, "model.*.bin"),
            src_vocab=source,
            trg_vocab=target,
            shortlist=_bytes(folder, "lex.*.bin"),
        )
    except ValueError as error:
        raise BadModelFile(f"{folder.name} can't be loaded", hint="sampan models verify, then pull") from error


def _bytes(folder: Path, *patterns: str) -> bytes:
    """The first file that is there, unpacked."""
    for pattern in patterns:
        for file in sorted([*folder.glob(pattern), *folder.glob(f"{pattern}.gz")]):
            try:
                content = file.read_bytes()
                return gzip.decompress(content) if file.suffix == ".gz" else content
            except (OSError, EOFError) as error:
                raise BadModelFile(f"{file.name} can't be read", hint="sampan models verify, then pull") from error
    raise BadModelFile(f"{folder.name} has no {patterns[0]}", hint="sampan models pull")
