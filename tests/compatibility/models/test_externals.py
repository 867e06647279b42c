"""A model that keeps weights in other files is seen, wherever in it the tensor lies."""

from __future__ import annotations

import pytest

from deshred.compatibility.models.externals import uses_other_files


def field(number: int, content: bytes | int) -> bytes:
    """A field of a protocol buffer: a number, or bytes."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


OUTSIDE = field(13, field(1, b"location") + field(2, b"/etc/passwd"))
MARKED = field(14, 1)
INSIDE = field(1, 3) + field(14, 0) + field(9, bytes(400))


@pytest.mark.parametrize("tensor", [OUTSIDE, MARKED])
@pytest.mark.parametrize(
    "way",
    [
        [7, 5],  # graph, initializer
        [7, 1, 5, 5],  # graph, node, attribute, tensor
        [7, 1, 5, 6, 5],  # a graph inside a node
        [7, 15, 1],  # a sparse tensor
        [20, 1, 5],  # training
        [25, 7, 5, 5],  # a function
    ],
)
def test_a_tensor_outside_is_found_wherever_it_lies(tensor: bytes, way: list[int]) -> None:
    outside, inside = tensor, INSIDE
    for number in reversed(way):
        outside, inside = field(1000, 7) + field(number, outside), field(number, inside)
    assert uses_other_files(outside)
    assert not uses_other_files(inside)


@pytest.mark.parametrize("content", [b"\x3a\x7f", b"\xff" * 12, b"\x3b", field(7, b"x")[:1]])
def test_what_is_no_protocol_buffer_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"cut off|without an end|kind"):
        uses_other_files(content)


def test_nesting_without_end_is_refused() -> None:
    content = INSIDE
    for _ in range(60):
        content = field(1, field(5, field(6, content)))
    with pytest.raises(ValueError, match="too deep"):
        uses_other_files(field(7, content))
