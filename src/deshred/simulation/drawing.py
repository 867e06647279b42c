"""A kind and a random generator in, a realistic office page out: what the demo, the tests and training shred.

Each kind is one painter that fills a `Canvas` with made-up words; scanning it comes last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image
from deshred.errors import SettingsError
from deshred.simulation.canvas import (
    BOOK_FACES,
    FAINT,
    GARAMOND,
    HAND_SCALES,
    HANDS,
    HEIGHT_MM,
    ITALIC,
    MONO,
    OFFICE_FACES,
    PENS,
    SANS,
    SERIF,
    TUFFY,
    TYPEWRITER,
    WIDTH_MM,
    Align,
    Canvas,
    Color,
    Font,
    Typeface,
    wrap_words,
)
from deshred.simulation.phrases import ENGLISH, FRENCH, GERMAN, LANGUAGES, SPANISH

PageKind = Literal[
    "text",
    "columns",
    "form",
    "table",
    "letter",
    "list",
    "invoice",
    "budget",
    "memo",
    "sparse",
    "small-print",
    "scripts",
    "handwriting",
]
PAGE_KINDS: tuple[PageKind, ...] = get_args(PageKind)


@dataclass(frozen=True)
class DrawingOptions:
    """How pages are drawn."""

    dpi: float = 300.0
    scanned: bool = True  # paper tone, slight skew and blur, faint noise; else clean ink on white

    def __post_init__(self) -> None:
        if not 50 <= self.dpi <= 1200:
            raise SettingsError(f"pages can be drawn at 50 to 1200 dpi, got {self.dpi:g}.")


def draw_page(kind: PageKind, rng: np.random.Generator, *, options: DrawingOptions | None = None) -> Image:
    """Draw one A4 page of this kind. (H, W, 3) RGB; 2480 x 3508 px at 300 dpi."""
    options = options or DrawingOptions()
    canvas = Canvas(rng, options.dpi)
    paint(canvas, kind)
    image: Image = np.asarray(canvas.picture)
    return scan_page(image, rng, options.dpi) if options.scanned else image.copy()


def paint(canvas: Canvas, kind: PageKind) -> None:
    """Fill an empty canvas."""
    if kind not in _PAINTERS:
        raise SettingsError(f"there is no page of kind {kind!r}. Try one of {', '.join(PAGE_KINDS)}.")
    _PAINTERS[kind](canvas)


def scan_page(image: Image, rng: np.random.Generator, dpi: float) -> Image:
    """What printing and scanning do: a little skew, blur, paper tone and noise."""
    height, width = image.shape[:2]
    scan: NDArray[Any] = image
    if rng.random() < 0.7:
        turn = cv2.getRotationMatrix2D((width / 2, height / 2), rng.normal(0, 0.15), 1.0)
        scan = cv2.warpAffine(scan, turn, (width, height), borderValue=(255, 255, 255))
    if rng.random() < 0.5:
        scan = cv2.GaussianBlur(scan, (3, 3), rng.uniform(0.3, 0.7) * dpi / 300)
    levels = np.arange(256, dtype=np.float32)[:, None] / 255
    paper = rng.uniform(238, 255) - np.array([0.0, 1.0, 3.0]) * rng.uniform(0, 3)
    tones = (paper - (paper - rng.uniform(0, 25)) * (1 - levels)).clip(0, 255).astype(np.uint8)
    scan = cv2.LUT(scan, tones[None])
    noise = rng.integers(0, rng.integers(2, 9), (height, width), np.uint8)
    return np.asarray(cv2.subtract(scan, cv2.merge([noise] * 3)), np.uint8)


def _paint_text(canvas: Canvas) -> None:
    face = canvas.face(BOOK_FACES)
    size = canvas.uniform(8.5, 13)
    body, head = canvas.font(face.regular, size), canvas.font(face.bold, size * 1.15)
    leading, justify, indent = canvas.uniform(1.12, 1.5), canvas.chance(0.6), canvas.choose((0.0, 0.0, 5.0))
    y = canvas.top
    if canvas.chance(0.7):
        y = (
            canvas.fill(
                canvas.left, y + 6, canvas.width, canvas.words.title(), canvas.font(face.bold, size * 1.9)
            )
            + 3
        )
    while y < canvas.bottom - 8:
        if canvas.chance(0.2):
            canvas.write(canvas.left, y + 2, canvas.words.title(), head)
            y += 2 + 0.55 * size
        text = canvas.words.paragraph(canvas.words.number(2, 9))
        y = canvas.fill(
            canvas.left,
            y,
            canvas.width,
            text,
            body,
            leading=leading,
            justify=justify,
            indent=indent,
            stop=canvas.bottom,
        )
        y += 0.0 if indent else 2.5
    canvas.page_number()


def _paint_columns(canvas: Canvas) -> None:
    face = canvas.face((SERIF, GARAMOND, SANS, TUFFY))
    size = canvas.uniform(7.5, 10)
    count = canvas.choose((2, 2, 2, 3))
    title = canvas.words.title()
    y = canvas.fill(
        canvas.left, canvas.top + 8, canvas.width, title, canvas.font(face.bold, canvas.uniform(20, 34))
    )
    byline = f"{canvas.words.person()}, {canvas.words.date()}"
    canvas.write(canvas.left, y - 3, byline, canvas.font(ITALIC.regular, 10))
    canvas.line(canvas.left, y, canvas.right, y, mm=0.3)
    _flow(canvas, face, size, count, y + 7, leading=canvas.uniform(1.15, 1.35), ruled=canvas.chance(0.3))
    canvas.page_number()


def _flow(
    canvas: Canvas, face: Typeface, size: float, count: int, top: float, *, leading: float, ruled: bool
) -> None:
    """Paragraphs and small headings down several columns."""
    gutter = 6.0
    width = (canvas.width - gutter * (count - 1)) / count
    body, head = canvas.font(face.regular, size), canvas.font(face.bold, size * 1.1)
    for column in range(count):
        x, y = canvas.left + column * (width + gutter), top
        if ruled and column:
            canvas.line(x - gutter / 2, top - 3, x - gutter / 2, canvas.bottom, mm=0.15)
        while y < canvas.bottom:
            if canvas.chance(0.25):
                canvas.write(x, y, canvas.words.title(), head)
                y += 0.5 * size
            text = canvas.words.paragraph(canvas.words.number(2, 6))
            y = canvas.fill(
                x, y, width, text, body, leading=leading, justify=True, indent=3, stop=canvas.bottom
            )
            y += canvas.choose((0.0, 0.0, 2.0))


def _paint_form(canvas: Canvas) -> None:
    canvas.words = canvas.speak(ENGLISH)
    face, hand, ink = canvas.choose((SANS, TUFFY, SERIF)), canvas.choose(HANDS), canvas.choose(PENS)
    label = canvas.font(face.regular, canvas.uniform(7, 9))
    y = canvas.top
    canvas.box(canvas.left, y, canvas.right, y + 14, fill=(226, 228, 230) if canvas.chance(0.5) else None)
    title = f"Application: {canvas.words.title()}"
    canvas.write(canvas.left + 4, y + 9, title, canvas.font(face.bold, 15))
    canvas.write(canvas.right - 3, y + 9, f"Form {canvas.words.reference()}", label, align="right")
    y += 20
    while y < canvas.bottom - 58:
        painter = canvas.choose((_paint_boxes, _paint_boxes, _paint_dotted_lines, _paint_ticks))
        y = painter(canvas, y, face, label, hand, ink) + 4
    note = canvas.font(face.regular, 6.5)
    y = canvas.fill(
        canvas.left,
        y + 3,
        canvas.width,
        canvas.words.paragraph(6),
        note,
        leading=1.3,
        stop=canvas.bottom - 22,
    )
    y = max(y + 14, canvas.bottom - 8)
    canvas.dots(canvas.left, canvas.left + 60, y)
    canvas.dots(canvas.right - 70, canvas.right, y)
    canvas.write(canvas.left, y + 4, "Place and date", label)
    canvas.write(canvas.right - 70, y + 4, "Signature", label)
    canvas.scrawl(canvas.left + 3, y - 1, canvas.words.date(), hand, 15, ink)
    canvas.sign(canvas.right - 62, y - 4, ink)


def _paint_boxes(canvas: Canvas, y: float, face: Typeface, label: Font, hand: str, ink: Color) -> float:
    """A heading and a few rows of framed fields."""
    canvas.write(canvas.left, y + 3, canvas.words.title(), canvas.font(face.bold, 10.5))
    y += 6
    height = canvas.uniform(11.5, 14)
    for _ in range(canvas.words.number(2, 5)):
        shares = canvas.rng.dirichlet(np.full(canvas.words.number(1, 4), 9.0))
        x = canvas.left
        for share in shares:
            width = float(share) * canvas.width
            canvas.box(x, y, x + width, y + height)
            field = canvas.words.field()
            canvas.write(x + 1.2, y + 3.4, field.label, label)
            if canvas.chance(0.8) and width > 40:
                canvas.scrawl(x + 4, y + height - 2.2, field.entry, hand, 15, ink)
            x += width
        y += height
    return y + 2


def _paint_dotted_lines(
    canvas: Canvas, y: float, face: Typeface, label: Font, hand: str, ink: Color
) -> float:
    """Labels followed by dotted lines to write on."""
    for _ in range(canvas.words.number(2, 6)):
        field = canvas.words.field()
        end = canvas.write(canvas.left, y + 6, f"{field.label}:", canvas.font(face.regular, 10))
        canvas.dots(end + 2, canvas.right, y + 6.3)
        if canvas.chance(0.8):
            canvas.scrawl(end + 8, y + 5.2, field.entry, hand, 16, ink)
        y += 9
    canvas.write(canvas.right, y + 2, "Please write clearly.", label, align="right")
    return y + 3


def _paint_ticks(canvas: Canvas, y: float, face: Typeface, label: Font, hand: str, ink: Color) -> float:  # noqa: ARG001
    """Small boxes, some of them ticked."""
    font = canvas.font(face.regular, 9)
    side, columns = 3.6, canvas.choose((2, 3))
    for _ in range(canvas.words.number(2, 4)):
        for column in range(columns):
            x = canvas.left + column * canvas.width / columns
            canvas.box(x, y, x + side, y + side, mm=0.3)
            canvas.write(x + side + 2, y + 3.1, canvas.words.goods(), font)
            if canvas.chance(0.4):
                canvas.line(x - 0.3, y + 1.6, x + 1.6, y + side, mm=0.45, ink=ink)
                canvas.line(x + 1.6, y + side, x + side + 1.4, y - 1.4, mm=0.45, ink=ink)
        y += 7
    return y


def _paint_table(canvas: Canvas) -> None:
    face = canvas.face(OFFICE_FACES)
    size = canvas.uniform(7.5, 10)
    body, head = canvas.font(face.regular, size), canvas.font(face.bold, size)
    y = (
        canvas.fill(
            canvas.left, canvas.top + 5, canvas.width, canvas.words.title(), canvas.font(face.bold, 16)
        )
        + 1
    )
    y = canvas.fill(canvas.left, y, canvas.width, canvas.words.paragraph(2), body) + 2
    columns = canvas.words.number(4, 9)
    shares = np.concatenate([[2.2], np.ones(columns)])
    edges = canvas.left + np.concatenate([[0], np.cumsum(shares / shares.sum())]) * canvas.width
    step = size * canvas.uniform(0.55, 0.85)
    rows = int((canvas.bottom - y) / step)
    inner, shaded = canvas.choose((0.15, 0.25, 0.4)), canvas.chance(0.5)
    canvas.box(canvas.left, y, canvas.right, y + step, fill=(222, 224, 228) if shaded else None, mm=0.4)
    names = [
        canvas.choose(("Item", "Article", "Name")),
        *(str(canvas.words.number(1950, 2030)) for _ in range(columns)),
    ]
    for x0, x1, name in zip(edges[:-1], edges[1:], names, strict=True):
        canvas.write((x0 + x1) / 2, y + step * 0.68, name, head, align="center")
    for row in range(1, rows):
        base = y + row * step + step * 0.68
        canvas.write(edges[0] + 1.2, base, canvas.words.goods().split(",")[0], body)
        for x1 in edges[2:]:
            canvas.write(x1 - 1.2, base, f"{canvas.words.amount(900):,.1f}", body, align="right")
        canvas.line(canvas.left, y + (row + 1) * step, canvas.right, y + (row + 1) * step, mm=inner)
    for x in edges:
        outer = x in (edges[0], edges[-1])
        canvas.line(float(x), y, float(x), y + rows * step, mm=0.4 if outer else inner)


def _paint_letterhead(canvas: Canvas, face: Typeface) -> float:
    """Sender with a mark, recipient, date; returns the next baseline."""
    words = canvas.words
    name = f"{words.person().split()[1]} & {words.person().split()[1]}"
    center = canvas.chance(0.4)
    x = WIDTH_MM / 2 if center else canvas.left
    align: Align = "center" if center else "left"
    canvas.write(x, canvas.top + 6, name, canvas.font(face.bold, canvas.uniform(16, 24)), align=align)
    sender = f"{words.street()}, {words.town()}"
    canvas.write(x, canvas.top + 12, sender, canvas.font(face.regular, 8.5), align=align)
    if canvas.chance(0.6):
        canvas.line(
            canvas.left, canvas.top + 15, canvas.right, canvas.top + 15, mm=canvas.choose((0.2, 0.5, 1.2))
        )
    font = canvas.font(face.regular, 11)
    y = canvas.top + 30
    for line in (words.person(), words.street(), words.town()):
        canvas.write(canvas.left, y, line, font)
        y += 5.4
    canvas.write(canvas.right, y + 4, words.date(), font, align="right")
    return y + 18


def _paint_letter(canvas: Canvas) -> None:
    canvas.words = canvas.speak(ENGLISH)
    face = canvas.face((SERIF, SANS, TYPEWRITER, GARAMOND, TYPEWRITER))
    y = _paint_letterhead(canvas, face)
    size = canvas.uniform(10, 12)
    font, leading = canvas.font(face.regular, size), canvas.uniform(1.2, 1.55)
    subject = f"{canvas.words.title()}, {canvas.words.reference()}"
    canvas.write(canvas.left, y, subject, canvas.font(face.bold, size))
    y += 12
    canvas.write(canvas.left, y, f"Dear {canvas.words.person()},", font)
    y += 9
    for _ in range(canvas.words.number(2, 5)):
        text = canvas.words.paragraph(canvas.words.number(2, 6))
        y = (
            canvas.fill(canvas.left, y, canvas.width, text, font, leading=leading, stop=canvas.bottom - 45)
            + 3
        )
    canvas.write(
        canvas.left,
        y + 4,
        canvas.choose(("Yours sincerely,", "With kind regards,", "Yours faithfully,")),
        font,
    )
    canvas.sign(canvas.left + 2, y + 16, canvas.choose(PENS))
    canvas.write(canvas.left, y + 30, canvas.words.person(), font)
    if canvas.chance(0.3):
        canvas.stamp(canvas.right - 60, canvas.top + 34, "RECEIVED", (70, 80, 150))


def _paint_list(canvas: Canvas) -> None:
    face = canvas.face(OFFICE_FACES)
    size = canvas.uniform(9.5, 12.5)
    font = canvas.font(face.regular, size)
    y = (
        canvas.fill(
            canvas.left,
            canvas.top + 5,
            canvas.width,
            canvas.words.title(),
            canvas.font(face.bold, size * 1.7),
        )
        + 3
    )
    numbered, gap, item = canvas.chance(0.5), canvas.uniform(0.5, 4), 0
    while y < canvas.bottom - 4:
        item += 1
        mark = f"{item}." if numbered else canvas.choose(("•", "–"))
        canvas.write(canvas.left + 6, y, mark, font, align="right")
        text = canvas.words.paragraph(canvas.words.number(1, 3))
        y = canvas.fill(canvas.left + 9, y, canvas.width - 9, text, font, leading=1.25, stop=canvas.bottom)
        if canvas.chance(0.25):
            for letter in "abcd"[: canvas.words.number(2, 5)]:
                if y < canvas.bottom:
                    canvas.write(canvas.left + 16, y, f"{letter})  {canvas.words.goods()}", font)
                    y += 0.45 * size
        y += gap


def _paint_invoice(canvas: Canvas) -> None:
    canvas.words = canvas.speak(ENGLISH)
    face = canvas.choose((SANS, SERIF, TUFFY, MONO))
    y = _paint_letterhead(canvas, face)
    font, bold = canvas.font(face.regular, 10), canvas.font(face.bold, 10)
    canvas.write(canvas.left, y, f"Invoice {canvas.words.reference()}", canvas.font(face.bold, 15))
    y += 9
    stops = (canvas.left + 14, canvas.right - 62, canvas.right - 32, canvas.right)
    for x, name in zip(stops, ("Pos.", "Qty", "Price", "Amount"), strict=True):
        canvas.write(x - 1.5, y, name, bold, align="right")
    canvas.write(canvas.left + 18, y, "Article", bold)
    canvas.line(canvas.left, y + 2, canvas.right, y + 2, mm=0.4)
    total = 0.0
    framed = canvas.chance(0.5)
    top = y - 5
    for row in range(1, canvas.words.number(7, 17)):
        y += 7
        quantity, price = canvas.words.number(1, 25), canvas.words.amount(300)
        total += quantity * price
        cells = (str(row), str(quantity), f"{price:,.2f}", f"{quantity * price:,.2f}")
        for x, cell in zip(stops, cells, strict=True):
            canvas.write(x - 1.5, y, cell, font, align="right")
        canvas.write(canvas.left + 18, y, canvas.words.goods(), font)
        canvas.line(canvas.left, y + 2, canvas.right, y + 2, mm=0.1)
    if framed:
        for x in (canvas.left, *stops):
            canvas.line(x, top, x, y + 2, mm=0.2)
    for name, value in (("Net", total), ("Tax 19 %", total * 0.19), ("Total", total * 1.19)):
        y += 7
        canvas.write(canvas.right - 34, y, name, bold, align="right")
        canvas.write(canvas.right - 1.5, y, f"{value:,.2f}", bold, align="right")
    canvas.line(canvas.right - 60, y + 1.5, canvas.right, y + 1.5, mm=0.5)
    terms = f"Payable within {canvas.words.number(8, 45)} days. {canvas.words.paragraph(2)}"
    canvas.fill(canvas.left, y + 14, canvas.width, terms, font, stop=canvas.bottom)
    if canvas.chance(0.5):
        canvas.stamp(canvas.left + 20, y - 14, "PAID", (170, 40, 48))


def _paint_budget(canvas: Canvas) -> None:
    canvas.words = canvas.speak(ENGLISH)
    face = canvas.choose((TYPEWRITER, MONO, SANS, SERIF))
    font, bold = canvas.font(face.regular, canvas.uniform(9, 11)), canvas.font(face.bold, 11)
    title = f"Budget {canvas.words.number(1965, 2030)}, {canvas.words.title()}"
    canvas.write(WIDTH_MM / 2, canvas.top + 6, title, canvas.font(face.bold, 15), align="center")
    y, step = canvas.top + 20, canvas.uniform(5.4, 7.5)
    while y < canvas.bottom - 50:
        canvas.write(canvas.left, y, canvas.words.title(), bold)
        subtotal = 0.0
        for _ in range(canvas.words.number(3, 8)):
            y += step
            value = canvas.words.amount(90000)
            subtotal += value
            end = canvas.write(canvas.left + 8, y, canvas.words.goods(), font)
            canvas.dots(end + 2, canvas.right - 34, y - 0.2, step=2.2)
            canvas.write(canvas.right, y, f"{value:,.2f}", font, align="right")
        canvas.line(canvas.right - 32, y + 1.5, canvas.right, y + 1.5, mm=0.25)
        y += step
        canvas.write(canvas.right, y, f"{subtotal:,.2f}", bold, align="right")
        y += step * 1.2
    canvas.fill(canvas.left, y + 4, canvas.width, canvas.words.paragraph(4), font, stop=canvas.bottom)


def _paint_memo(canvas: Canvas) -> None:
    canvas.words = canvas.speak(ENGLISH)
    face = canvas.face((TYPEWRITER, SANS, SERIF, TYPEWRITER))
    size = canvas.uniform(10, 12)
    font, bold = canvas.font(face.regular, size), canvas.font(face.bold, size)
    canvas.write(canvas.left, canvas.top + 8, "MEMORANDUM", canvas.font(face.bold, 20))
    y = canvas.top + 22
    words = canvas.words
    for name, value in (
        ("To", words.person()),
        ("From", words.person()),
        ("Date", words.date()),
        ("Subject", words.title()),
    ):
        canvas.write(canvas.left, y, f"{name}:", bold)
        canvas.write(canvas.left + 26, y, value, font)
        y += 6.5
    canvas.line(canvas.left, y, canvas.right, y, mm=0.5)
    y += 10
    for _ in range(words.number(2, 6)):
        text = words.paragraph(words.number(2, 6))
        y = canvas.fill(canvas.left, y, canvas.width, text, font, leading=1.4, stop=canvas.bottom - 15) + 4
    if canvas.chance(0.5):
        remark = canvas.choose(("Please file.", "Seen, thank you!", "Call me about this", "Urgent?"))
        note = f"{remark} {words.person().split()[0]}"
        canvas.scrawl(
            canvas.left + 40, canvas.bottom - 4, note, canvas.choose(HANDS), 18, canvas.choose(PENS)
        )


def _paint_sparse(canvas: Canvas) -> None:
    face = canvas.face(BOOK_FACES)
    font = canvas.font(face.regular, canvas.uniform(10, 14))
    if canvas.chance(0.5):
        y = canvas.uniform(60, 130)
        title = canvas.font(face.bold, canvas.uniform(22, 36))
        y = canvas.fill(canvas.left, y, canvas.width, canvas.words.title(), title, leading=1.15)
        canvas.write(canvas.left, y + 2, f"{canvas.words.person()}, {canvas.words.date()}", font)
    else:
        y = canvas.fill(
            canvas.left, canvas.top + 5, canvas.width, canvas.words.paragraph(canvas.words.number(2, 6)), font
        )
    for _ in range(canvas.words.number(1, 3)):
        y = canvas.uniform(150, 260)
        x = canvas.uniform(canvas.left, 100)
        canvas.fill(x, y, canvas.right - x, canvas.words.sentence(), font, stop=canvas.bottom)
    canvas.write(canvas.right, 284, canvas.words.reference(), canvas.font(face.regular, 8), align="right")


def _paint_small_print(canvas: Canvas) -> None:
    face = canvas.face((SANS, SERIF, TUFFY))
    canvas.write(canvas.left, canvas.top + 4, canvas.words.title(), canvas.font(face.bold, 12))
    size = canvas.uniform(5.2, 7)
    _flow(
        canvas,
        face,
        size,
        canvas.choose((1, 2, 3)),
        canvas.top + 11,
        leading=canvas.uniform(1.1, 1.3),
        ruled=False,
    )


def _paint_scripts(canvas: Canvas) -> None:
    face = canvas.choose((SERIF, SANS, GARAMOND, TUFFY, MONO))
    size = canvas.uniform(9.5, 12)
    body, head = canvas.font(face.regular, size), canvas.font(face.bold, size * 1.3)
    order = canvas.rng.permutation(len(LANGUAGES))
    y = canvas.top + 4
    for index in (*order, *order):
        if y > canvas.bottom - 20:
            break
        canvas.words = canvas.speak(LANGUAGES[index])
        canvas.write(canvas.left, y, canvas.words.title(), head)
        text = canvas.words.paragraph(canvas.words.number(3, 8))
        y = canvas.fill(
            canvas.left,
            y + 0.6 * size,
            canvas.width,
            text,
            body,
            leading=1.3,
            justify=True,
            stop=canvas.bottom,
        )
        y += 5


def _paint_handwriting(canvas: Canvas) -> None:
    canvas.words = canvas.speak(canvas.choose((ENGLISH, ENGLISH, GERMAN, FRENCH, SPANISH)))
    hand, ink = canvas.choose(HANDS), canvas.choose(PENS)
    step, size = canvas.uniform(8.5, 11), canvas.uniform(18, 22)
    ruled = canvas.choose(("lines", "squares", "none"))
    if ruled != "none":
        for y in np.arange(canvas.top, 290, step if ruled == "lines" else step / 2):
            canvas.line(0, float(y), WIDTH_MM, float(y), mm=0.1, ink=FAINT)
    if ruled == "squares":
        for x in np.arange(2, WIDTH_MM, step / 2):
            canvas.line(float(x), 0, float(x), HEIGHT_MM, mm=0.1, ink=FAINT)
    y = canvas.top + 2 * step
    canvas.scrawl(canvas.right - 55, canvas.top + 0.4 * step, canvas.words.date(), hand, size, ink)
    font = canvas.font(hand, size * HAND_SCALES.get(hand, 1.0) * 1.12)
    while y < canvas.bottom:
        text = canvas.words.paragraph(canvas.words.number(3, 7))
        for line in wrap_words(text, font, canvas.px(canvas.width), canvas.px(8)):
            if y > canvas.bottom:
                break
            canvas.scrawl(
                canvas.left + canvas.uniform(-1, 1.5), y - 0.8, " ".join(line.texts), hand, size, ink
            )
            y += step
        y += canvas.choose((0.0, step))


_PAINTERS: dict[PageKind, Callable[[Canvas], None]] = {
    "text": _paint_text,
    "columns": _paint_columns,
    "form": _paint_form,
    "table": _paint_table,
    "letter": _paint_letter,
    "list": _paint_list,
    "invoice": _paint_invoice,
    "budget": _paint_budget,
    "memo": _paint_memo,
    "sparse": _paint_sparse,
    "small-print": _paint_small_print,
    "scripts": _paint_scripts,
    "handwriting": _paint_handwriting,
}
