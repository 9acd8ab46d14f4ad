"""llama.cpp's model and context behind few calls. Every call must come from one thread."""

import ctypes
from collections.abc import Sequence
from pathlib import Path

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from engines.errors import BadModelFile, OutOfMemory, Unavailable

BATCH_TOKENS = 1024  # tokens of one decode call

# llama.cpp writes its progress to standard error; the callback must outlive every call into the library.
_silence = llama_cpp.llama_log_callback(lambda _level, _text, _user: None)


class LlamaModel:
    """One GGUF model with one context of `context_tokens` cells shared by `sequences` sequences."""

    def __init__(self, path: Path, *, sequences: int, context_tokens: int) -> None:
        """Load. Raises BadModelFile where the file can't be read, OutOfMemory where the context can't be made."""
        llama_cpp.llama_log_set(_silence, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        if not path.is_file():
            raise BadModelFile(f"{path} is not there", hint="sampan models pull")
        self._model = llama_cpp.llama_model_load_from_file(str(path).encode(), llama_cpp.llama_model_default_params())
        if not self._model:
            raise BadModelFile(f"{path} is no model that llama.cpp reads", hint="sampan models verify, then pull")
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = context_tokens, BATCH_TOKENS, 512
        params.n_seq_max, params.kv_unified = sequences, True
        params.no_perf = True
        self._context = llama_cpp.llama_init_from_model(self._model, params)
        if not self._context:
            llama_cpp.llama_model_free(self._model)
            raise OutOfMemory("llama.cpp made no context", hint="lower models.mt_slots, or add memory")
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = llama_cpp.llama_batch_init(BATCH_TOKENS, 0, 1)
        self._filled = 0
        self.size: int = llama_cpp.llama_vocab_n_tokens(self._vocabulary)

    def close(self) -> None:
        """Free everything; the object is of no use afterwards."""
        llama_cpp.llama_batch_free(self._batch)
        llama_cpp.llama_free(self._context)
        llama_cpp.llama_model_free(self._model)

    def tokens(self, text: str, *, special: bool) -> list[int]:
        """The text's tokens. `special` False keeps "<|im_end|>" and its like as plain text."""
        encoded = text.encode("utf-8", "replace")
        room = len(encoded) + 8
        array = (llama_cpp.llama_token * room)()
        count = llama_cpp.llama_tokenize(self._vocabulary, encoded, len(encoded), array, room, False, special)
        return list(array[:count])

    def piece(self, token: int) -> bytes:
        """The bytes of a token; none for a control token."""
        buffer = ctypes.create_string_buffer(256)
        count = llama_cpp.llama_token_to_piece(self._vocabulary, token, buffer, 256, 0, False)
        return buffer.raw[: max(count, 0)]

    def ends(self, token: int) -> bool:
        """Whether the model says with this token that it is done."""
        return bool(llama_cpp.llama_vocab_is_eog(self._vocabulary, token))

    def add(self, token: int, position: int, sequence: int, *, logits: bool) -> int:
        """Put a token into the next decode; its row there."""
        row, batch = self._filled, self._batch
        batch.token[row], batch.pos[row] = token, position
        batch.n_seq_id[row], batch.seq_id[row][0] = 1, sequence
        batch.logits[row] = logits
        self._filled += 1
        return row

    def decode(self, threads: int) -> None:
        """Run what was added, if anything, on so many threads. Raises Unavailable where llama.cpp refuses."""
        llama_cpp.llama_set_n_threads(self._context, threads, threads)
        if not self._filled:
            return
        self._batch.n_tokens, self._filled = self._filled, 0
        code = llama_cpp.llama_decode(self._context, self._batch)
        if code != 0:
            raise Unavailable(f"llama_decode answered {code}", hint="try again; restart if it stays")
        llama_cpp.llama_synchronize(self._context)

    def discard(self) -> None:
        """Forget what was added and not decoded."""
        self._filled = 0

    def logits(self, row: int) -> NDArray[np.float32]:
        """The logits of a row of the last decode: a view that the next decode overwrites."""
        pointer = llama_cpp.llama_get_logits_ith(self._context, row)
        view: NDArray[np.float32] = np.ctypeslib.as_array(pointer, shape=(self.size,))
        return view

    def share(self, source: int, sequence: int) -> None:
        """Let `sequence` begin with all that `source` holds; cells are shared, not copied."""
        llama_cpp.llama_memory_seq_cp(self._memory, source, sequence, -1, -1)

    def save_sequence(self, sequence: int, file: Path, tokens: Sequence[int]) -> bool:
        """Write a sequence's cells, which hold `tokens`, to a file; False where that failed."""
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        name = str(file).encode()
        return bool(llama_cpp.llama_state_seq_save_file(self._context, name, sequence, array, len(tokens)))

    def load_sequence(self, sequence: int, file: Path, tokens: Sequence[int]) -> bool:
        """Fill an empty sequence from a file that holds just these tokens; False, and the sequence empty, where not."""
        room = (llama_cpp.llama_token * len(tokens))()
        count = ctypes.c_size_t(0)
        name = str(file).encode()
        read = llama_cpp.llama_state_seq_load_file(
            self._context, name, sequence, room, len(tokens), ctypes.byref(count)
        )
        if read and list(room[: count.value]) == list(tokens):
            return True
        self.forget(sequence)
        return False

    def forget(self, sequence: int, position: int = -1) -> None:
        """Drop a sequence's cells, from a position on or all of them."""
        llama_cpp.llama_memory_seq_rm(self._memory, sequence, position, -1)
