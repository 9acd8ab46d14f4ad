"""Prompts that were read once are kept on disk, so that the next start has them in milliseconds."""

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import llama_cpp

from engines.mt.llama_model import LlamaModel

_MOST_FILES = 96  # about 10 MB each; the ones used longest ago are deleted


class PromptStore:
    """A folder of sequences' states, by their tokens and llama.cpp's version. A folder that can't be written is no use
    and no harm.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def restore(self, model: LlamaModel, sequence: int, tokens: Sequence[int]) -> bool:
        """Give a sequence the state after `tokens`, where that was kept."""
        file = self._file(tokens)
        if not file.is_file() or not model.load_sequence(sequence, file, tokens):
            return False
        with suppress(OSError):
            file.touch()
        return True

    def keep(self, model: LlamaModel, sequence: int, tokens: Sequence[int]) -> None:
        """Keep the state of a sequence that holds just these tokens."""
        file = self._file(tokens)
        part = file.with_suffix(f".{os.getpid()}.part")
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            if model.save_sequence(sequence, part, tokens):
                part.replace(file)
            self._forget_oldest()

    def _file(self, tokens: Sequence[int]) -> Path:
        told = f"{llama_cpp.__version__} {' '.join(map(str, tokens))}"
        return self._folder / f"{hashlib.sha256(told.encode()).hexdigest()[:32]}.kv"

    def _forget_oldest(self) -> None:
        files = sorted(self._folder.glob("*.kv"), key=lambda file: file.stat().st_mtime)
        for file in files[:-_MOST_FILES]:
            file.unlink(missing_ok=True)
