from __future__ import annotations

import numpy as np
import pytest

from deshred.errors import MissingDependencyError
from deshred.imaging.binarization import to_gray
from deshred.simulation.drawing import DrawingOptions
from deshred.simulation.scripts import SCRIPT_NAMES, ScriptName, check_fonts, draw_script_page
from deshred.simulation.scripts.pages import draw_script_pages

try:
    check_fonts()
except MissingDependencyError:
    pytest.skip("the fonts of all scripts are not installed", allow_module_level=True)

SMALL = DrawingOptions(dpi=100, scanned=False)


@pytest.mark.parametrize("script", SCRIPT_NAMES)
def test_a_page_of_every_script_has_ink_and_is_the_same_again(script: ScriptName) -> None:
    first, second = (draw_script_page(script, np.random.default_rng(7), options=SMALL) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert 0.001 < (to_gray(first) < 128).mean() < 0.3


def test_more_pages_leave_the_first_ones_as_they_are() -> None:
    few = draw_script_pages(2, np.random.default_rng(0))
    more = draw_script_pages(3, np.random.default_rng(0))
    assert [page.name for page in few] == ["drawn latin 0", "drawn cyrillic 1"]
    for first, second in zip(few, more[:2], strict=True):
        np.testing.assert_array_equal(first.bits, second.bits)


def test_no_pages_need_no_fonts() -> None:
    assert draw_script_pages(0, np.random.default_rng(0)) == []
