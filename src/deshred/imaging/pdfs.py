"""A PDF in, its pages drawn at 300 dpi out."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deshred.errors import InputError
from deshred.imaging.decoding import WORKING_DPI, Frame, Frames, check_count, check_size

_SCALE = WORKING_DPI / 72.0
_pdfium = threading.Lock()  # PDFium is not thread-safe


def decode_pdf(content: bytes, path: Path, *, max_pixels: int) -> Frames:
    """All pages of a PDF; how large they are is asked before any is drawn."""
    import pypdfium2

    with _pdfium:
        try:
            document = pypdfium2.PdfDocument(content)
            check_count(len(document), path)
            sizes = [document.get_page_size(index) for index in range(len(document))]
        except pypdfium2.PdfiumError as error:
            raise InputError(
                f"{path}: the PDF cannot be opened ({error}). Remove its password or save it again."
            ) from None
    for width, height in sizes:
        check_size((width * _SCALE, height * _SCALE), path, max_pixels)
    most_pixels = max(int(width * height * _SCALE**2) for width, height in sizes)
    return Frames(len(sizes), most_pixels, _draw_pages(document, path))


def _draw_pages(document: Any, path: Path) -> Iterator[Frame]:
    try:
        for index in range(len(document)):
            yield _draw_page(document, index, path)
    finally:
        with _pdfium:
            document.close()


def _draw_page(document: Any, index: int, path: Path) -> Frame:
    import pypdfium2

    with _pdfium:
        try:
            page = document[index]
            # A bitmap in Python's own memory needs no copy: it stays as long as its pixels are used.
            bitmap = page.render(
                scale=_SCALE, rev_byteorder=True, bitmap_maker=pypdfium2.PdfBitmap.new_foreign
            )
            page.close()
            return Frame(bitmap.to_numpy()[..., :3], None, WORKING_DPI)
        except pypdfium2.PdfiumError as error:
            raise InputError(
                f"{path}: page {index + 1} of the PDF cannot be drawn ({error}). Save it again."
            ) from None
