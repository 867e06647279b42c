from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import PIL.Image
import pytest
from numpy.typing import NDArray

from deshred.imaging.pngs import _add_up, encode_png, open_plain


def _picture(height: int, width: int, channels: int = 3) -> NDArray[np.uint8]:
    return np.random.default_rng(height).integers(0, 256, (height, width, channels), np.uint8)


def _save(pixels: NDArray[np.uint8], **options: object) -> bytes:
    buffer = io.BytesIO()
    PIL.Image.fromarray(pixels).save(buffer, "PNG", **options)  # type: ignore[arg-type]
    return buffer.getvalue()


def _with_chunk(content: bytes, name: bytes, body: bytes) -> bytes:
    chunk = struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return content[:33] + chunk + content[33:]  # behind the header


@pytest.mark.parametrize("size", [(1, 1), (63, 5), (64, 9), (65, 2), (400, 31)])
@pytest.mark.parametrize("is_cut", [False, True])
def test_what_was_written_is_read_as_pillow_reads_it(size: tuple[int, int], is_cut: bool) -> None:
    image = _picture(*size)
    content = encode_png(image, image[..., 0] > 99 if is_cut else None, dpi=204)
    png = open_plain(content)
    assert png is not None
    assert (png.height, png.width) == size
    with PIL.Image.open(io.BytesIO(content)) as opened:
        np.testing.assert_array_equal(png.unpack(), np.asarray(opened))
        assert png.dpi == opened.info["dpi"]


def _find_filters(content: bytes, row: int) -> set[int]:
    start = content.index(b"IDAT") + 4
    return set(zlib.decompress(content[start:-16])[::row])


def test_the_filter_that_takes_fewer_bytes_is_chosen() -> None:
    noisy = 250 + _picture(300, 90) % 5
    smooth = np.cumsum(_picture(300, 90) % 2, axis=0, dtype=np.uint8)
    for picture, kind in ((noisy, 0), (smooth, 2)):
        content = encode_png(picture)
        assert _find_filters(content, 1 + 90 * 3) == {kind}
        png = open_plain(content)
        assert png is not None
        np.testing.assert_array_equal(png.unpack(), picture)


def test_rows_are_added_up_as_numpy_adds_them() -> None:
    differences = _picture(200, 7)[..., 0]
    np.testing.assert_array_equal(
        _add_up(differences), np.add.accumulate(differences, axis=0, dtype=np.uint8)
    )


def test_a_file_with_other_filters_is_left_to_pillow() -> None:
    png = open_plain(_save(np.cumsum(_picture(90, 40) % 3, axis=1).astype(np.uint8)))
    assert png is not None
    assert png.unpack() is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        _save(_picture(9, 9)[..., 0]),  # gray
        _with_chunk(encode_png(_picture(9, 9)), b"tRNS", bytes(6)),  # one color is transparent
        _with_chunk(encode_png(_picture(9, 9)), b"IHDR", bytes(13)),
        _with_chunk(encode_png(_picture(9, 9)), b"pHYs", bytes(9)),  # a second one
        encode_png(_picture(9, 9))[:-20],
        encode_png(_picture(9, 9)).replace(b"IDAT", b"IDAX"),
    ],
)
def test_what_is_not_ours_is_not_opened(content: bytes) -> None:
    assert open_plain(content) is None


def test_any_changed_byte_is_noticed() -> None:
    content = encode_png(_picture(20, 8))
    for place in range(8, len(content)):
        changed = bytearray(content)
        changed[place] ^= 1
        png = open_plain(bytes(changed))
        assert png is None or png.unpack() is None


def test_pixels_that_are_more_than_the_header_says_are_not_unpacked() -> None:
    content = encode_png(_picture(20, 8))
    header = struct.pack(">IIBBBBB", 8, 10, 8, 2, 0, 0, 0)
    lying = content[:16] + header + struct.pack(">I", zlib.crc32(b"IHDR" + header)) + content[33:]
    png = open_plain(lying)
    assert png is not None
    assert png.height == 10
    assert png.unpack() is None
