"""Recognize the kind of a file by its first bytes; its name says nothing.

Only what is listed here is ever given to a decoder. Pillow alone knows dozens of formats, and hands some to
other programs.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

PILLOW_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP")  # in Pillow's words; JPEG includes MPO
READABLE = "PNG, JPEG, TIFF, WebP, BMP or PDF"
HEAD = 1024  # bytes that tell the kind

_SIGNATURES = (
    ("PNG", rb"\x89PNG"),
    ("JPEG", rb"\xff\xd8\xff"),
    ("TIFF", rb"II[*+]\0|MM\0[*+]"),
    ("WebP", rb"RIFF....WEBP"),
    ("BMP", rb"BM.{4}\0{4}"),
    ("PDF", rb"\s*%PDF"),
)
_FOREIGN_SIGNATURES = (
    ("a HEIC photo", rb"....ftyp(hei[cxms]|hev[cx]|mif1|msf1)"),
    ("an AVIF photo", rb"....ftypavi[fs]"),
    ("a GIF", rb"GIF8"),
    ("a JPEG 2000 image", rb"....jP  |\xff\x4f\xff\x51"),
    ("a JPEG XL image", rb"\xff\x0a|....JXL "),
    ("PostScript", rb"%!|\xc5\xd0\xd3\xc6"),
    ("a Photoshop file", rb"8BPS"),
    ("a DjVu file", rb"AT&TFORM"),
    ("an SVG drawing", rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)?<svg"),
    ("a camera's raw file", rb"FUJIFILM|FOVb|....ftypcrx"),
    ("an ICO, PCX, PPM or similar image", rb"\x00\x00\x01\x00|\x0a[\x00-\x05]\x01|P[1-6]\s|\x59\xa6\x6a\x95"),
)
_START_OF_FRAME = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SEQUENTIAL = (0xC0, 0xC1)
_START_OF_SCAN = 0xDA
_STANDALONE = frozenset({0x01, *range(0xD0, 0xD8)})  # markers without a length


@dataclass(frozen=True)
class _Signature:
    name: str
    pattern: re.Pattern[bytes]


_KNOWN = tuple(_Signature(name, re.compile(pattern, re.DOTALL)) for name, pattern in _SIGNATURES)
_FOREIGN = tuple(_Signature(name, re.compile(pattern, re.DOTALL)) for name, pattern in _FOREIGN_SIGNATURES)


def recognize(content: bytes) -> str:
    """The format of a file that can be read, such as PNG; nothing for all others."""
    return _find(content, _KNOWN)


def describe_foreign(content: bytes) -> str:
    """What a file is that cannot be read, with its article; nothing where that is not known."""
    return _find(content, _FOREIGN)


def is_risky(content: bytes) -> bool:
    """Whether little in a file can make a decoder work long or take much memory.

    PDF and TIFF are small languages, and a JPEG of many scans is decoded as often as it has scans. All others
    cost what their size says.
    """
    kind = recognize(content)
    return kind in ("PDF", "TIFF") or (kind == "JPEG" and not _has_single_scan(content))


def _find(content: bytes, signatures: tuple[_Signature, ...]) -> str:
    head = content[:HEAD]
    return next((signature.name for signature in signatures if signature.pattern.match(head)), "")


def _has_single_scan(content: bytes) -> bool:
    """Whether all components of a JPEG come in its first scan, from top to bottom."""
    components, place = 0, 2
    while place + 4 <= len(content):
        if content[place] != 0xFF:
            return False
        marker = content[place + 1]
        if marker == 0xFF or marker in _STANDALONE:
            place += 1 if marker == 0xFF else 2
            continue
        (length,) = struct.unpack_from(">H", content, place + 2)
        body = content[place + 4 : place + 2 + length]
        if marker in _START_OF_FRAME:
            if marker not in _SEQUENTIAL or len(body) < 6:
                return False
            components = body[5]
        if marker == _START_OF_SCAN:
            return bool(body) and body[0] == components
        place += 2 + length
    return True  # cut off before any pixel: quickly told
