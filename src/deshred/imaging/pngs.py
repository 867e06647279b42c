"""PNG as deshred writes it, and quick to read back.

All rows are packed as they are, or all as the difference to the one above. ISA-L packs and unpacks in a
fraction of the time of zlib, and no library lets us choose it. PNG files of others have other filters, or say
more than we know about: those are for Pillow.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from deshred.elements import Image, Mask

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">IIBBBBB")
_DENSITY = struct.Struct(">IIB")
_RGB, _RGBA = 2, 6  # color types
_CHANNELS = {_RGB: 3, _RGBA: 4}
_NONE, _UP = 0, 2  # filters: rows as they are, and as the difference to the one above
_LEVEL = 1  # of the packer: one more takes no fewer bytes
_KNOWN = frozenset({b"IHDR", b"pHYs", b"tEXt", b"IDAT", b"IEND"})  # others may change what pixels mean
_METER = 1  # the unit of a density
_PACKED = 128  # rows that are packed at a time
_TRIED, _TRIES = 16, 3  # rows that are packed with either filter to see which takes fewer bytes; how often
_BLOCK = 64  # rows that are added up side by side with those of other blocks
_INCH = 0.0254  # meters


def encode_png(image: Image, mask: Mask | None = None, *, dpi: float = 300.0, description: str = "") -> bytes:
    """PNG bytes with the resolution and a description in them; the mask becomes the alpha channel."""
    pixels = image if mask is None else np.dstack([image, mask.view(np.uint8) * np.uint8(255)])
    height, width, channels = pixels.shape
    kind = _RGB if channels == 3 else _RGBA
    per_meter = round(dpi / _INCH)
    return b"".join(
        [
            _SIGNATURE,
            *_make_chunk(b"IHDR", _HEADER.pack(width, height, 8, kind, 0, 0, 0)),
            *_make_chunk(b"pHYs", _DENSITY.pack(per_meter, per_meter, _METER)),
            *(_make_chunk(b"tEXt", b"Description\0" + description.encode("latin-1")) if description else ()),
            *_make_chunk(b"IDAT", _pack(pixels)),
            *_make_chunk(b"IEND", b""),
        ]
    )


@dataclass(frozen=True, eq=False)
class PlainPng:
    """A PNG of colors in eight bits that may be one of ours; its pixels are still packed."""

    width: int
    height: int
    channels: int
    dpi: tuple[float, float] | None
    packed: bytes

    def unpack(self) -> NDArray[np.uint8] | None:  # (H, W, C)
        """The pixels; None where a row has another filter, or anything is wrong, which Pillow can tell."""
        length = 1 + self.width * self.channels
        unpacker = isal_zlib.decompressobj()
        try:
            # one byte more than there should be: no file makes more of itself than its header says
            content = unpacker.decompress(self.packed, self.height * length + 1)
        except isal_zlib.error:  # type: ignore[misc] # it is one
            return None
        if len(content) != self.height * length or not unpacker.eof or unpacker.unused_data:
            return None
        filtered = np.frombuffer(content, np.uint8).reshape(self.height, length)
        kinds, rows = set(filtered[:, 0].tolist()), filtered[:, 1:]
        if kinds not in ({_NONE}, {_UP}):
            return None
        pixels = _add_up(rows) if kinds == {_UP} else rows.copy()
        return pixels.reshape(self.height, self.width, self.channels)


def open_plain(content: bytes) -> PlainPng | None:
    """A PNG that `unpack` may know how to read; None for all other files."""
    if not content.startswith(_SIGNATURE):
        return None
    chunks = _read_chunks(content)
    if chunks is None or chunks[0].name != b"IHDR" or len(chunks[0].content) != _HEADER.size:
        return None
    width, height, bits, kind, *methods = _HEADER.unpack(chunks[0].content)
    if bits != 8 or kind not in _CHANNELS or any(methods):
        return None
    densities = [chunk.content for chunk in chunks if chunk.name == b"pHYs"]
    packed = [chunk.content for chunk in chunks if chunk.name == b"IDAT"]
    if len(densities) > 1 or len(packed) != 1 or any(len(one) != _DENSITY.size for one in densities):
        return None
    across, down, unit = _DENSITY.unpack(densities[0]) if densities else (0, 0, 0)
    dpi = (across * _INCH, down * _INCH) if unit == _METER else None
    return PlainPng(width, height, _CHANNELS[kind], dpi, packed[0])


@dataclass(frozen=True)
class _Chunk:
    name: bytes
    content: bytes


def _read_chunks(content: bytes) -> list[_Chunk] | None:
    """All chunks up to the last; None where one is unknown, cut off, or not what its checksum says."""
    chunks: list[_Chunk] = []
    place = len(_SIGNATURE)
    while not chunks or chunks[-1].name != b"IEND":
        if place + 12 > len(content):
            return None
        (length,) = struct.unpack_from(">I", content, place)
        name, stop = content[place + 4 : place + 8], place + 8 + length
        if name not in _KNOWN or (name == b"IHDR") != (not chunks) or stop + 4 > len(content):
            return None
        chunk = _Chunk(name, content[place + 8 : stop])
        if struct.unpack_from(">I", content, stop) != (
            isal_zlib.crc32(chunk.content, isal_zlib.crc32(name)),
        ):
            return None
        chunks.append(chunk)
        place = stop + 4
    return chunks


def _pack(pixels: NDArray[np.uint8]) -> bytes:  # (H, W, C)
    """Rows as PNG packs them: the number of the filter, and what it makes of the row."""
    rows = pixels.reshape(len(pixels), -1)
    return _pack_rows(rows, _choose_filter(rows))


def _choose_filter(rows: NDArray[np.uint8]) -> int:  # (H, n)
    """What packs some rows into fewer bytes: differences where tones are smooth, not where they are noisy."""
    middles = np.linspace(0, len(rows), _TRIES + 2)[1:-1].astype(int).tolist()
    tried = [rows[max(middle - _TRIED // 2, 0) :][:_TRIED] for middle in middles]
    as_they_are, differences = (sum(len(_pack_rows(some, kind)) for some in tried) for kind in (_NONE, _UP))
    return _NONE if as_they_are < differences else _UP


def _pack_rows(rows: NDArray[np.uint8], kind: int) -> bytes:  # (H, n)
    """All rows with one filter.

    Some rows at a time, as what is packed while it is in the cache takes a quarter less.
    """
    packer = isal_zlib.compressobj(_LEVEL)
    filtered = np.empty((min(_PACKED, len(rows)), 1 + rows.shape[1]), np.uint8)
    filtered[:, 0] = kind
    parts = []
    for start in range(0, len(rows), _PACKED):
        some = rows[start : start + _PACKED]
        packed = filtered[: len(some), 1:]
        if kind == _NONE:
            packed[:] = some
        else:
            np.subtract(some[1:], some[:-1], out=packed[1:])
            np.subtract(some[0], rows[start - 1] if start else 0, out=packed[0])
        parts.append(packer.compress(filtered[: len(some)]))
    return b"".join([*parts, packer.flush()])


def _add_up(differences: NDArray[np.uint8]) -> NDArray[np.uint8]:  # (H, n) -> (H, n)
    """The sums of all rows so far: within blocks of rows, then from block to block.

    `np.add.accumulate` does the same in five times the time, column by column.
    """
    height, width = differences.shape
    blocks = np.zeros((-(-height // _BLOCK), _BLOCK, width), np.uint8)
    rows = blocks.reshape(-1, width)[:height]
    rows[:] = differences
    for row in range(1, _BLOCK):
        blocks[:, row] += blocks[:, row - 1]
    for block in range(1, len(blocks)):
        blocks[block] += blocks[block - 1, -1]
    return rows


def _make_chunk(name: bytes, content: bytes) -> Iterator[bytes]:
    yield struct.pack(">I", len(content)) + name
    yield content
    yield struct.pack(">I", isal_zlib.crc32(content, isal_zlib.crc32(name)))
