"""How neighbors must move at knots down the page, where the truth was put in."""

import cv2
import numpy as np
import pytest

from deshred.imaging.composition.offsets import knots_of, measure_columns, measure_rows
from deshred.imaging.composition.reading import UPWARDS
from deshred.imaging.composition.ribbons import unroll
from deshred.imaging.composition.settling import settle
from tests.imaging.composition.cut_pages import make_shred
from tests.scribbles import scribble


def test_the_offset_of_a_join_is_measured_as_a_slow_function_of_the_row():
    page = np.repeat(250 - 220 * scribble(4, 2400, 400)[:, :, None], 3, axis=2)
    left, right = page[:, :200], page[:, 200:]
    # the tear runs through the letters; the right shred was stretched and curled
    y = np.arange(2400, dtype=np.float32)
    curl = 3 * np.sin(y / 2400 * np.pi)
    at_x, at_y = np.meshgrid(np.arange(200, dtype=np.float32), y + curl)
    moved = cv2.remap(right, at_x, at_y.astype(np.float32), cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    ribbons = [unroll(make_shred(name, image)) for name, image in (("a", left), ("b", moved))]
    pulls = measure_rows(ribbons, [0.0, 0.0], 2400)
    said = pulls.trust[0] > 0.3
    assert said.sum() >= 8
    expected = np.interp(knots_of(2400), y, curl)
    error = np.abs(pulls.wanted[0] - expected)[said]
    assert error.mean() < 0.6
    assert error.max() < 1.2


def test_blank_neighbors_say_nothing():
    blank = [unroll(make_shred(name, np.full((900, 80, 3), 250, np.uint8))) for name in "ab"]
    assert (measure_rows(blank, [0.0, 0.0], 900).trust == 0).all()


@pytest.mark.parametrize("gap", [-3.0, 0.0, 4.0])
def test_neighbors_go_as_far_as_they_touch(gap):
    white = [unroll(make_shred(name, np.full((900, 80, 3), 250, np.uint8))) for name in "ab"]
    pulls = measure_columns(white, [0.0, 0.0], [40.0, 120.0 + gap], 900, touching=0.7, rooms=[0])
    assert pulls.wanted[0] == pytest.approx(-gap, abs=1e-6)
    assert (pulls.trust[0] > 0).all()


def test_knots_reach_from_the_first_row_to_the_last():
    for height in (50, 900, 3508):
        knots = knots_of(height)
        assert (knots[0], knots[-1]) == (0, height - 1)
        assert (np.diff(knots) > 0).all()


def test_a_single_letter_weighs_less_than_the_offset_of_its_join_and_a_column_of_them_more():
    """Where ink is scarce an odd letter fits best at a wrong place."""
    letter, page = np.full((40, 8), 30, np.uint8), np.full((2400, 80, 3), 250, np.uint8)
    for count, is_believed in ((1, False), (24, True)):
        left, right = page.copy(), page.copy()
        for number in range(count):
            top = 60 + 97 * number
            left[top : top + 40, -8:] = right[top + 3 : top + 43, :8] = letter[..., None]
        ribbons = [unroll(make_shred(name, image)) for name, image in (("a", left), ("b", right))]
        moves = settle(measure_rows(ribbons, [0.0, 0.0], 2400), UPWARDS)
        moved = np.abs(np.diff(moves, axis=0)).mean()
        assert (moved > 2) == is_believed
        assert (moved < 1) != is_believed
