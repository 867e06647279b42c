"""A page to write a script on: shaped by raqm, from the side where its lines begin, in system fonts.

It answers to everything that `simulation/drawing.py` asks of a canvas, so that every kind of page can be
drawn in every script. Where lines run to the left, the whole layout is mirrored. Words in other letters,
numbers and labels are set in a Latin font, as offices do.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path

import numpy as np
from PIL import ImageFont, features

from deshred.errors import MissingDependencyError
from deshred.simulation.canvas import (
    BLACK,
    HEIGHT_MM,
    SANS,
    SERIF,
    WIDTH_MM,
    Align,
    Canvas,
    Color,
    Font,
    Typeface,
    load_font,
    measure,
)
from deshred.simulation.phrases import Language, Phrasebook
from deshred.simulation.scripts.fonts import Face
from deshred.simulation.scripts.writing import Script, ScriptWords

_LOW_MARKS = frozenset("。、，")


@dataclass(frozen=True)
class Setting:
    """How a page is set: all of its print smaller or larger, its lines closer or wider apart."""

    size: float = 1.0
    leading: float = 1.0


@lru_cache(maxsize=256)
def _load_shaped(file: Path, size_px: int, index: int) -> Font:
    if not features.check("raqm"):
        raise MissingDependencyError(
            "Pillow was built without raqm, which shapes Arabic, Devanagari and others. Try: pip install -U "
            "--force-reinstall pillow"
        )
    return ImageFont.truetype(str(file), size_px, index=index, layout_engine=ImageFont.Layout.RAQM)


class ScriptCanvas(Canvas):
    """A page in one typeface of one script."""

    def __init__(
        self,
        rng: np.random.Generator,
        dpi: float,
        script: Script,
        face: Face,
        setting: Setting | None = None,
    ) -> None:
        super().__init__(rng, dpi)
        self.setting = setting or Setting()
        self.script = script
        self.script_face = face
        self.latin = self.choose((SANS, SERIF))
        self.words: Phrasebook = ScriptWords(rng, script)

    def speak(self, language: Language) -> Phrasebook:  # noqa: ARG002
        return ScriptWords(self.rng, self.script)

    def face(self, faces: tuple[Typeface, ...]) -> Typeface:
        return self.choose(faces)

    def font(self, name: str, size_pt: float) -> Font:
        """The page's own face in the size and weight of the one asked for."""
        face = self.script_face
        file = face.bold_file if "Bold" in name else face.regular_file
        return _load_shaped(file, max(4, round(self.setting.size * size_pt * self.dpi / 72)), face.index)

    def line(
        self, x0: float, y0: float, x1: float, y1: float, *, mm: float = 0.25, ink: Color = BLACK
    ) -> None:
        super().line(self._flip(x0), y0, self._flip(x1), y1, mm=mm, ink=ink)

    def dots(self, x0: float, x1: float, y: float, *, step: float = 1.1) -> None:
        first, last = sorted((self._flip(x0), self._flip(x1)))
        super().dots(first, last, y, step=step)

    def box(
        self, x0: float, y0: float, x1: float, y1: float, *, mm: float = 0.25, fill: Color | None = None
    ) -> None:
        first, last = sorted((self._flip(x0), self._flip(x1)))
        super().box(first, y0, last, y1, mm=mm, fill=fill)

    def write(
        self, x: float, y: float, text: str, font: Font, *, align: Align = "left", ink: Color = BLACK
    ) -> float:
        words = _split(text)
        widths = [self._measure(word, font) for word in words]
        space = self._space(font)
        total = sum(widths) + space * max(0, len(words) - 1)
        start = self.px(x) - {"left": 0.0, "center": total / 2, "right": total}[align]
        self._set(words, widths, start, self.px(y), space, font, ink)
        return x + self.mm(total)

    def fill(
        self,
        x: float,
        y: float,
        width: float,
        text: str,
        font: Font,
        *,
        leading: float = 1.25,
        justify: bool = False,
        indent: float = 0.0,
        stop: float = HEIGHT_MM - 10,
    ) -> float:
        step = self.mm(font.size) * leading * self.setting.leading * self._tallness(font)
        room, space = self.px(width), self._space(font)
        words = _split(text)
        widths = [self._measure(word, font) for word in words]
        first, used = 0, float(self.px(indent))
        for at in range(len(words) + 1):
            is_last = at == len(words)
            if not is_last and (at == first or used + widths[at] <= room):
                used += widths[at] + space
                continue
            if y > stop:
                break
            start = float(self.px(indent)) if first == 0 else 0.0
            gap = space
            if justify and not is_last and at - first > 1:
                gap = (room - start - sum(widths[first:at])) / (at - first - 1)
            self._set(words[first:at], widths[first:at], self.px(x) + start, self.px(y), gap, font, BLACK)
            y += step
            if not is_last:
                first, used = at, widths[at] + space
        return y

    def scrawl(self, x: float, y: float, text: str, name: str, size_pt: float, ink: Color) -> float:  # noqa: ARG002
        return super().scrawl(x, y, text, "hand", 0.72 * size_pt, ink)

    def write_down(self, x: float, y: float, text: str, font: Font) -> None:
        """One column of upright characters below y, centered on x, all of one height."""
        for row, character in enumerate("".join(_split(text))):
            # where a line ends at the right of a cell, a column ends at its top
            aside, up = (0.6, 0.6) if character in _LOW_MARKS else (0.0, 0.0)
            left = self.px(x) + (aside - 0.5) * font.size
            base = self.px(y) + (row + 0.88 - up) * font.size
            self.pen.text((round(left), round(base)), character, font=font, fill=BLACK, anchor="ls")

    def _flip(self, x: float) -> float:
        return WIDTH_MM - x if self.script.leftwards else x

    def _set(
        self, words: list[str], widths: list[float], x: float, y: int, gap: float, font: Font, ink: Color
    ) -> None:
        """Words of one line; x and what follows are counted from the side where lines begin."""
        order = _order(words) if self.script.leftwards else range(len(words))
        for i in order:
            self._put(words[i], x, y, font, ink)
            x += widths[i] + gap

    def _put(self, word: str, x: float, y: int, font: Font, ink: Color) -> None:
        """One word with the mark behind it."""
        for piece in _pieces(word):
            chosen = self._pick(piece, font)
            width = measure(chosen, piece)
            left = self.picture.width - x - width if self.script.leftwards else x
            self.pen.text((round(left), y), piece, font=chosen, fill=ink, anchor="ls")
            x += width

    def _space(self, font: Font) -> float:
        return 0.28 * font.size if self.script.spaced else 0.0

    def _measure(self, word: str, font: Font) -> float:
        """The width of a word; Latin words keep their spaces where the script has none."""
        apart = 0.28 * font.size if word.isascii() and not self.script.spaced else 0.0
        return apart + sum(measure(self._pick(piece, font), piece) for piece in _pieces(word))

    def _pick(self, piece: str, font: Font) -> Font:
        """Fonts of one script often have no Latin letters."""
        return load_font(self.latin.regular, round(0.9 * font.size)) if piece.isascii() else font

    def _tallness(self, font: Font) -> float:
        """Faces with high marks or deep tails need more room between lines."""
        ascent, descent = font.getmetrics()
        return max(1.0, 0.78 * (ascent + descent) / font.size)


def _split(text: str) -> list[str]:
    """Words; spaces that do not break are part of them."""
    return [word for word in text.split(" ") if word]


def _pieces(word: str) -> list[str]:
    """A word, cut where its own letters and Latin marks or digits meet: its font may not have those."""
    return ["".join(run) for _, run in groupby(word, str.isascii)]


def _order(words: list[str]) -> list[int]:
    """Where lines run to the left, Latin words among them still run to the right."""
    order: list[int] = []
    run: list[int] = []
    for i, word in enumerate(words):
        if word.isascii():
            run.insert(0, i)
        else:
            order += [*run, i]
            run = []
    return order + run
