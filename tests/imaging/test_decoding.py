from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PIL.TiffImagePlugin import AppendingTiffWriter

from deshred.errors import InputError
from deshred.imaging.decoding import Frame, encode_png
from deshred.imaging.decoding import decode as decode_frames


def decode(content: bytes, path: Path, *, max_pixels: int) -> list[Frame]:
    return list(decode_frames(content, path, max_pixels=max_pixels).pictures)


def plain(height: int, width: int, level: int = 200) -> Image.Image:
    return Image.fromarray(np.full((height, width, 3), level, np.uint8))


def tiff(pages: Sequence[tuple[Image.Image, int]]) -> bytes:
    """A TIFF of pages, each with its NewSubfileType."""
    buffer = io.BytesIO()
    with AppendingTiffWriter(buffer, new=True) as writer:
        for page, subfile_type in pages:
            page.save(writer, format="TIFF", tiffinfo={254: subfile_type})
            writer.newFrame()
        return buffer.getvalue()


def levels(content: bytes) -> list[int]:
    return [int(frame.image[0, 0, 0]) for frame in decode(content, Path("x"), max_pixels=10**6)]


def test_the_previews_in_the_jpeg_of_a_phone_are_no_frames() -> None:
    buffer = io.BytesIO()
    plain(80, 60).save(buffer, format="MPO", save_all=True, append_images=[plain(20, 15), plain(40, 30, 9)])
    content = buffer.getvalue()
    assert Image.open(io.BytesIO(content)).n_frames == 3  # type: ignore[attr-defined]
    (frame,) = decode(content, Path("phone.jpg"), max_pixels=10**6)
    assert frame.image.shape == (80, 60, 3)


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_an_animation_is_its_first_frame(kind: str) -> None:
    buffer = io.BytesIO()
    more = [plain(80, 60, 100), plain(80, 60, 200)]
    plain(80, 60, 10).save(buffer, format=kind, save_all=True, append_images=more, lossless=True)
    assert Image.open(io.BytesIO(buffer.getvalue())).n_frames == 3  # type: ignore[attr-defined]
    assert levels(buffer.getvalue()) == [10]


def test_previews_and_masks_in_a_tiff_are_no_frames() -> None:
    pages = [(plain(80, 60, 10), 2), (plain(8, 6, 20), 1), (plain(80, 60, 30), 0), (plain(80, 60, 40), 4)]
    assert levels(tiff(pages)) == [10, 30]
    assert levels(tiff([pages[1], pages[0]])) == [10]


def test_a_tiff_of_nothing_but_previews_is_read_as_it_is() -> None:
    assert levels(tiff([(plain(8, 6, 20), 1)])) == [20]


def test_the_size_limit_holds_for_every_frame() -> None:
    content = tiff([(plain(10, 10), 0), (plain(300, 300), 0)])
    assert len(decode(content, Path("x"), max_pixels=90_000)) == 2
    with pytest.raises(InputError, match=r"many\.tif: 300 x 300 pixels are more than the limit of 0\.01"):
        decode(content, Path("many.tif"), max_pixels=10_000)


def test_the_size_limit_holds_for_pixels_made_square() -> None:
    buffer = io.BytesIO()
    plain(100, 100).save(buffer, format="TIFF", dpi=(400, 100))
    with pytest.raises(InputError, match="100 x 400 pixels"):
        decode(buffer.getvalue(), Path("x"), max_pixels=30_000)


@pytest.mark.parametrize("dpi", [(4800, 100), (100, 4800), (600, 149)])
def test_pixels_stretched_beyond_belief_have_no_known_resolution(dpi: tuple[int, int]) -> None:
    buffer = io.BytesIO()
    plain(100, 100).save(buffer, format="PNG", dpi=dpi)
    (frame,) = decode(buffer.getvalue(), Path("x"), max_pixels=10**6)
    assert (frame.image.shape, frame.dpi) == ((100, 100, 3), None)


@pytest.mark.parametrize(("vertical", "height"), [(98, 204), (196, 102)])
def test_fax_pixels_become_square(vertical: int, height: int) -> None:
    buffer = io.BytesIO()
    plain(98, 204).save(buffer, format="TIFF", dpi=(204, vertical))
    (frame,) = decode(buffer.getvalue(), Path("fax.tif"), max_pixels=10**6)
    assert frame.image.shape == (height, 204, 3)
    assert frame.dpi == pytest.approx(204)


@pytest.mark.parametrize(
    ("kind", "compression", "kept"),
    [
        ("TIFF", "tiff_lzw", 0.9),  # its directory lies at the end
        ("TIFF", "tiff_lzw", 0.01),
        ("TIFF", None, 0.3),
        ("PNG", None, 0.002),
        ("JPEG", None, 0.3),
        ("WEBP", None, 0.005),
        ("BMP", None, 0.0001),
    ],
)
def test_a_file_that_is_cut_off_is_called_so(kind: str, compression: str | None, kept: float) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (300, 400, 3)).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format=kind, compression=compression)
    content = buffer.getvalue()
    with pytest.raises(InputError, match=r"x: the image is damaged or cut off.*again"):
        decode(content[: max(12, int(len(content) * kept))], Path("x"), max_pixels=10**6)


@pytest.mark.parametrize("content", [b"II. The second chapter", b"BMW, a car", b"RIFF\0\0\0\0WAVEfmt "])
def test_what_only_resembles_an_image_is_none(content: bytes) -> None:
    with pytest.raises(InputError, match="not an image"):
        decode(content, Path("x"), max_pixels=10**6)


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (40, 33)])
def test_a_png_holds_every_pixel_the_mask_and_the_resolution(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    image, mask = rng.integers(0, 256, (*shape, 3), np.uint8), rng.random(shape) < 0.5
    with Image.open(io.BytesIO(encode_png(image, dpi=204))) as plain:
        np.testing.assert_array_equal(np.asarray(plain), image)
        assert plain.info["dpi"] == pytest.approx((204, 204), abs=0.1)
    with Image.open(io.BytesIO(encode_png(image[:, ::-1], mask))) as cut:
        np.testing.assert_array_equal(np.asarray(cut)[..., :3], image[:, ::-1])
        np.testing.assert_array_equal(np.asarray(cut)[..., 3], np.where(mask, 255, 0))


def test_a_plain_webp_is_read_as_pillow_reads_it_and_its_size_is_known_before() -> None:
    rng = np.random.default_rng(0)
    image = np.repeat(rng.integers(0, 256, (37, 53, 1)).astype(np.uint8), 3, axis=2)
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "WEBP", quality=70)
    content = buffer.getvalue()
    assert content[12:16] == b"VP8 "
    frames = decode_frames(content, Path("a.webp"), max_pixels=37 * 53)
    assert (frames.count, frames.most_pixels) == (1, 37 * 53)
    with Image.open(io.BytesIO(content)) as opened:
        np.testing.assert_allclose(next(frames.pictures).image, np.asarray(opened), atol=2)
    with pytest.raises(InputError, match="53 x 37 pixels are more than the limit"):
        decode_frames(content, Path("a.webp"), max_pixels=37 * 53 - 1)


@pytest.mark.parametrize("kept", [20, 30, 60, -5])
def test_a_plain_webp_that_is_cut_off_is_refused(kept: int) -> None:
    buffer = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, (37, 53, 3)).astype(np.uint8)
    Image.fromarray(noise).save(buffer, "WEBP", quality=70)
    with pytest.raises(InputError, match=r"a\.webp"):
        list(decode_frames(buffer.getvalue()[:kept], Path("a.webp"), max_pixels=10_000).pictures)
