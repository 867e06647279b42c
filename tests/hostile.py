"""Files that are small and ask for much: each is refused, with its name, within the budget."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence

import numpy as np
from PIL import Image


def pdf(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects, numbered from 1; the first is its catalog."""
    content, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer << /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    start = len(content)
    return content + b"xref\n0 %d\n0000000000 65535 f \n%s%sstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        table,
        trailer,
        start,
    )


def stream(content: bytes, entries: bytes = b"") -> bytes:
    packed = zlib.compress(content)
    return b"<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream" % (len(packed), entries, packed)


def one_page(resources: bytes, drawing: bytes, *more: bytes, size: int = 600) -> bytes:
    """A PDF of one page; `more` are its objects from 5 on."""
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Resources << %s >> /Contents 4 0 R >>"
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            page % (size, size, resources),
            stream(drawing),
            *more,
        ]
    )


def nested_forms(levels: int = 9, times: int = 12) -> bytes:
    """A form that draws a form twelve times that draws a form twelve times ..."""
    forms = []
    for level in range(levels):
        inner = b"/XObject << /F %d 0 R >>" % (6 + level) if level < levels - 1 else b""
        entries = b"/Type /XObject /Subtype /Form /BBox [0 0 600 600] /Resources << %s >>" % inner
        drawing = b"/F Do " * times if inner else b"0 0 599 599 re f "
        forms.append(stream(drawing, entries))
    return one_page(b"/XObject << /F 5 0 R >>", b"/F Do", *forms)


def many_pages(pages: int, side: int) -> bytes:
    """One large page, shown many times."""
    kids = b" ".join(b"3 0 R" for _ in range(pages))
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] >>" % (side, side)
    return pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, pages),
            page,
        ]
    )


def large_picture(side: int) -> bytes:
    """A small page that shows a picture of so many pixels."""
    entries = (
        b"/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB /BitsPerComponent 8"
    )
    row = zlib.compressobj(9)
    packed = b"".join(row.compress(bytes(3 * side)) for _ in range(side)) + row.flush()
    body = b"<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream"
    picture = body % (len(packed), entries % (side, side), packed)
    return one_page(b"/XObject << /P 5 0 R >>", b"600 0 0 600 0 0 cm /P Do", picture)


def jpeg_of_many_scans(side: int = 6000, scans: int = 3000) -> bytes:
    """A progressive JPEG whose last scan comes again and again."""
    buffer = io.BytesIO()
    Image.fromarray(np.full((side, side), 128, np.uint8)).save(buffer, "JPEG", progressive=True)
    content = buffer.getvalue()
    last = content.rindex(b"\xff\xda")
    return content[:last] + content[last:-2] * scans + b"\xff\xd9"


def tiff(entries: dict[int, tuple[int, int, int]], data: bytes = b"") -> bytes:
    """A little-endian TIFF of one directory: tag -> kind, count, value."""
    head = struct.pack("<2sHIH", b"II", 42, 8, len(entries))
    body = b"".join(struct.pack("<HHII", tag, *entry) for tag, entry in sorted(entries.items()))
    return head + body + bytes(4) + data
