"""The slant of lines is found where it was put in, and nothing is made up where nothing tells."""

import numpy as np
import pytest

from deshred.imaging.composition.ribbons import unroll
from deshred.imaging.composition.skew import find_skew
from tests.imaging.composition.cut_pages import make_shred

WIDTH, COUNT, HEIGHT = 100, 16, 2400


def slanted(degrees, seed=0):
    """Shreds of a page with lines of words that go down to the right."""
    rng = np.random.default_rng(seed)
    page = np.full((HEIGHT, WIDTH * COUNT), 250, np.uint8)
    down = np.tan(np.radians(degrees)) * np.arange(page.shape[1])
    for top in range(120, HEIGHT - 120, 45):
        for left in range(20, page.shape[1] - 40, 25):
            row = round(top + down[left])
            page[row : row + int(rng.integers(14, 20)), left : left + 18] = 30
    return page[:, :, None].repeat(3, axis=2)


def found(page):
    shreds = [make_shred(f"s{i}", page[:, WIDTH * i : WIDTH * (i + 1)]) for i in range(COUNT)]
    ribbons = [unroll(shred, straightens=False) for shred in shreds]
    lefts = [WIDTH * i + WIDTH / 2 for i in range(COUNT)]
    return find_skew(ribbons, [0.0] * COUNT, lefts, HEIGHT)


@pytest.mark.parametrize("degrees", [-3.0, -0.8, 0.0, 1.5, 4.0])
def test_the_slant_of_lines_is_found(degrees):
    assert found(slanted(degrees)) == pytest.approx(degrees, abs=0.15)


def test_a_blank_page_has_none():
    assert found(np.full((HEIGHT, WIDTH * COUNT, 3), 250, np.uint8)) == 0.0


def test_the_ends_of_a_sheet_tell_where_no_line_does():
    blank = np.full((HEIGHT, WIDTH, 3), 250, np.uint8)
    ribbons = [unroll(make_shred(f"s{i}", blank), straightens=False) for i in range(COUNT)]
    lefts = [WIDTH * i + WIDTH / 2 for i in range(COUNT)]
    tops = [left * np.tan(np.radians(1.0)) for left in lefts]
    assert find_skew(ribbons, tops, lefts, HEIGHT + 20) == pytest.approx(1.0, abs=0.05)
    rough = [top + 60 * (i % 2) for i, top in enumerate(tops)]
    assert find_skew(ribbons, rough, lefts, HEIGHT + 90) == 0.0
