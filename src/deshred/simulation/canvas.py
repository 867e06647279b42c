"""An empty A4 page and what to draw on it with: fonts, pens, hands, stamps; a phrasebook to fill it.

Every font ships with the package, so a page looks the same on every machine. Lengths are in mm and
type sizes in pt; px only at the last moment.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from deshred.simulation.phrases import ENGLISH, LATIN, Language, Phrasebook

WIDTH_MM, HEIGHT_MM = 210.0, 297.0
Color = tuple[int, int, int]
T = TypeVar("T")
Font = ImageFont.FreeTypeFont
Align = Literal["left", "right", "center"]

_FONTS = Path(__file__).parent / "fonts"
_ALL_SCRIPTS = frozenset({"latin", "cyrillic", "greek"})
BLACK: Color = (22, 22, 24)
FAINT: Color = (196, 204, 214)
PENS: tuple[Color, ...] = ((28, 48, 132), (24, 26, 34), (52, 70, 160), (90, 34, 40))


@dataclass(frozen=True)
class Typeface:
    """The files of a typeface and the scripts it can write."""

    regular: str
    bold: str
    scripts: frozenset[str] = _ALL_SCRIPTS


SERIF = Typeface("LiberationSerif-Regular.ttf", "LiberationSerif-Bold.ttf")
ITALIC = Typeface("LiberationSerif-Italic.ttf", "LiberationSerif-Bold.ttf")
SANS = Typeface("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf")
MONO = Typeface("LiberationMono-Regular.ttf", "LiberationMono-Regular.ttf")
GARAMOND = Typeface("EBGaramond08-Regular.otf", "EBGaramond08-Regular.otf")
TUFFY = Typeface("Tuffy.ttf", "Tuffy.ttf")
TYPEWRITER = Typeface("CourierPrime-Regular.otf", "CourierPrime-Regular.otf", frozenset({"latin"}))
BOOK_FACES = (SERIF, SANS, GARAMOND, TUFFY, MONO, TYPEWRITER, SERIF, ITALIC)
OFFICE_FACES = (SANS, SERIF, TUFFY, SANS, MONO, TYPEWRITER)
HANDS = ("Breip.ttf", "Kristi.ttf", "DancingScript-Regular.otf", "BecauseWeOrganize-Regular.otf")
HAND_SCALES = {
    "Kristi.ttf": 1.5,
    "BecauseWeOrganize-Regular.otf": 0.8,
}  # as drawn, their letters differ in size


@lru_cache(maxsize=256)
def load_font(name: str, size_px: int) -> Font:
    """A font that ships with the package."""
    # the basic layout is several times faster than shaping, and none of our scripts needs shaping
    return ImageFont.truetype(str(_FONTS / name), size_px, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=65536)
def measure(font: Font, text: str) -> float:
    """Width in px; drawn pages say the same words again and again."""
    return font.getlength(text)


class Canvas:
    """An empty page, the pens to draw on it, and a phrasebook to fill it."""

    def __init__(self, rng: np.random.Generator, dpi: float) -> None:
        self.rng = rng
        self.dpi = dpi
        size = (round(WIDTH_MM * dpi / 25.4), round(HEIGHT_MM * dpi / 25.4))
        self.picture = Pillow.new("RGB", size, (255, 255, 255))
        self.pen = ImageDraw.Draw(self.picture)
        self.words = Phrasebook(rng, self._language())
        self.left = self.uniform(17, 28)
        self.right = WIDTH_MM - self.uniform(15, 26)
        self.top = self.uniform(16, 28)
        self.bottom = HEIGHT_MM - self.uniform(16, 26)

    def speak(self, language: Language) -> Phrasebook:
        """A phrasebook of this language; pages in a script of their own answer in that."""
        return Phrasebook(self.rng, language)

    def _language(self) -> Language:
        if self.rng.random() < 0.5:
            return ENGLISH
        return LATIN[int(self.rng.integers(len(LATIN)))]

    @property
    def width(self) -> float:
        return self.right - self.left

    def uniform(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def choose(self, things: tuple[T, ...]) -> T:
        return things[int(self.rng.integers(len(things)))]

    def face(self, faces: tuple[Typeface, ...]) -> Typeface:
        """A typeface that can write the language of this page."""
        return self.choose(tuple(face for face in faces if self.words.language.script in face.scripts))

    def font(self, name: str, size_pt: float) -> Font:
        return load_font(name, max(4, round(size_pt * self.dpi / 72)))

    def px(self, length_mm: float) -> int:
        return round(length_mm * self.dpi / 25.4)

    def mm(self, length_px: float) -> float:
        return length_px * 25.4 / self.dpi

    def line(
        self, x0: float, y0: float, x1: float, y1: float, *, mm: float = 0.25, ink: Color = BLACK
    ) -> None:
        ends = [(self.px(x0), self.px(y0)), (self.px(x1), self.px(y1))]
        self.pen.line(ends, fill=ink, width=max(1, self.px(mm)))

    def dots(self, x0: float, x1: float, y: float, *, step: float = 1.1) -> None:
        """A dotted line."""
        radius = max(1, self.px(0.12))
        for x in np.arange(x0, x1, step):
            at, height = self.px(float(x)), self.px(y)
            self.pen.ellipse((at - radius, height - radius, at + radius, height + radius), fill=BLACK)

    def box(
        self, x0: float, y0: float, x1: float, y1: float, *, mm: float = 0.25, fill: Color | None = None
    ) -> None:
        corners = (self.px(x0), self.px(y0), self.px(x1), self.px(y1))
        self.pen.rectangle(corners, outline=BLACK if mm else None, fill=fill, width=max(1, self.px(mm)))

    def write(
        self, x: float, y: float, text: str, font: Font, *, align: Align = "left", ink: Color = BLACK
    ) -> float:
        """One line of text on the baseline y; returns where it ends."""
        anchor = {"left": "ls", "right": "rs", "center": "ms"}[align]
        self.pen.text((self.px(x), self.px(y)), text, font=font, fill=ink, anchor=anchor)
        return x + self.mm(measure(font, text))

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
        """A paragraph whose first baseline is y; returns the baseline below it. Cut off at `stop`."""
        step = self.mm(font.size) * leading
        space = measure(font, " ")
        room = self.px(width)
        for number, words in enumerate(wrap_words(text, font, room, self.px(indent))):
            if y > stop:
                break
            start = self.px(x) + (self.px(indent) if number == 0 else 0)
            lengths = [measure(font, word) for word in words.texts]
            gap = space
            if justify and not words.is_last and len(lengths) > 1:
                gap = (room - (start - self.px(x)) - sum(lengths)) / (len(lengths) - 1)
            at = float(start)
            for word, length in zip(words.texts, lengths, strict=True):
                self.pen.text((round(at), self.px(y)), word, font=font, fill=BLACK, anchor="ls")
                at += length + gap
            y += step
        return y

    def scrawl(self, x: float, y: float, text: str, name: str, size_pt: float, ink: Color) -> float:
        """One line as a hand writes it: no letter size or height is kept; returns where it ends."""
        if name == "BecauseWeOrganize-Regular.otf":  # knows no accents
            text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
        size_pt *= HAND_SCALES.get(name, 1.0)
        drift = self.uniform(-0.012, 0.008)
        at = x
        for word in text.split():
            font = self.font(name, size_pt * self.uniform(0.95, 1.06))
            height = y + drift * (at - x) + self.uniform(-0.25, 0.25)
            at = self.write(at, height, word, font, ink=ink) + self.mm(font.size) * self.uniform(0.22, 0.4)
        return at

    def sign(self, x: float, y: float, ink: Color) -> None:
        """A signature nobody can read."""
        t = np.linspace(0, 1, 240)
        beat = 2 * np.pi * self.uniform(5, 9) * t ** self.uniform(0.8, 1.3)
        swell = 0.6 + 0.4 * np.sin(2 * np.pi * (self.uniform(1, 3) * t + self.uniform(0, 1)))
        xs = x + self.uniform(30, 46) * t + 1.8 * np.sin(beat + 1)
        ys = y - 3 * t + (4.5 * (1 - t) + 0.8) * swell * np.cos(beat)
        points = [(self.px(float(a)), self.px(float(b))) for a, b in zip(xs, ys, strict=True)]
        self.pen.line(points, fill=ink, width=max(1, self.px(0.35)), joint="curve")
        self.line(x + 6, y + 4.5, x + 40, y + 3.2, mm=0.35, ink=ink)

    def stamp(self, x: float, y: float, text: str, ink: Color) -> None:
        """A rubber stamp, framed and askew."""
        font = self.font(SANS.bold, 20)
        left, top, right, bottom = (round(v) for v in font.getbbox(text))
        pad = self.px(2.5)
        frame = Pillow.new("L", (right - left + 2 * pad, bottom - top + 2 * pad), 0)
        pen = ImageDraw.Draw(frame)
        pen.rectangle((1, 1, frame.width - 2, frame.height - 2), outline=215, width=max(1, self.px(0.7)))
        pen.text((pad - left, pad - top), text, font=font, fill=215)
        turned = frame.rotate(self.uniform(-14, 14), expand=True, resample=Pillow.Resampling.BILINEAR)
        self.picture.paste(ink, (self.px(x), self.px(y)), turned)

    def page_number(self) -> None:
        self.write(
            WIDTH_MM / 2, 287, str(self.words.number(1, 240)), self.font(SERIF.regular, 9), align="center"
        )


@dataclass(frozen=True)
class Line:
    """The words of one line of a paragraph."""

    texts: list[str]
    is_last: bool


def wrap_words(text: str, font: Font, room: int, indent: int) -> list[Line]:
    """Words into lines of at most `room` px."""
    space = measure(font, " ")
    lines: list[Line] = []
    words: list[str] = []
    used = float(indent)
    for word in text.split():
        length = measure(font, word)
        if words and used + length > room:
            lines.append(Line(words, is_last=False))
            words, used = [], 0.0
        words.append(word)
        used += length + space
    lines.append(Line(words, is_last=True))
    return lines
