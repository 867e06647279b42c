"""One image file in, its frames out: pixels, opaque mask and resolution.

Pillow reads nearly everything; OpenCV decodes plain WebP, where it is half as fast again and releases the
interpreter lock; `pngs` reads PNG that deshred wrote, in a third of the time; `pdfs` renders PDFs. What they
raise becomes an InputError here. Risky files are not decoded in this process: see `workers`.
"""

from __future__ import annotations

import io
import math
import struct
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import PIL.Image
import PIL.ImageOps
from numpy.typing import NDArray
from PIL.TiffImagePlugin import TiffImageFile

from deshred.elements import Image, Mask
from deshred.errors import DeshredError, InputError
from deshred.imaging.formats import PILLOW_FORMATS, READABLE, describe_foreign, is_risky, recognize
from deshred.imaging.pngs import PlainPng, open_plain
from deshred.imaging.pngs import encode_png as encode_png

WORKING_DPI = 300.0
OPAQUE = 128
ORIENTATION = 0x0112  # the EXIF tag
NEW_SUBFILE_TYPE, REDUCED, TRANSPARENCY_MASK = 254, 1, 4  # the TIFF tag and two of its bits
STRIP_OFFSETS, ROWS_PER_STRIP = 273, 278  # TIFF tags
# Cameras and converters write 1, 72 or 96 dpi when they do not know; no flatbed goes beyond 4,800.
LEAST_PLAUSIBLE_DPI = 30.0
MOST_PLAUSIBLE_DPI = 4800.0
MEANINGLESS_DPI = (72.0, 96.0)
MOST_PLAUSIBLE_STRETCH = 4.0  # of pixels that are not square; a coarse fax has 2
LONGEST_SIDE = 65_535  # px; A4 at 4,800 dpi has 56,000
MOST_FRAMES = 2_000  # in one file

_VP8_START, _VP8_SIZE = b"\x9d\x01\x2a", 0x3FFF

