"""A script and a random generator in, a page in that script out; or many, worn as papers are, as ink."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from deshred.elements import Image
from deshred.simulation.canvas import WIDTH_MM
from deshred.simulation.drawing import (
    PAGE_KINDS,
    DrawingOptions,
    PageKind,
    draw_page,
    paint,
    scan_page,
)
from deshred.simulation.intact import IntactPage, page_ink
from deshred.simulation.phrases import ENGLISH, Phrasebook
from deshred.simulation.scripts.canvas import ScriptCanvas, Setting
from deshred.simulation.scripts.fonts import HELD_OUT, SCRIPT_NAMES, TRAINING, ScriptName, check_fonts
from deshred.simulation.scripts.writing import SCRIPTS, vary
from deshred.simulation.wear import WEARS, wear_page

Faces = Literal["training", "held-out"]
# scripts that a network finds hard stand more often
_IN_TURN: tuple[ScriptName | Literal["latin"], ...] = (
    "latin",
    *SCRIPT_NAMES,
    "arabic",
    "armenian",
    "hangul",
    "hebrew",
    "georgian",
    "arabic",
)
_WORN = 0.4  # share of pages that are worn before their ink is found
_READABLE = (0.001, 0.3)  # share of ink of a page that is neither lost nor drowned
_KINDS: tuple[PageKind, ...] = tuple(kind for kind in PAGE_KINDS if kind != "scripts")


def draw_script_page(
    script: ScriptName,
    rng: np.random.Generator,
    *,
    faces: Faces = "training",
    kinds: Sequence[PageKind] = (),
    options: DrawingOptions | None = None,
) -> Image:
    """Draw one A4 page in this script, of any kind or of one of these. (H, W, 3) RGB."""
    options = options or DrawingOptions()
    choice = (TRAINING if faces == "training" else HELD_OUT)[script]
    face = choice[int(rng.integers(len(choice)))]
    if faces == "training":
        canvas = ScriptCanvas(rng, options.dpi, vary(SCRIPTS[script], rng), face, _vary_setting(rng))
    else:
        canvas = ScriptCanvas(rng, options.dpi, SCRIPTS[script], face)
    if kinds:
        paint(canvas, canvas.choose(tuple(kinds)))
    elif canvas.script.upright and canvas.chance(0.25):
        _paint_upright(canvas)
    elif canvas.chance(0.1):
        _paint_mixed(canvas)
    else:
        # running text is what most pages are
        paint(canvas, canvas.choose(("text", "text", "text", "columns", "columns", "letter", *_KINDS)))
    image: Image = np.asarray(canvas.picture)
    return scan_page(image, rng, options.dpi) if options.scanned else image.copy()


def draw_script_pages(
    count: int, rng: np.random.Generator, *, progress: Callable[[str, int, int], None] | None = None
) -> list[IntactPage]:
    """Ink of pages to train on: Latin and all other scripts in turn, many of them worn."""
    if count:
        check_fonts()
    pages = []
    for i in range(count):
        # a page each from a stream of its own: more pages leave the first ones as they are
        pages.append(_draw_ink(_IN_TURN[i % len(_IN_TURN)], i, rng.spawn(1)[0]))
        if progress:
            progress("drawing scripts", i + 1, count)
    return pages


def _draw_ink(script: ScriptName | Literal["latin"], number: int, rng: np.random.Generator) -> IntactPage:
    """One page; drawn again where its wear left nothing to read."""
    while True:
        if script == "latin":
            image = draw_page(PAGE_KINDS[int(rng.integers(len(PAGE_KINDS)))], rng)
        else:
            image = draw_script_page(script, rng)
        if rng.random() < _WORN:
            image = wear_page(image, WEARS[int(rng.integers(len(WEARS)))], float(rng.random()), rng)
        ink = page_ink(image)
        if _READABLE[0] < ink.mean() < _READABLE[1]:
            return IntactPage.from_ink(f"drawn {script} {number}", ink)


def _vary_setting(rng: np.random.Generator) -> Setting:
    """Half of the pages as usual; the others in small print or large, or with lines far apart."""
    if rng.random() < 0.5:
        return Setting()
    return Setting(float(rng.uniform(0.65, 1.15)), float(rng.choice([1.0, 1.0, rng.uniform(1.0, 1.7)])))


def _paint_upright(canvas: ScriptCanvas) -> None:
    """Lines from top to bottom, the first at the right; sometimes in two or three rows of columns."""
    size = canvas.uniform(9, 14)
    font = canvas.font("regular", size)
    bands = canvas.choose((1, 1, 2, 3))
    height = (canvas.bottom - canvas.top - 8 * (bands - 1)) / bands
    step, fitting = canvas.mm(font.size) * canvas.uniform(1.4, 1.9), int(canvas.px(height) / font.size)
    for band in range(bands):
        x, top = canvas.right - step, canvas.top + band * (height + 8)
        while x > canvas.left:
            text = "".join(canvas.words.paragraph(canvas.words.number(2, 7)).split())
            for start in range(0, len(text), fitting):
                if x > canvas.left:
                    canvas.write_down(x, top, text[start : start + fitting], font)
                x -= step
    canvas.page_number()


def _paint_mixed(canvas: ScriptCanvas) -> None:
    """Paragraphs of the script and of English in turn."""
    size = canvas.uniform(9, 12)
    body, head = canvas.font("regular", size), canvas.font("Bold", size * 1.3)
    own, other = canvas.words, Phrasebook(canvas.rng, ENGLISH)
    y = canvas.top + 4
    while y < canvas.bottom - 15:
        canvas.words = own if canvas.chance(0.6) else other
        if canvas.chance(0.3):
            canvas.write(WIDTH_MM / 2, y, canvas.words.title(), head, align="center")
            y += 0.7 * size
        y = canvas.fill(
            canvas.left,
            y,
            canvas.width,
            canvas.words.paragraph(canvas.words.number(2, 6)),
            body,
            leading=1.35,
            justify=canvas.chance(0.5),
            stop=canvas.bottom,
        )
        y += 3
