"""A font for text that nobody sees: one box for every letter, made with fontTools.

The glyph is a box and not empty, or viewers give what they find no height. It is never painted. Each letter
of the document has a code of its own, and a map back to Unicode: rare letters work like all others.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pikepdf

UNITS, ADVANCE, ASCENT, DESCENT = 1000, 500, 760, 240
_NAME = "DeshredGlyphless"
_PER_BLOCK = 100  # entries of a CMap block


@dataclass(frozen=True)
class Encoding:
    """Letters to two-byte codes, from 1; the space is always there."""

    codes: Mapping[str, int]

    @classmethod
    def of(cls, letters: Iterable[str]) -> Encoding:
        """Codes for these letters, the same for the same letters."""
        return cls({letter: code for code, letter in enumerate(sorted({*letters, " "}), 1)})

    def encode(self, text: str) -> bytes:
        """The codes of a text."""
        return b"".join(struct.pack(">H", self.codes[letter]) for letter in text)

    def to_cmap(self) -> bytes:
        """The map from codes back to Unicode."""
        entries = [
            f"<{code:04X}> <{letter.encode('utf-16-be').hex().upper()}>"
            for letter, code in self.codes.items()
        ]
        blocks = [entries[at : at + _PER_BLOCK] for at in range(0, len(entries), _PER_BLOCK)]
        mapped = "\n".join(
            f"{len(block)} beginbfchar\n" + "\n".join(block) + "\nendbfchar" for block in blocks
        )
        return (
            "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
            "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
            "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
            "1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n"
            f"{mapped}\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend"
        ).encode()


def build_font(document: pikepdf.Pdf, encoding: Encoding) -> pikepdf.Object:
    """The font as an object of the document."""
    import pikepdf

    name = pikepdf.Name(f"/{_NAME}")
    program = _build_program()
    descriptor = pikepdf.Dictionary(
        Type=pikepdf.Name.FontDescriptor,
        FontName=name,
        Flags=4,
        FontBBox=pikepdf.Array([0, -DESCENT, ADVANCE, ASCENT]),
        ItalicAngle=0,
        Ascent=ASCENT,
        Descent=-DESCENT,
        CapHeight=ASCENT,
        StemV=80,
        FontFile2=document.make_stream(program, Length1=len(program)),
    )
    every_code = b"\0\0" + b"\0\1" * len(encoding.codes)  # all of them draw glyph 1
    descendant = pikepdf.Dictionary(
        Type=pikepdf.Name.Font,
        Subtype=pikepdf.Name.CIDFontType2,
        BaseFont=name,
        CIDSystemInfo=pikepdf.Dictionary(
            Registry=pikepdf.String("Adobe"), Ordering=pikepdf.String("Identity"), Supplement=0
        ),
        FontDescriptor=document.make_indirect(descriptor),
        DW=ADVANCE,
        CIDToGIDMap=document.make_stream(every_code),
    )
    return document.make_indirect(
        pikepdf.Dictionary(
            Type=pikepdf.Name.Font,
            Subtype=pikepdf.Name.Type0,
            BaseFont=name,
            Encoding=pikepdf.Name("/Identity-H"),
            DescendantFonts=pikepdf.Array([document.make_indirect(descendant)]),
            ToUnicode=document.make_stream(encoding.to_cmap()),
        )
    )


def _build_program() -> bytes:
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    builder: Any = FontBuilder(UNITS, isTTF=True)
    builder.setupGlyphOrder([".notdef", "box"])
    builder.setupCharacterMap({0x20: "box"})
    pen = TTGlyphPen(None)
    for move, point in zip(
        (pen.moveTo, pen.lineTo, pen.lineTo, pen.lineTo),
        ((0, -DESCENT), (0, ASCENT), (ADVANCE, ASCENT), (ADVANCE, -DESCENT)),
        strict=True,
    ):
        move(point)
    pen.closePath()
    box = pen.glyph()
    builder.setupGlyf({".notdef": box, "box": box})
    builder.setupHorizontalMetrics({".notdef": (ADVANCE, 0), "box": (ADVANCE, 0)})
    builder.setupHorizontalHeader(ascent=ASCENT, descent=-DESCENT)
    builder.setupNameTable({"familyName": _NAME, "styleName": "Regular", "psName": _NAME})
    builder.setupOS2(sTypoAscender=ASCENT, sTypoDescender=-DESCENT, usWinAscent=ASCENT, usWinDescent=DESCENT)
    builder.setupPost()
    builder.font["head"].created = builder.font["head"].modified = 3_000_000_000  # the same font every day
    builder.font.recalcTimestamp = False
    buffer = io.BytesIO()
    builder.save(buffer)
    return buffer.getvalue()
