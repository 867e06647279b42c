"""Type for the case report: fonts that ship with deshred, and paragraphs and tables set in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from typing import Any

from deshred.export.headings import ReportLanguage, say
from deshred.export.names import clean

REGULAR, BOLD = "DeshredSans", "DeshredSans-Bold"
_FILES = {REGULAR: "LiberationSans-Regular.ttf", BOLD: "LiberationSans-Bold.ttf"}


@dataclass(frozen=True, eq=False)
class Letters:
    """The styles of the report. Letters that its font lacks are shown as escapes."""

    language: ReportLanguage
    known: frozenset[int]
    body: Any
    small: Any
    head: Any
    top: Any

    @classmethod
    def load(cls, language: ReportLanguage = "en") -> Letters:
        """Register the fonts with reportlab."""
        from reportlab.lib.styles import ParagraphStyle
        from reportlab.pdfbase import pdfmetrics
        from reportlab.pdfbase.ttfonts import TTFont

        folder = resources.files("deshred.simulation") / "fonts"
        fonts = {name: TTFont(name, str(folder / file)) for name, file in _FILES.items()}
        for font in fonts.values():
            pdfmetrics.registerFont(font)
        pdfmetrics.registerFontFamily(REGULAR, normal=REGULAR, bold=BOLD, italic=REGULAR, boldItalic=BOLD)
        body = ParagraphStyle("body", fontName=REGULAR, fontSize=9.5, leading=13, spaceAfter=5)
        return cls(
            language,
            frozenset(fonts[REGULAR].face.charToGlyph),
            body,
            ParagraphStyle("small", parent=body, fontSize=8, leading=10, spaceAfter=0),
            ParagraphStyle("head", parent=body, fontName=BOLD, fontSize=12, leading=16, spaceBefore=10),
            ParagraphStyle("top", parent=body, fontName=BOLD, fontSize=17, leading=22, spaceAfter=10),
        )

    def printable(self, text: str) -> str:
        """The text in letters that can be printed."""
        return "".join(
            one if ord(one) in self.known else f"\\u{ord(one):04x}" for one in clean(text.replace("\n", " "))
        )

    def paragraph(self, text: str) -> Any:
        """Running text."""
        return self._set(text, self.body)

    def say(self, english: str, **values: object) -> str:
        """A heading or label in the language of the report."""
        return say(english, self.language, **values)

    def heading(self, text: str, **values: object) -> Any:
        """The name of a section."""
        return self._set(self.say(text, **values), self.head)

    def title(self, text: str) -> Any:
        """The name of the report."""
        return self._set(self.say(text), self.top)

    def table(self, rows: Sequence[Sequence[str]], widths: Sequence[float], *, head: bool = False) -> Any:
        """A table with lines between its rows; a head is repeated on every page."""
        from reportlab.lib.colors import black
        from reportlab.platypus import Table

        cells = [[self._set(cell, self.small) for cell in row] for row in rows]
        font = ("FONT", (0, 0), (-1, -1), REGULAR)  # else reportlab names one that is not embedded
        style = [font, ("LINEBELOW", (0, 0), (-1, -1), 0.25, black), ("VALIGN", (0, 0), (-1, -1), "TOP")]
        return Table(cells, colWidths=list(widths), style=style, repeatRows=int(head), spaceAfter=8)

    def page_end(self) -> Any:
        """Go on with a new page."""
        from reportlab.platypus import PageBreak

        return PageBreak()

    def _set(self, text: str, style: Any) -> Any:
        from reportlab.platypus import Paragraph

        return Paragraph(escape(self.printable(text)), style)
