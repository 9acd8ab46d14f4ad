"""When each word of a decoding was said: Whisper's cross-attention, aligned by CTranslate2. Sync.

The attention heads that follow the sound and the dynamic time warping over them are those of OpenAI's own word
timestamps (https://github.com/openai/whisper/discussions/684).
"""

from collections.abc import Sequence
from typing import Any

from engines.asr.types import Word

_FRAME_S = 0.02  # of the encoder's output


def words_of(
    tokens: Sequence[int], alignment: Sequence[tuple[int, int]], writing: Any, duration_s: float
) -> list[Word]:
    """The words of a decoding. `alignment`: which token was being said at which frame, as CTranslate2 gives it.

    `writing`: faster-whisper's tokenizer in the text's language.
    """
    starts: dict[int, float] = {}
    for token, frame in alignment:
        starts.setdefault(token, frame * _FRAME_S)
    texts, groups = writing.split_to_word_tokens([*tokens, writing.eot])
    found: list[Word] = []
    at = 0
    for text, group in zip(texts, groups, strict=True):
        at += len(group)
        if at <= len(tokens):
            found.append(Word(text=text, end=min(starts.get(at, duration_s), duration_s)))
    return found
