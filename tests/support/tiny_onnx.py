"""ONNX files written by hand: just enough of the format for graphs of a few nodes, without the onnx package."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_TYPES = {"float32": 1, "int32": 6, "int64": 7}
_OPSET = 13

Shape = Sequence[int | str]


def node(operator: str, inputs: Sequence[str], output: str, **attributes: int | Sequence[int]) -> bytes:
    """A NodeProto; attributes are whole numbers or lists of them."""
    parts = [_text(1, name) for name in inputs] + [_text(2, output), _text(4, operator)]
    for name, value in attributes.items():
        if isinstance(value, int):
            parts.append(_block(5, _text(1, name) + _number(3, value) + _number(20, 2)))
        else:
            numbers = b"".join(_number(8, one) for one in value)
            parts.append(_block(5, _text(1, name) + numbers + _number(20, 7)))
    return b"".join(parts)


def constant(name: str, value: NDArray[np.generic]) -> bytes:
    """A TensorProto for a graph's initializers."""
    sizes = b"".join(_number(1, size) for size in value.shape)
    return sizes + _number(2, _TYPES[value.dtype.name]) + _text(8, name) + _block(9, value.tobytes())


def tensor(name: str, kind: str, shape: Shape) -> bytes:
    """A ValueInfoProto: an input or output, with named or fixed sizes."""
    sizes = [_block(1, _number(1, size) if isinstance(size, int) else _text(2, size)) for size in shape]
    return _text(1, name) + _block(2, _block(1, _number(1, _TYPES[kind]) + _block(2, b"".join(sizes))))


def model(
    nodes: Sequence[bytes],
    constants: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    told: Mapping[str, str] | None = None,
) -> bytes:
    """A ModelProto with its metadata."""
    graph = b"".join(
        [_block(1, one) for one in nodes]
        + [_text(2, "tiny")]
        + [_block(5, one) for one in constants]
        + [_block(11, one) for one in inputs]
        + [_block(12, one) for one in outputs]
    )
    metadata = b"".join(_block(14, _text(1, key) + _text(2, value)) for key, value in (told or {}).items())
    return _number(1, 8) + _block(7, graph) + _block(8, _number(2, _OPSET)) + metadata


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _block(field: int, content: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _text(field: int, content: str) -> bytes:
    return _block(field, content.encode())
