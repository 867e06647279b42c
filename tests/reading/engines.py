"""Readers for tests: the real one where it is installed, and one that says what it is told."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from deshred.elements import Image
from deshred.errors import MissingDependencyError
from deshred.reading import Box, Line, Reading, ReadingOptions, Word, open_reader


def has_engine(engine: str, language: str = "eng") -> bool:
    try:
        open_reader(ReadingOptions(engine=engine, language=language))  # type: ignore[arg-type]
    except MissingDependencyError:
        return False
    return True


needs_tesseract = pytest.mark.skipif(
    not has_engine("tesseract"), reason="Tesseract is not installed: pip install 'deshred[ocr]'"
)
needs_rapidocr = pytest.mark.skipif(
    not has_engine("rapidocr"), reason="RapidOCR is not installed: pip install 'deshred[rapidocr]'"
)


def write_line(text: str, left: int = 20, top: int = 30, confidence: float = 0.97) -> Line:
    """A line of words 20 px high, ten px to a letter."""
    words = []
    for word in text.split(" "):
        words.append(Word(word, Box(left, top, left + 10 * len(word), top + 20), confidence))
        left += 10 * (len(word) + 1)
    return Line(tuple(words), 0, (top + 16.0, top + 16.0))


@dataclass(frozen=True)
class ScriptedReader:
    """Reads the same lines on every page."""

    lines: tuple[Line, ...] = (write_line("Invoice 1850"),)

    @property
    def fingerprint(self) -> str:
        return f"scripted {hash(self.lines)}"

    def read_image(self, _image: Image | None, _dpi: float) -> Reading:
        return Reading(self.lines, "scripted 1", "eng", "0" * 64)
