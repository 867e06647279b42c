"""A page in, the bytes of its picture out: PNG, TIFF, JPEG and fax, each of which says which copy it is."""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np
from PIL import Image as Pillow

from deshred.elements import Copy, Page
from deshred.imaging.binarization import binarize, to_gray
from deshred.imaging.composition import erase_marks
from deshred.imaging.decoding import encode_png

_JPEG_QUALITY = 85
_DESCRIPTION, _ROWS_PER_STRIP, _STRIP_OFFSETS, _STRIP_LENGTHS = 270, 278, 273, 279


def tell_copy(copy: Copy) -> str:
    """Which copy it is, and what is drawn on it that was not on the paper."""
    frames = "; violet frames mark where ink may be lost" if copy == "reading" else ""
    return f"{copy} copy{frames}"


def hash_pixels(page: Page) -> str:
    """SHA-256 of the pixels alone: PNG bytes change with the library that packs them."""
    return hashlib.sha256(np.ascontiguousarray(page.image).data).hexdigest()


def encode_page(page: Page) -> bytes:
    """The page as a PNG that says its resolution, and which copy it is."""
    return encode_png(page.image, dpi=page.dpi, description=_describe(page))


def _describe(page: Page) -> str:
    return f"deshred, {tell_copy(page.copy)}"


def encode_tiff(page: Page, *, bitonal: bool) -> bytes:
    """The page as a TIFF that says its resolution, and which copy it is."""
    buffer = io.BytesIO()
    save_tiff(page, buffer, bitonal=bitonal)
    return buffer.getvalue()


def save_tiff(page: Page, target: Any, *, bitonal: bool) -> None:
    """Write the page as a TIFF into something like a file."""
    picture = to_bitonal(page) if bitonal else Pillow.fromarray(page.image)
    picture.save(
        target,
        "TIFF",
        compression="group4" if bitonal else "tiff_adobe_deflate",
        dpi=(page.dpi, page.dpi),
        tiffinfo={_DESCRIPTION: _describe(page)},
    )


def to_bitonal(page: Page) -> Pillow.Image:
    """Ink black, everything else white."""
    ink = binarize(to_gray(erase_marks(page.image), page.mask))
    return Pillow.fromarray(255 * (1 - ink)).convert("1", dither=Pillow.Dither.NONE)


def encode_jpeg(page: Page) -> bytes:
    """The page as a JPEG that says which copy it is."""
    buffer = io.BytesIO()
    Pillow.fromarray(page.image).save(
        buffer, "JPEG", quality=_JPEG_QUALITY, dpi=(page.dpi, page.dpi), comment=_describe(page)
    )
    return buffer.getvalue()


def encode_fax(page: Page) -> bytes:
    """The ink of the page in CCITT group 4, as PDF wants it: one strip and nothing around."""
    buffer = io.BytesIO()
    picture = to_bitonal(page)
    picture.save(buffer, "TIFF", compression="group4", tiffinfo={_ROWS_PER_STRIP: picture.height})
    with Pillow.open(io.BytesIO(buffer.getvalue())) as written:
        tags: Any = getattr(written, "tag_v2")  # noqa: B009 - Pillow types it as any picture
        start, length = tags[_STRIP_OFFSETS][0], tags[_STRIP_LENGTHS][0]
    return buffer.getvalue()[start : start + length]
