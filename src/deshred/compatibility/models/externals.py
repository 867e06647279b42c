"""The bytes of an ONNX file in; whether its weights lie in other files out.

Such a file names paths, which ONNX Runtime would open. Read with our own eyes, as the package that knows the
format is only there for training: a protocol buffer is fields, each a number, a kind and a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DEEPEST = 50
_EXTERNAL_DATA, _DATA_LOCATION = 13, 14  # fields of a tensor

# message -> field -> the message it holds; only what can lead to a tensor
_MESSAGES: dict[str, dict[int, str]] = {
    "model": {7: "graph", 20: "training", 25: "function"},
    "training": {1: "graph", 2: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
}


@dataclass(frozen=True)
class _Field:
    number: int
    value: memoryview | int


def uses_other_files(content: bytes) -> bool:
    """Whether any tensor of a model is kept outside of it; ValueError where this is no protocol buffer."""
    return _looks_outside(memoryview(content), "model", 0)


def _looks_outside(message: memoryview, kind: str, depth: int) -> bool:
    if depth > _DEEPEST:
        raise ValueError("nested too deep")
    for field in _split(message):
        if kind == "tensor" and (field.number == _EXTERNAL_DATA or field == _Field(_DATA_LOCATION, 1)):
            return True
        inner = _MESSAGES[kind].get(field.number)
        if (
            inner is not None
            and isinstance(field.value, memoryview)
            and _looks_outside(field.value, inner, depth + 1)
        ):
            return True
    return False


def _split(message: memoryview) -> Iterator[_Field]:
    """The fields of a message."""
    place = 0
    while place < len(message):
        tag, place = _read_varint(message, place)
        kind, size = tag & 7, 0
        if kind == _VARINT:
            value, place = _read_varint(message, place)
            yield _Field(tag >> 3, value)
            continue
        if kind == _BYTES:
            size, place = _read_varint(message, place)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise ValueError(f"a field of kind {kind}")
        if place + size > len(message):
            raise ValueError("cut off")
        yield _Field(tag >> 3, message[place : place + size])
        place += size


def _read_varint(message: memoryview, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(message):
            raise ValueError("cut off")
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, place
    raise ValueError("a number without an end")
