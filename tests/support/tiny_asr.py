"""Recognition models made on the spot for sherpa-onnx: random weights in the shape of SenseVoice and of a transducer.

They understand nothing, but say the same of the same sound every time.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.support.tiny_onnx import constant, model, node, tensor

_BANDS, _WINDOW, _SHIFT = 80, 7, 6
_WIDE = _BANDS * _WINDOW
_TAGS = ("<|zh|>", "<|en|>", "<|ja|>", "<|ko|>", "<|yue|>", "<|nospeech|>", "<|NEUTRAL|>", "<|Speech|>", "<|withitn|>")
_WORDS = ("▁tea", "▁pot", "茶", "壶", "<|BGM|>")
_LETTERS = ("<blk>", "<sos/eos>", "<unk>", "▁TRÀ", "▁NÓNG", "▁NHÀ", "▁BẠN")
_RANGE, _NEVER = 3.0, -1e6
_NOTHING_BELOW, _QUIET_BELOW = -15.0, -7.0  # mean logarithms of mel energy


def sense_voice_facts() -> dict[str, str]:
    """What a SenseVoice's metadata say; sherpa-onnx wants all of it."""
    codes = {"auto": 0, "zh": 3, "en": 4, "yue": 7, "ja": 11, "ko": 12}
    return {
        "vocab_size": str(len(_TAGS) + len(_WORDS) + 1),
        "lfr_window_size": str(_WINDOW),
        "lfr_window_shift": str(_SHIFT),
        "normalize_samples": "1",
        "with_itn": "14",
        "without_itn": "15",
        **{f"lang_{code}": str(number) for code, number in codes.items()},
        "neg_mean": ",".join(["0"] * _WIDE),
        "inv_stddev": ",".join(["1"] * _WIDE),
    }


def make_sense_voice(folder: Path, facts: Mapping[str, str] | None = None) -> Path:
    """A folder with a SenseVoice that hears silence, a yue speaker or a ja speaker, by loudness; and random words."""
    words = ["<blk>", *_TAGS, *_WORDS]
    size, dice = len(words), np.random.default_rng(3)
    openings = np.full((3, 4, size), -9.0, np.float32)
    for row, tag in enumerate(("<|nospeech|>", "<|yue|>", "<|ja|>")):
        for place, said in enumerate((tag, "<|NEUTRAL|>", "<|Speech|>", "<|withitn|>")):
            openings[row, place, words.index(said)] = 9.0
    weights = dice.normal(0.0, 0.3, (_WIDE, size)).astype(np.float32)
    bias = np.where([word in _TAGS for word in words], _NEVER, 0.0).astype(np.float32)
    nodes = [
        node("Gather", ["x", "first"], "frame", axis=1),  # others may be padding
        node("ReduceMean", ["frame"], "mean", axes=[1], keepdims=0),
        node("Greater", ["mean", "nothing"], "somebody"),
        node("Greater", ["mean", "quiet"], "loud"),
        node("Cast", ["somebody"], "one", to=7),
        node("Cast", ["loud"], "other", to=7),
        node("Add", ["one", "other"], "which"),
        node("Gather", ["openings", "which"], "opening", axis=0),
        node("MatMul", ["x", "weights"], "raw"),
        node("Sin", ["raw"], "mixed"),  # else the loudest band would decide alone
        node("Add", ["mixed", "bias"], "said"),
        node("Concat", ["opening", "said"], "logits", axis=1),
    ]
    constants = [
        constant("first", np.asarray(0, np.int64)),
        constant("nothing", np.asarray(_NOTHING_BELOW, np.float32)),
        constant("quiet", np.asarray(_QUIET_BELOW, np.float32)),
        constant("openings", openings),
        constant("weights", weights),
        constant("bias", bias),
    ]
    inputs = [
        tensor("x", "float32", ["N", "T", _WIDE]),
        *(tensor(name, "int32", ["N"]) for name in ("x_length", "language", "text_norm")),
    ]
    graph = model(
        nodes,
        constants,
        inputs,
        [tensor("logits", "float32", ["N", "L", size])],
        sense_voice_facts() if facts is None else facts,
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.int8.onnx").write_bytes(graph)
    return _with_tokens(folder, words)


def make_transducer(folder: Path, facts: Mapping[str, str] | None = None, *, lengths: str = "int64") -> Path:
    """A folder with a transducer that writes Vietnamese words in capitals, at random."""
    size, width, dice = len(_LETTERS), 16, np.random.default_rng(5)

    def drawn(*shape: int) -> NDArray[np.float32]:
        return dice.normal(0.0, 0.3, shape).astype(np.float32)

    told = {"vocab_size": str(size), "context_size": "2"} if facts is None else facts
    encoder = model(
        [node("MatMul", ["x", "into"], "encoder_out"), node("Identity", ["x_lens"], "encoder_out_lens")],
        [constant("into", drawn(_BANDS, width) / 8)],
        [tensor("x", "float32", ["N", "T", _BANDS]), tensor("x_lens", lengths, ["N"])],
        [tensor("encoder_out", "float32", ["N", "T", width]), tensor("encoder_out_lens", lengths, ["N"])],
    )
    decoder = model(
        [
            node("Gather", ["embedding", "y"], "embedded", axis=0),
            node("ReduceMean", ["embedded"], "decoder_out", axes=[1], keepdims=0),
        ],
        [constant("embedding", drawn(size, width))],
        [tensor("y", "int64", ["N", 2])],
        [tensor("decoder_out", "float32", ["N", width])],
        told,
    )
    joiner = model(
        [
            node("Add", ["encoder_out", "decoder_out"], "both"),
            node("Tanh", ["both"], "bent"),
            node("MatMul", ["bent", "outwards"], "drawn"),
            node("Add", ["drawn", "bias"], "logit"),
        ],
        [
            constant("outwards", drawn(width, size) * _RANGE),
            constant("bias", np.asarray([2.0, _NEVER, _NEVER, *[0.0] * (size - 3)], np.float32)),
        ],
        [tensor("encoder_out", "float32", ["N", width]), tensor("decoder_out", "float32", ["N", width])],
        [tensor("logit", "float32", ["N", size])],
    )
    folder.mkdir(parents=True, exist_ok=True)
    for part, graph in (("encoder", encoder), ("decoder", decoder), ("joiner", joiner)):
        (folder / f"{part}-epoch-1-avg-1.onnx").write_bytes(graph)
    return _with_tokens(folder, _LETTERS)


def _with_tokens(folder: Path, words: Sequence[str]) -> Path:
    (folder / "tokens.txt").write_text("".join(f"{word} {n}\n" for n, word in enumerate(words)), encoding="utf-8")
    return folder
