"""A shred that need not give way comes onto the page as it is, and a turn is undone by its opposite."""

import numpy as np
import pytest

from deshred.imaging.composition.ribbons import unroll
from deshred.imaging.composition.warping import Berth, Turn, warp
from tests.imaging.composition.cut_pages import draw_pattern, make_shred

LEVEL = Turn(0.0, 0.0, 0.0)


def berth(right=0.0, down=0.0, knots=3):
    image = draw_pattern(300, 80)
    ribbon = unroll(make_shred("a", image), straightens=False)
    rows = np.linspace(0, 400, knots)
    left = 100.0 + float(ribbon.center.columns(np.array([0.0]))[0])
    return image, Berth(ribbon, left, 50.0, rows, np.full(knots, right), np.full(knots, down))


@pytest.mark.parametrize(("right", "down"), [(0, 0), (5, 0), (0, -7), (3, 11)])
def test_whole_moves_keep_every_pixel(right, down):
    image, lying = berth(right, down)
    patch = warp(lying, LEVEL, image)
    x, y = 100 + right - patch.x, 50 + down - patch.y
    inner = (slice(y + 2, y + 298), slice(x + 2, x + 78))
    assert patch.mask[inner].all()
    difference = np.abs(patch.image[inner].astype(int) - image[2:298, 2:78])
    assert difference.max() <= 2
    assert patch.mask.sum() == pytest.approx(300 * 80, abs=400)


@pytest.mark.parametrize("degrees", [-4.0, 0.7, 30.0])
def test_a_turn_forth_and_back_is_none(degrees):
    turn = Turn(degrees, 40.0, 90.0)
    x, y = np.random.default_rng(0).uniform(0, 200, (2, 20))
    there = turn.forth(x, y)
    again = turn.back(there.x, there.y)
    assert again.x == pytest.approx(x)
    assert again.y == pytest.approx(y)
    assert turn.forth(np.array([40.0]), np.array([90.0])).x == pytest.approx([40.0])


def test_lines_that_go_down_to_the_right_are_level_after_the_turn():
    turn = Turn(2.0, 0.0, 0.0)
    x = np.array([0.0, 100.0, 500.0])
    assert turn.forth(x, x * np.tan(np.radians(2.0))).y == pytest.approx([0, 0, 0], abs=1e-9)


def test_a_shred_gives_way_between_its_knots():
    _, lying = berth()
    bent = Berth(lying.ribbon, lying.left, lying.top, lying.knots, np.array([0.0, 8.0, 0.0]), np.zeros(3))
    straight, moved = (
        one.to_shred(np.full(3, 140.0), np.array([0.0, 100.0, 200.0])) for one in (lying, bent)
    )
    assert straight.x - moved.x == pytest.approx([0.0, 4.0, 8.0])
    assert straight.y.tolist() == moved.y.tolist()
