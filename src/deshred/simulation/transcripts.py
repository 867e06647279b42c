"""A kind and a random generator in, a drawn page and the words that stand on it out: truth for reading.

The page is the very one that `draw_page` draws. Boxes are those on the canvas: scanning may turn it by a
fraction of a degree. Stamps and signatures are pictures and have no words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import ImageDraw

from deshred.elements import Image
from deshred.simulation.canvas import Canvas, Font
from deshred.simulation.drawing import DrawingOptions, PageKind, paint, scan_page


@dataclass(frozen=True)
class DrawnWord:
    """A word and the px it covers on the canvas: left, top, right, bottom."""

    text: str
    box: tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class Transcript:
    """A drawn page and its words in the order in which they were written."""

    image: Image  # (H, W, 3) RGB
    words: tuple[DrawnWord, ...]


def draw_transcript(
    kind: PageKind, rng: np.random.Generator, *, options: DrawingOptions | None = None
) -> Transcript:
    """Draw one page and remember its words."""
    options = options or DrawingOptions()
    canvas = Canvas(rng, options.dpi)
    pen = _RecordingPen(canvas.picture)
    canvas.pen = pen
    paint(canvas, kind)
    image: Image = np.asarray(canvas.picture)
    return Transcript(
        scan_page(image, rng, options.dpi) if options.scanned else image.copy(), tuple(pen.words)
    )


class _RecordingPen(ImageDraw.ImageDraw):
    """A pen that remembers the words it writes."""

    def __init__(self, picture: Any) -> None:
        super().__init__(picture)
        self.words: list[DrawnWord] = []

    def text(self, xy: Any, text: Any, *args: Any, **options: Any) -> None:
        super().text(xy, text, *args, **options)
        font, anchor = options.get("font"), options.get("anchor", "la")
        if isinstance(text, str) and font is not None:
            left = (
                xy[0] + font.getbbox(text, anchor=anchor)[0] - font.getbbox(text, anchor=f"l{anchor[1]}")[0]
            )
            self.words += _locate_words(text, font, left, xy[1], f"l{anchor[1]}")


def _locate_words(text: str, font: Font, x: float, y: float, anchor: str) -> list[DrawnWord]:
    """Where each word of a line stands that begins at x."""
    words, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        before = font.getlength(text[:at])
        left, top, right, bottom = font.getbbox(word, anchor=anchor)
        box = tuple(round(v) for v in (x + before + left, y + top, x + before + right, y + bottom))
        words.append(DrawnWord(word, (box[0], box[1], box[2], box[3])))
        at += len(word)
    return words
