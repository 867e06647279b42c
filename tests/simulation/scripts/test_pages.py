from __future__ import annotations

import numpy as np
import pytest

from deshred.errors import MissingDependencyError
from deshred.imaging.binarization import to_gray
from deshred.simulation.canvas import SANS
from deshred.simulation.drawing import PAGE_KINDS, DrawingOptions, paint
from deshred.simulation.scripts import SCRIPT_NAMES, ScriptName, check_fonts, draw_script_page
from deshred.simulation.scripts.canvas import ScriptCanvas
from deshred.simulation.scripts.fonts import TRAINING
from deshred.simulation.scripts.pages import draw_script_pages
from deshred.simulation.scripts.writing import SCRIPTS

try:
    check_fonts()
except MissingDependencyError:
    pytest.skip("the fonts of all scripts are not installed", allow_module_level=True)

SMALL = DrawingOptions(dpi=100, scanned=False)


def _canvas(script: ScriptName, seed: int = 0, dpi: float = 100) -> ScriptCanvas:
    return ScriptCanvas(np.random.default_rng(seed), dpi, SCRIPTS[script], TRAINING[script][0])


@pytest.mark.parametrize("script", SCRIPT_NAMES)
def test_a_page_of_every_script_has_ink_and_is_the_same_again(script: ScriptName) -> None:
    first, second = (draw_script_page(script, np.random.default_rng(7), options=SMALL) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert 0.001 < (to_gray(first) < 128).mean() < 0.3


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


def test_more_pages_leave_the_first_ones_as_they_are() -> None:
    few = draw_script_pages(2, np.random.default_rng(0))
    more = draw_script_pages(3, np.random.default_rng(0))
    assert [page.name for page in few] == ["drawn latin 0", "drawn cyrillic 1"]
    for first, second in zip(few, more[:2], strict=True):
        np.testing.assert_array_equal(first.bits, second.bits)


def test_no_pages_need_no_fonts() -> None:
    assert draw_script_pages(0, np.random.default_rng(0)) == []
