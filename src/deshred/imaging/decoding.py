"""One image file in, its frames out: pixels, opaque mask and resolution; and back to PNG.

Pillow reads nearly everything; OpenCV decodes plain WebP, where it is half as fast again and releases the
interpreter lock; PDFium renders PDFs. What they raise becomes an InputError here.
"""

from __future__ import annotations

import io
import re
import struct
import threading
import warnings
import zlib
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
from deshred.errors import InputError

WORKING_DPI = 300.0
OPAQUE = 128
ORIENTATION = 0x0112  # the EXIF tag
NEW_SUBFILE_TYPE, REDUCED, TRANSPARENCY_MASK = 254, 1, 4  # the TIFF tag and two of its bits
# Cameras and converters write 1, 72 or 96 dpi when they do not know; no flatbed goes beyond 4,800.
LEAST_PLAUSIBLE_DPI = 97.0  # a fax has 98
MOST_PLAUSIBLE_DPI = 4800.0
MOST_PLAUSIBLE_STRETCH = 4.0  # of pixels that are not square; a coarse fax has 2

# How the files begin that Pillow should be able to read: PNG, JPEG, TIFF, WebP and BMP.
_BEGINNINGS = re.compile(rb"\x89PNG|\xff\xd8\xff|II[*+]\0|MM\0[*+]|RIFF....WEBP|BM....\0{4}", re.DOTALL)