_warning_filters = threading.Lock()  # they are global


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture of a file; `dpi` is None when the file does not know it."""

    image: Image  # (H, W, 3) RGB
    mask: Mask | None  # (H, W): opaque pixels
    dpi: float | None
    complaint: str = ""  # what the decoder said about damage it could not mend
    meaningless_dpi: float | None = None  # what the file says but cannot know


@dataclass(frozen=True, eq=False)
class Frames:
    """The pictures of a file: how many there are, and each as it is asked for."""

    count: int
    most_pixels: int  # of the largest
    pictures: Iterator[Frame]


def decode(content: bytes, path: Path, *, max_pixels: int) -> Frames:
    """All pictures of an image file or pages of a PDF; `path` only names the file in errors."""
    if not content:
        raise InputError(f"{path}: the file is empty (0 bytes). Copy or scan it again.")
    if recognize(content) == "PDF":
        from deshred.imaging.pdfs import decode_pdf

        return decode_pdf(content, path, max_pixels=max_pixels)
    with _reading(content, path):
        plain_size = _find_plain_size(content)
        if plain_size is not None:
            check_size(plain_size, path, max_pixels)
            return Frames(1, plain_size[0] * plain_size[1], _decode_plain_frame(content, path))
        png = open_plain(content)
        if png is not None:
            check_size((png.width, png.height), path, max_pixels)
            return Frames(1, png.width * png.height, _decode_png_frame(png, content, path, max_pixels))
        opened = _open(content)
        pictures = _find_pictures(opened)
        check_count(len(pictures), path)
        sizes = [_measure(opened, index, path, max_pixels) for index in pictures]
    return Frames(len(pictures), max(sizes), _decode_frames(opened, pictures, content, path, max_pixels))


def decode_mask(content: bytes, path: Path, *, max_pixels: int) -> Mask:
    """The bright pixels of an image file or, where it has alpha, the opaque ones."""
    if is_risky(content):
        raise InputError(f"{path}: a mask must be a PNG; this is a {recognize(content)}. Save it again.")
    with _reading(content, path), _open(content) as opened:
        check_size(opened.size, path, max_pixels)
        if opened.mode in ("1", "L") and "transparency" not in opened.info:
            width, height = opened.size
            # as bytes at once: a picture of bits that is converted takes three times as long
            gray = np.frombuffer(opened.tobytes("raw", "L"), np.uint8).reshape(height, width)
            return gray >= OPAQUE
        image, mask = _to_rgb(opened, path)
        return image[..., 0] >= OPAQUE if mask is None else mask


@contextmanager
def _reading(content: bytes, path: Path) -> Iterator[None]:
    """Turn everything that can go wrong with an image inside into an InputError."""
    try:
        yield
    except DeshredError:
        raise
    except PIL.UnidentifiedImageError:
        raise InputError(f"{path}: {_describe_unreadable(content)}") from None
    except PIL.Image.DecompressionBombError as error:
        raise InputError(
            f"{path}: refused, it would unpack to a gigantic image ({error}). Scan at 300 dpi, in parts."
        ) from None
    except MemoryError:
        raise InputError(
            f"{path}: it takes more memory than there is. Scan at 300 dpi, in parts, or raise --memory."
        ) from None
    except Exception as error:  # a decoder may fail in any way on a damaged file
        raise InputError(
            f"{path}: the image is damaged or cut off ({error}). Copy or scan it again."
        ) from error


def _describe_unreadable(content: bytes) -> str:
    if recognize(content):
        return (
            f"the image is damaged or cut off, or of a rare kind ({len(content):,} bytes). "
            "Copy or scan it again, or save it as PNG."
        )
    foreign = describe_foreign(content)
    if foreign:
        return f"{foreign}, which cannot be read. Save it as {READABLE}."
    return f"this is not an image that can be read ({len(content):,} bytes). Use {READABLE}."


def _open(content: bytes) -> PIL.Image.Image:
    with _warning_filters, warnings.catch_warnings():
        # Pillow warns from 89 megapixels on; `check_size` is our own limit, Pillow's hard one stays.
        warnings.simplefilter("ignore", PIL.Image.DecompressionBombWarning)
        warnings.simplefilter("ignore", UserWarning)  # about a file that is cut off, which we say ourselves
        return PIL.Image.open(io.BytesIO(content), formats=PILLOW_FORMATS)


def check_size(size: tuple[float, float], path: Path, max_pixels: int) -> None:
    """Refuse a picture that is larger than the limit, or whose size makes no sense."""
    width, height = size
    if not (1 <= width <= LONGEST_SIDE and 1 <= height <= LONGEST_SIDE):
        raise InputError(
            f"{path}: a picture of {width:.0f} x {height:.0f} pixels: the file is damaged, as no side can "
            f"have more than {LONGEST_SIDE:,}. Copy or scan it again."
        )
    if width * height > max_pixels:
        raise InputError(
            f"{path}: {width:.0f} x {height:.0f} pixels are more than the limit of "
            f"{max_pixels / 1e6:g} megapixels. Scan at 300 dpi, in parts, or raise --max-megapixels if the "
            "file is what you think it is."
        )


def check_count(count: int, path: Path) -> None:
    """Refuse a file of no pictures, or of more than anybody scans into one file."""
    if not 1 <= count <= MOST_FRAMES:
        raise InputError(
            f"{path}: has {count:,} pictures; 1 to {MOST_FRAMES:,} can be read from one file. Split it."
        )


def _is_plain(opened: PIL.Image.Image, content: bytes) -> bool:
    """Whether OpenCV may decode it: nothing to turn or to mask, and not cut off, which it would not tell.

    Not JPEG: there it gains a tenth, and complains on stderr about files that are merely untidy.
    """
    return (
        opened.format == "WEBP"
        and opened.mode == "RGB"
        and getattr(opened, "n_frames", 1) == 1
        and opened.getexif().get(ORIENTATION, 1) == 1
        and len(content) >= 8 + int.from_bytes(content[4:8], "little")
    )


def _find_plain_size(content: bytes) -> tuple[int, int] | None:
    """Width and height of a WebP that holds one lossy picture and nothing else; None for all other files."""
    whole = 8 + int.from_bytes(content[4:8], "little")
    if content[:4] != b"RIFF" or content[8:16] != b"WEBPVP8 " or len(content) < max(whole, 30):
        return None
    if content[23:26] != _VP8_START:
        return None
    width, height = struct.unpack("<HH", content[26:30])
    return width & _VP8_SIZE, height & _VP8_SIZE


def _decode_plain_frame(content: bytes, path: Path) -> Iterator[Frame]:
    with _reading(content, path):
        yield Frame(_decode_plain(content, path), None, None)


def _decode_png_frame(png: PlainPng, content: bytes, path: Path, max_pixels: int) -> Iterator[Frame]:
    with _reading(content, path):
        pixels = png.unpack()
        if pixels is not None:
            image, mask = _split_alpha(pixels, path) if png.channels == 4 else (pixels, None)
            yield _to_square(image, mask, _check_resolution(png.dpi), path, max_pixels)
            return
        opened = _open(content)
    yield from _decode_frames(opened, [opened.tell()], content, path, max_pixels)


def _decode_plain(content: bytes, path: Path) -> Image:
    image = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR_RGB)
    if image is None:
        raise InputError(f"{path}: the image is damaged. Copy or scan it again.")
    return np.asarray(image, np.uint8)


def _decode_frames(
    opened: PIL.Image.Image, pictures: list[int], content: bytes, path: Path, max_pixels: int
) -> Iterator[Frame]:
    with _reading(content, path), opened:
        if _is_plain(opened, content):
            found = _resolutions(opened)
            yield Frame(_decode_plain(content, path), None, found.dpi_x, "", found.meaningless)
            return
        for index in pictures:
            opened.seek(index)
            yield _to_frame(opened, path, max_pixels)


def _find_pictures(opened: PIL.Image.Image) -> list[int]:
    """The frames that are pictures of their own: only a TIFF has pages.

    Elsewhere they are an animation, or the previews and depth maps in the JPEG of a phone.
    """
    if not isinstance(opened, TiffImageFile):
        return [opened.tell()]
    frames = list(range(opened.n_frames))
    return [index for index in frames if not _is_accessory(opened, index)] or frames


def _is_accessory(opened: TiffImageFile, index: int) -> bool:
    opened.seek(index)
    subfile_type = opened.tag_v2.get(NEW_SUBFILE_TYPE, 0)
    return isinstance(subfile_type, int) and bool(subfile_type & (REDUCED | TRANSPARENCY_MASK))


def _measure(opened: PIL.Image.Image, index: int, path: Path, max_pixels: int) -> int:
    """The pixels of a frame, each has its own; before room is made for them."""
    opened.seek(index)
    check_size(opened.size, path, max_pixels)
    width, height = opened.size
    if isinstance(opened, TiffImageFile):
        _check_strips(opened, height)
    return width * height


def _check_strips(opened: TiffImageFile, height: int) -> None:
    """A TIFF comes in strips of rows: a height that they do not reach is damaged."""
    strips, rows = opened.tag_v2.get(STRIP_OFFSETS), opened.tag_v2.get(ROWS_PER_STRIP)
    if isinstance(strips, tuple) and isinstance(rows, int) and len(strips) * rows < height:
        raise ValueError(f"{len(strips)} strips of {rows} rows are no {height} rows")


def _to_frame(picture: PIL.Image.Image, path: Path, max_pixels: int) -> Frame:
    found = _resolutions(picture)
    dpi_x, dpi_y = found.dpi_x, found.dpi_y
    orientation = picture.getexif().get(ORIENTATION, 1)
    if orientation >= 5:  # turned by a quarter
        dpi_x, dpi_y = dpi_y, dpi_x
    upright = picture if orientation == 1 else PIL.ImageOps.exif_transpose(picture)  # which copies
    image, mask = _to_rgb(upright, path)
    return _to_square(image, mask, _Resolution(dpi_x, dpi_y, found.meaningless), path, max_pixels)


def _to_square(image: Image, mask: Mask | None, found: _Resolution, path: Path, max_pixels: int) -> Frame:
    """A frame whose pixels are square."""
    dpi_x, dpi_y = found.dpi_x, found.dpi_y
    if dpi_x and dpi_y and abs(dpi_x / dpi_y - 1) > 0.01:  # fax: 204 x 98 dpi
        dpi = max(dpi_x, dpi_y)
        scale_x, scale_y = dpi / dpi_x, dpi / dpi_y
        height, width = image.shape[:2]
        check_size((round(width * scale_x), round(height * scale_y)), path, max_pixels)
        image, mask = resize(image, mask, scale_x, scale_y)
        return Frame(image, mask, dpi)
    return Frame(image, mask, dpi_x, "", found.meaningless)


def _to_rgb(picture: PIL.Image.Image, path: Path) -> tuple[Image, Mask | None]:
    if picture.mode.startswith("I"):
        return _from_deep_gray(np.asarray(picture)), None
    if picture.mode == "F":
        raise InputError(f"{path}: floating-point pixels cannot be read. Save it with 8 or 16 bits.")
    if picture.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in picture.info:
        return _split_alpha(np.asarray(picture if picture.mode == "RGBA" else picture.convert("RGBA")), path)
    if picture.mode in ("1", "L"):
        return _from_gray(np.asarray(picture.convert("L"))), None
    return np.asarray(picture if picture.mode == "RGB" else picture.convert("RGB")), None


def _split_alpha(rgba: NDArray[np.uint8], path: Path) -> tuple[Image, Mask | None]:
    mask = np.asarray(cv2.extractChannel(rgba, 3)) >= OPAQUE
    if not mask.any():
        raise InputError(f"{path}: every pixel is transparent. Save it without its alpha channel.")
    return np.asarray(cv2.cvtColor(rgba, cv2.COLOR_RGBA2RGB), np.uint8), None if mask.all() else mask


def _from_deep_gray(gray: NDArray[Any]) -> Image:
    """16 bits to 8; Pillow opens some 8-bit files with 32 bits per pixel, which need no scaling."""
    deep = gray.astype(np.int64) >> 8 if gray.max(initial=0) > 255 else gray
    return _from_gray(np.clip(deep, 0, 255).astype(np.uint8))


def _from_gray(gray: NDArray[np.uint8]) -> Image:
    return np.asarray(cv2.cvtColor(gray, cv2.COLOR_GRAY2RGB), np.uint8)


@dataclass(frozen=True)
class _Resolution:
    """Dots per inch to the right and down, where a file knows them."""

    dpi_x: float | None = None
    dpi_y: float | None = None
    meaningless: float | None = None


def _resolutions(picture: PIL.Image.Image) -> _Resolution:
    return _check_resolution(picture.info.get("dpi"))


def _check_resolution(given: object) -> _Resolution:
    """What a file says about its resolution, as far as that can be."""
    if not isinstance(given, tuple) or len(given) != 2:
        return _Resolution()
    dpi_x, dpi_y = float(given[0]), float(given[1])
    if all(round(dpi) in MEANINGLESS_DPI for dpi in given if math.isfinite(dpi)):
        return _Resolution(meaningless=dpi_x if math.isfinite(dpi_x) else None)
    if not all(LEAST_PLAUSIBLE_DPI <= dpi <= MOST_PLAUSIBLE_DPI for dpi in (dpi_x, dpi_y)):
        return _Resolution()
    if max(dpi_x, dpi_y) > MOST_PLAUSIBLE_STRETCH * min(dpi_x, dpi_y):
        return _Resolution()
    return _Resolution(dpi_x, dpi_y)


def resize(image: Image, mask: Mask | None, scale_x: float, scale_y: float) -> tuple[Image, Mask | None]:
    """Scale pixels and mask alike: averaged when shrinking, cubic when growing."""
    height, width = image.shape[:2]
    size = (max(1, round(width * scale_x)), max(1, round(height * scale_y)))
    method = cv2.INTER_AREA if scale_x * scale_y < 1 else cv2.INTER_CUBIC
    resized = np.asarray(cv2.resize(image, size, interpolation=method), np.uint8)
    if mask is None:
        return resized, None
    coverage = cv2.resize(mask.astype(np.float32), size, interpolation=method)
    return resized, coverage >= 0.5
