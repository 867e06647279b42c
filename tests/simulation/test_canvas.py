"""Lengths are kept whatever the resolution, and text stays where it is told to stay."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.simulation.canvas import (
    BOOK_FACES,
    HANDS,
    OFFICE_FACES,
    SERIF,
    Canvas,
    load_font,
    measure,
    wrap_words,
)
from deshred.simulation.phrases import RUSSIAN


def canvas(seed: int = 0, dpi: float = 100) -> Canvas:
    return Canvas(np.random.default_rng(seed), dpi)


def inked(page: Canvas) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns with anything on them."""
    dark = np.asarray(page.picture).min(axis=2) < 200
    return np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))


@pytest.mark.parametrize(("dpi", "size"), [(300, (2480, 3508)), (100, (827, 1169))])
def test_a_page_is_a4_and_empty(dpi: float, size: tuple[int, int]) -> None:
    page = canvas(dpi=dpi)
    assert page.picture.size == size
    assert np.asarray(page.picture).min() == 255


@pytest.mark.parametrize("seed", range(5))
def test_margins_leave_room_for_text(seed: int) -> None:
    page = canvas(seed)
    assert 0 < page.left < page.right < 210
    assert 0 < page.top < page.bottom < 297
    assert page.width == page.right - page.left


@pytest.mark.parametrize("align", ["left", "right", "center"])
def test_a_line_of_text_lies_where_it_is_aligned(align: str) -> None:
    page = canvas()
    page.write(100, 50, "Hall minutes", page.font(SERIF.regular, 12), align=align)
    rows, columns = inked(page)
    at = {"left": columns[0], "right": columns[-1], "center": (columns[0] + columns[-1]) / 2}[align]
    assert page.mm(float(at)) == pytest.approx(100, abs=1)
    assert page.mm(float(rows[-1])) == pytest.approx(50, abs=0.6)


def test_a_line_says_where_it_ends() -> None:
    page = canvas()
    end = page.write(20, 50, "Hall", page.font(SERIF.regular, 12))
    assert page.mm(float(inked(page)[1][-1])) == pytest.approx(end, abs=1)


@pytest.mark.parametrize("indent", [0, 40])
def test_no_line_is_wider_than_its_room_and_no_word_is_lost(indent: int) -> None:
    text = canvas().words.paragraph(8)
    font = load_font(SERIF.regular, 20)
    lines = wrap_words(text, font, 300, indent)
    assert [word for line in lines for word in line.texts] == text.split()
    assert [line.is_last for line in lines] == [False] * (len(lines) - 1) + [True]
    for number, line in enumerate(lines):
        used = measure(font, " ".join(line.texts)) + (indent if number == 0 else 0)
        assert used <= 300 + 2  # a line measured as a whole is kerned


def test_a_word_wider_than_the_room_has_a_line_of_its_own() -> None:
    font = load_font(SERIF.regular, 20)
    assert [line.texts for line in wrap_words("a " + "w" * 90 + " b", font, 100, 0)] == [
        ["a"],
        ["w" * 90],
        ["b"],
    ]


@pytest.mark.parametrize("justify", [False, True])
def test_a_paragraph_keeps_to_its_column_and_its_stop(justify: bool) -> None:
    page = canvas()
    font = page.font(SERIF.regular, 10)
    below = page.fill(40, 60, 100, page.words.paragraph(30), font, justify=justify, stop=90)
    rows, columns = inked(page)
    assert page.mm(float(columns[0])) >= 39
    assert page.mm(float(columns[-1])) <= 141.5
    assert 90 < below < 96
    assert page.mm(float(rows[-1])) < 93


def test_only_faces_that_know_the_script_are_chosen() -> None:
    page = canvas()
    page.words = page.speak(RUSSIAN)
    chosen = {page.face(faces).regular for faces in (BOOK_FACES, OFFICE_FACES) for _ in range(60)}
    assert len(chosen) > 3
    assert "CourierPrime-Regular.otf" not in chosen


@pytest.mark.parametrize("hand", HANDS)
def test_every_hand_writes_what_it_is_told_accents_too(hand: str) -> None:
    page = canvas()
    end = page.scrawl(30, 60, "Inês Pérez", hand, 20, (0, 0, 0))
    rows, columns = inked(page)
    assert len(rows) > 5
    assert 40 < end < 150
    assert page.mm(float(columns[-1])) < end + 3


def test_pens_leave_ink_where_they_are_used() -> None:
    for draw in (
        lambda page: page.sign(60, 80, (0, 0, 0)),
        lambda page: page.stamp(60, 80, "COPY", (120, 0, 0)),
        lambda page: page.dots(60, 90, 80),
        lambda page: page.box(60, 70, 90, 80),
        lambda page: page.line(60, 80, 90, 80),
    ):
        page = canvas()
        draw(page)
        rows, columns = inked(page)
        assert 55 < page.mm(float(columns[0])) < 65
        assert 60 < page.mm(float(rows[0])) < 85