_pdfium = threading.Lock()  # PDFium is not thread-safe
_warning_filters = threading.Lock()  # they are global


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture of a file; `dpi` is None when the file does not know it."""

    image: Image  # (H, W, 3) RGB
    mask: Mask | None  # (H, W): opaque pixels
    dpi: float | None


def decode(content: bytes, path: Path, *, max_pixels: int) -> list[Frame]:
    """All frames of an image file or pages of a PDF; `path` only names the file in errors."""
    if content[:1024].lstrip().startswith(b"%PDF"):
        return _decode_pdf(content, path, max_pixels)
    with _opening(content, path, max_pixels) as opened:
        if _is_plain(opened, content):
            return [Frame(_decode_plain(content, path), None, _resolutions(opened)[0])]
        return list(_decode_frames(opened, path, max_pixels))


def decode_mask(content: bytes, path: Path, *, max_pixels: int) -> Mask:
    """The bright pixels of an image file or, where it has alpha, the opaque ones."""
    with _opening(content, path, max_pixels) as opened:
        if opened.mode in ("1", "L") and "transparency" not in opened.info:
            return np.asarray(opened.convert("L")) >= OPAQUE
        image, mask = _to_rgb(opened, path)
        return image[..., 0] >= OPAQUE if mask is None else mask


@contextmanager
def _opening(content: bytes, path: Path, max_pixels: int) -> Iterator[PIL.Image.Image]:
    """Open an image, and turn everything that can go wrong with it inside into an InputError."""
    if not content:
        raise InputError(f"{path}: the file is empty (0 bytes). Copy or scan it again.")
    try:
        with _open(content) as opened:
            _check_size(opened.size, path, max_pixels)
            yield opened
    except PIL.UnidentifiedImageError:
        if _BEGINNINGS.match(content):
            raise InputError(
                f"{path}: the image is damaged or cut off, or of a rare kind ({len(content):,} bytes). "
                "Copy or scan it again, or save it as PNG."
            ) from None
        raise InputError(
            f"{path}: this is not an image that can be read ({len(content):,} bytes). "
            "Use PNG, JPEG, TIFF, WebP or PDF."
        ) from None
    except PIL.Image.DecompressionBombError as error:
        raise InputError(
            f"{path}: refused, it would unpack to a gigantic image ({error}). Scan at 300 dpi, in parts."
        ) from None
    except (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error) as error:
        raise InputError(
            f"{path}: the image is damaged or cut off ({error}). Copy or scan it again."
        ) from None


def encode_png(image: Image, mask: Mask | None = None, *, dpi: float = WORKING_DPI) -> bytes:
    """PNG bytes with the resolution in them; the mask becomes the alpha channel."""
    pixels = cv2.cvtColor(image, cv2.COLOR_RGB2BGR)
    if mask is not None:
        pixels = np.dstack([pixels, mask.astype(np.uint8) * 255])
    encoded = cv2.imencode(".png", pixels, [cv2.IMWRITE_PNG_COMPRESSION, 3])[1].tobytes()
    per_meter = round(dpi / 0.0254)
    physical = b"pHYs" + struct.pack(">IIB", per_meter, per_meter, 1)
    chunk = struct.pack(">I", 9) + physical + struct.pack(">I", zlib.crc32(physical))
    header_end = 8 + 25  # signature and IHDR: OpenCV cannot write pHYs, which belongs right behind them
    return encoded[:header_end] + chunk + encoded[header_end:]


def _open(content: bytes) -> PIL.Image.Image:
    with _warning_filters, warnings.catch_warnings():
        # Pillow warns from 89 megapixels on; `_check_size` is our own limit, Pillow's hard one stays.
        warnings.simplefilter("ignore", PIL.Image.DecompressionBombWarning)
        warnings.simplefilter("ignore", UserWarning)  # about a file that is cut off, which we say ourselves
        return PIL.Image.open(io.BytesIO(content))


def _check_size(size: tuple[int, int], path: Path, max_pixels: int) -> None:
    width, height = size
    if width * height > max_pixels:
        raise InputError(
            f"{path}: {width} x {height} pixels are more than the limit of {max_pixels / 1e6:g} megapixels. "
            "Scan at 300 dpi, in parts, or raise --max-megapixels if the file is what you think it is."
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


def _decode_plain(content: bytes, path: Path) -> Image:
    image = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR_RGB)
    if image is None:
        raise InputError(f"{path}: the image is damaged. Copy or scan it again.")
    return np.asarray(image, np.uint8)


def _decode_frames(opened: PIL.Image.Image, path: Path, max_pixels: int) -> Iterator[Frame]:
    for index in _find_pictures(opened):
        opened.seek(index)
        _check_size(opened.size, path, max_pixels)  # each frame has its own
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


def _to_frame(picture: PIL.Image.Image, path: Path, max_pixels: int) -> Frame:
    dpi_x, dpi_y = _resolutions(picture)
    orientation = picture.getexif().get(ORIENTATION, 1)
    if orientation >= 5:  # turned by a quarter
        dpi_x, dpi_y = dpi_y, dpi_x
    upright: PIL.Image.Image = PIL.ImageOps.exif_transpose(picture)
    image, mask = _to_rgb(upright, path)
    if dpi_x and dpi_y and abs(dpi_x / dpi_y - 1) > 0.01:  # fax: 204 x 98 dpi
        dpi = max(dpi_x, dpi_y)
        scale_x, scale_y = dpi / dpi_x, dpi / dpi_y
        _check_size((round(upright.width * scale_x), round(upright.height * scale_y)), path, max_pixels)
        image, mask = resize(image, mask, scale_x, scale_y)
        return Frame(image, mask, dpi)
    return Frame(image, mask, dpi_x)


def _to_rgb(picture: PIL.Image.Image, path: Path) -> tuple[Image, Mask | None]:
    if picture.mode.startswith("I"):
        return _from_deep_gray(np.asarray(picture)), None
    if picture.mode == "F":
        raise InputError(f"{path}: floating-point pixels cannot be read. Save it with 8 or 16 bits.")
    if picture.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in picture.info:
        rgba = np.asarray(picture.convert("RGBA"))
        mask = rgba[..., 3] >= OPAQUE
        if not mask.any():
            raise InputError(f"{path}: every pixel is transparent. Save it without its alpha channel.")
        return np.ascontiguousarray(rgba[..., :3]), None if mask.all() else mask
    if picture.mode in ("1", "L"):
        return _from_gray(np.asarray(picture.convert("L"))), None
    return np.asarray(picture if picture.mode == "RGB" else picture.convert("RGB")), None


def _from_deep_gray(gray: NDArray[Any]) -> Image:
    """16 bits to 8; Pillow opens some 8-bit files with 32 bits per pixel, which need no scaling."""
    deep = gray.astype(np.int64) >> 8 if gray.max(initial=0) > 255 else gray
    return _from_gray(np.clip(deep, 0, 255).astype(np.uint8))


def _from_gray(gray: NDArray[np.uint8]) -> Image:
    return np.asarray(cv2.cvtColor(gray, cv2.COLOR_GRAY2RGB), np.uint8)


def _resolutions(picture: PIL.Image.Image) -> tuple[float | None, float | None]:
    given = picture.info.get("dpi")
    if not isinstance(given, tuple) or len(given) != 2:
        return None, None
    dpi_x, dpi_y = float(given[0]), float(given[1])
    if not all(LEAST_PLAUSIBLE_DPI <= dpi <= MOST_PLAUSIBLE_DPI for dpi in (dpi_x, dpi_y)):
        return None, None
    if max(dpi_x, dpi_y) > MOST_PLAUSIBLE_STRETCH * min(dpi_x, dpi_y):
        return None, None
    return dpi_x, dpi_y


def _decode_pdf(content: bytes, path: Path, max_pixels: int) -> list[Frame]:
    import pypdfium2

    scale = WORKING_DPI / 72.0
    with _pdfium:
        try:
            document = pypdfium2.PdfDocument(content)
        except pypdfium2.PdfiumError as error:
            raise InputError(
                f"{path}: the PDF cannot be opened ({error}). Remove its password or save it again."
            ) from None
        try:
            frames = []
            for page in document:
                width, height = page.get_size()
                _check_size((int(width * scale), int(height * scale)), path, max_pixels)
                rendered = page.render(scale=scale, rev_byteorder=True).to_numpy()
                image = rendered[..., :3].copy()  # the bitmap's memory ends with the page
                frames.append(Frame(image, None, WORKING_DPI))
                page.close()
            return frames
        except pypdfium2.PdfiumError as error:
            raise InputError(f"{path}: a page of the PDF cannot be drawn ({error}). Save it again.") from None
        finally:
            document.close()


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
