"""Writing on a page in any script: sides, joins, justified lines, upright columns, words in other letters."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.errors import MissingDependencyError
from deshred.imaging.binarization import to_gray
from deshred.simulation.canvas import SANS, WIDTH_MM
from deshred.simulation.drawing import PAGE_KINDS, paint
from deshred.simulation.scripts import ScriptName, check_fonts
from deshred.simulation.scripts.canvas import ScriptCanvas, Setting
from deshred.simulation.scripts.fonts import TRAINING
from deshred.simulation.scripts.writing import SCRIPTS

try:
    check_fonts()
except MissingDependencyError:
    pytest.skip("the fonts of all scripts are not installed", allow_module_level=True)


def _canvas(script: ScriptName, seed: int = 0, dpi: float = 100) -> ScriptCanvas:
    return ScriptCanvas(np.random.default_rng(seed), dpi, SCRIPTS[script], TRAINING[script][0])


@pytest.mark.parametrize("kind", PAGE_KINDS)
def test_every_kind_of_page_can_be_drawn_in_a_script_that_runs_to_the_left(kind: str) -> None:
    canvas = _canvas("arabic", dpi=60)
    paint(canvas, kind)  # type: ignore[arg-type]
    assert (np.asarray(canvas.picture) < 128).any()


def test_lines_begin_at_the_side_of_the_script() -> None:
    for script, is_right in (("hebrew", True), ("greek", False)):
        canvas = _canvas(script)  # type: ignore[arg-type]
        canvas.write(30, 100, canvas.words.title(), canvas.font(SANS.regular, 12))
        columns = np.flatnonzero((to_gray(np.asarray(canvas.picture)) < 128).any(axis=0))
        page = canvas.picture.width
        start = page - columns[-1] if is_right else columns[0]
        assert abs(start - canvas.px(30)) <= 6


def test_arabic_letters_join() -> None:
    canvas = _canvas("arabic")
    font = canvas.font(SANS.regular, 40)
    whole = font.getmask("ببب").getbbox()
    apart = sum(font.getmask("ب").getbbox()[2] for _ in range(3))
    assert whole[2] < 0.8 * apart


def test_justified_lines_end_together() -> None:
    canvas = _canvas("thai", dpi=150)
    text = canvas.words.paragraph(8)
    canvas.fill(20, 50, 150, text, canvas.font(SANS.regular, 11), justify=True)
    ink = to_gray(np.asarray(canvas.picture)) < 128
    columns = np.flatnonzero(ink.any(axis=0))
    assert abs(columns[-1] - canvas.px(170)) <= 8


def test_upright_columns_are_one_character_wide() -> None:
    canvas = _canvas("japanese", dpi=150)
    font = canvas.font(SANS.regular, 20)
    canvas.write_down(100, 50, "日 本 国 会。", font)
    ink = to_gray(np.asarray(canvas.picture)) < 128
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    assert columns[-1] - columns[0] <= 1.2 * font.size
    assert rows[-1] - rows[0] >= 3.5 * font.size


def _columns(canvas: ScriptCanvas) -> np.ndarray:
    return np.flatnonzero((to_gray(np.asarray(canvas.picture)) < 128).any(axis=0))


def test_lines_and_boxes_of_a_leftward_page_are_the_mirror_of_a_rightward_one() -> None:
    pages = []
    for script in ("hebrew", "greek"):
        canvas = _canvas(script)  # type: ignore[arg-type]
        canvas.line(20, 40, 90, 40, mm=1)
        canvas.box(30, 60, 80, 90, mm=1)
        pages.append(_columns(canvas)[[0, -1]])
    assert np.abs(canvas.picture.width - pages[0][::-1] - pages[1]).max() <= 3
    assert abs(pages[1][0] - canvas.px(20)) <= 3


def test_latin_words_in_a_leftward_line_still_run_to_the_right() -> None:
    canvas = _canvas("hebrew", dpi=150)
    font = canvas.font(SANS.regular, 14)
    canvas.write(30, 100, "\u05e9\u05dc\u05d5\u05dd i WWWW", font)
    ink = _columns(canvas)
    spaces = np.flatnonzero(np.diff(ink) > 0.15 * font.size)
    starts = ink[np.concatenate([[0], spaces + 1])]
    stops = ink[np.concatenate([spaces, [len(ink) - 1]])]
    widths = stops - starts
    assert widths[0] < 0.4 * widths[1]  # from the left: the narrow word, then the wide one


def test_what_is_written_ends_where_the_canvas_says() -> None:
    canvas = _canvas("cyrillic", dpi=150)
    font = canvas.font(SANS.regular, 12)
    end = canvas.write(30, 100, canvas.words.title(), font)
    assert abs(_columns(canvas)[-1] - canvas.px(end)) <= 0.3 * font.size
    assert 30 < end < WIDTH_MM


def test_text_stops_at_the_last_line_that_fits() -> None:
    canvas = _canvas("greek")
    font = canvas.font(SANS.regular, 11)
    y = canvas.fill(20, 50, 60, canvas.words.paragraph(30), font, stop=80)
    rows = np.flatnonzero((to_gray(np.asarray(canvas.picture)) < 128).any(axis=1))
    assert rows[-1] <= canvas.px(80) + font.size
    assert y > 80


def test_small_print_needs_fewer_lines_and_lines_apart_more_paper() -> None:
    def depth(setting: Setting) -> float:
        canvas = ScriptCanvas(
            np.random.default_rng(0), 100, SCRIPTS["arabic"], TRAINING["arabic"][0], setting
        )
        text = canvas.words.paragraph(8)
        return canvas.fill(20, 50, 60, text, canvas.font(SANS.regular, 11), stop=280) - 50

    assert depth(Setting(size=0.7)) < 0.7 * depth(Setting())
    assert depth(Setting(leading=1.5)) == pytest.approx(1.5 * depth(Setting()), rel=0.01)
