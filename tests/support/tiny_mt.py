"""Translation models made on the spot: of random weights, in the form that converted models have."""

from collections.abc import Iterable
from pathlib import Path

import ctranslate2
import numpy as np
import sentencepiece

TEXTS = (
    "How much is this kettle?",
    "The kettle is very nice, thank you.",
    "Is there a red one? I would like two.",
    "Please sing another song tonight.",
    "When will it be sent to Jakarta?",
    "Good evening everyone, welcome back to the show.",
    "这个水壶多少钱？",
    "主播今天唱得真好听，谢谢大家。",
    "请问什么时候发货？",
)


def make_model(
    folder: Path, *, layers: int = 1, width: int = 32, heads: int = 2, extra: Iterable[str] = (), ends: float = 2.0
) -> Path:
    """A translation model's folder: encoder and decoder of `layers`, random weights of one seed, SentencePiece pieces.

    `extra`: tokens of a family (">>vie<<", "__en__", "zho_Hans"); `ends`: how much it likes to end. It translates
    nothing, but the same way every time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    words = [*_train(folder), *extra]
    dice = np.random.default_rng(7)
    spec = ctranslate2.specs.TransformerSpec.from_config((layers, layers), heads)
    for side in (spec.encoder, spec.decoder):
        embeddings = side.embeddings[0] if isinstance(side.embeddings, list) else side.embeddings
        embeddings.weight = _matrix(dice, len(words), width)
        _norm(side.layer_norm, width)
        for layer in side.layer:
            _attention(layer.self_attention, dice, width, own=True)
            if hasattr(layer, "attention"):
                _attention(layer.attention, dice, width, own=False)
            _linear(layer.ffn.linear_0, dice, 4 * width, width)
            _linear(layer.ffn.linear_1, dice, width, 4 * width)
            _norm(layer.ffn.layer_norm, width)
    spec.decoder.scale_embeddings = True
    _linear(spec.decoder.projection, dice, len(words), width)
    spec.decoder.projection.bias[[number for number, word in enumerate(words) if word in set(extra)]] = -100.0
    spec.decoder.projection.bias[words.index("</s>")] = ends
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.add_source_eos = True
    spec.validate()
    spec.save(str(folder))
    return folder


def _train(folder: Path) -> list[str]:
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS * 20),
        model_prefix=str(folder / "source"),
        vocab_size=120,
        hard_vocab_limit=False,
        character_coverage=1.0,
        minloglevel=2,
    )
    model = folder / "source.model"
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(model.read_bytes())
    model.unlink()
    (folder / "source.vocab").unlink()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    return [pieces.id_to_piece(number) for number in range(pieces.get_piece_size())]


def _matrix(dice: np.random.Generator, rows: int, columns: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    return (dice.standard_normal((rows, columns)) / np.sqrt(columns)).astype(np.float32)


def _linear(spec: ctranslate2.specs.common_spec.LinearSpec, dice: np.random.Generator, out: int, into: int) -> None:
    spec.weight = _matrix(dice, out, into)
    spec.bias = np.zeros(out, np.float32)


def _norm(spec: ctranslate2.specs.common_spec.LayerNormSpec, width: int) -> None:
    spec.gamma, spec.beta = np.ones(width, np.float32), np.zeros(width, np.float32)


def _attention(spec: object, dice: np.random.Generator, width: int, *, own: bool) -> None:
    sizes = (3 * width, width) if own else (width, 2 * width, width)
    for linear, out in zip(spec.linear, sizes, strict=True):  # type: ignore[attr-defined]
        _linear(linear, dice, out, width)
    _norm(spec.layer_norm, width)  # type: ignore[attr-defined]
