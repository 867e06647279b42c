"""Pictures of pages in, a PDF of nothing but pictures out, which is written one after the other.

A document that is opened from that file takes every picture from it as it is saved: those of hundreds of
pages need not be in memory.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import BinaryIO

from deshred.export.encoding import encode_fax, encode_jpeg
from deshred.export.material import Material

FIRST = 3  # the number of the first picture, after the catalog and the list of pages
_HEAD = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
_CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
_NO_PAGES = b"<< /Type /Pages /Kids [] /Count 0 >>"


def write_pictures(file: BinaryIO, material: Material, indices: Iterable[int]) -> None:
    """Write a PDF without pages that holds the pictures of some."""
    file.write(_HEAD)
    places = [_write(file, 1, _CATALOG), _write(file, 2, _NO_PAGES)]
    for number, index in enumerate(indices, FIRST):
        places.append(_write_picture(file, number, material, index))
    start = file.tell()
    file.write(f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n".encode())
    file.writelines(f"{place:010d} 00000 n \n".encode() for place in places)
    file.write(f"trailer << /Size {len(places) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
    file.seek(0)


def _write_picture(file: BinaryIO, number: int, material: Material, index: int) -> int:
    card = material.card(index)
    if material.options.images == "jpeg":
        content = encode_jpeg(material.pages[index])
        coding = "/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode"
    elif material.options.images == "bitonal":
        content = encode_fax(material.pages[index])
        coding = (
            "/ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /CCITTFaxDecode "
            f"/DecodeParms << /K -1 /Columns {card.width} /Rows {card.height} /BlackIs1 true >>"
        )
    else:
        content = _find_pixels(material.pages.png(index))
        coding = (
            "/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode "
            f"/DecodeParms << /Predictor 15 /Colors 3 /BitsPerComponent 8 /Columns {card.width} >>"
        )
    size = f"/Width {card.width} /Height {card.height} /Length {len(content)}"
    head = f"<< /Type /XObject /Subtype /Image {size} {coding} >>\nstream\n"
    return _write(file, number, head.encode(), content, b"\nendstream")


def _write(file: BinaryIO, number: int, *parts: bytes) -> int:
    """Where the object begins that these parts make."""
    start = file.tell()
    file.writelines((f"{number} 0 obj\n".encode(), *parts, b"\nendobj\n"))
    return start


def _find_pixels(png: bytes) -> bytes:
    """The pixels of a PNG as they are compressed in it: PDF reads the same form, so they pass unchanged."""
    at, parts = 8, []
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        if kind == b"IDAT":
            parts.append(png[at + 8 : at + 8 + length])
        at += 12 + length
    return b"".join(parts)
