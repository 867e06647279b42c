import numpy as np
import pytest

from deshred.elements import ShredSet
from deshred.imaging.composition import compose
from deshred.imaging.composition.uprights import fit_center, set_upright
from tests.imaging.composition.cut_pages import arrange, cut, draw_pattern, make_shred


def bend(shred, columns):
    """The same shred with each row moved right by so many px."""
    height, width = shred.mask.shape
    moved = np.rint(columns - columns.min()).astype(int)
    image = np.zeros((height, width + moved.max(), 3), np.uint8)
    mask = np.zeros(image.shape[:2], bool)
    for row, by in enumerate(moved):
        image[row, by : by + width] = shred.image[row]
        mask[row, by : by + width] = shred.mask[row]
    return make_shred(shred.id, image, mask)


@pytest.mark.parametrize("degrees", [-8, -5.5, 2, 6, 9])
def test_however_far_a_shred_bends_it_is_straightened_when_both_sides_bend(degrees):
    page = draw_pattern(2400, 300)
    shreds = list(cut(page, np.full((2, 2400), [[100], [200]])))
    y = np.linspace(-1, 1, 2400)
    bow = 1200 * np.tan(np.radians(degrees)) * (y**2 / 2)  # that steep at both ends
    pile = ShredSet([shreds[0], bend(shreds[1], bow), shreds[2]])
    composed = compose(pile, arrange("s0", "s1", "s2"))[0]
    assert abs(composed.mask.any(axis=0).sum() - 300) <= 3
    assert (~composed.mask[:, composed.mask.any(axis=0)]).mean() < 0.01


def test_a_flap_on_one_side_does_not_bend_a_straight_shred():
    mask = np.zeros((2400, 160), bool)
    mask[:, 40:120] = True
    y = np.arange(2400)
    mask |= (np.abs(np.arange(160) - 120) < (40 * np.exp(-(((y - 1500) / 250) ** 2)))[:, None]) & mask.any()
    upright = set_upright(make_shred("a", draw_pattern(2400, 160), mask))
    assert upright.indent <= 3  # as wide as the flap would be 20


def test_the_center_line_goes_straight_on_beyond_the_paper():
    mask = np.zeros((1000, 200), bool)
    for row in range(200, 800):
        mask[row, row // 10 : row // 10 + 80] = True
    line = fit_center(mask)
    np.testing.assert_allclose(line.slopes(np.array([0, 500, 999])), 0.1, atol=0.01)
    np.testing.assert_allclose(line.columns(np.array([0, 999])), [39, 139], atol=1.5)


def test_runs_of_rows_are_where_each_row_by_itself_would_be():
    page = draw_pattern(2400, 300)
    shred = bend(next(iter(cut(page, np.full((1, 2400), 150)))), 30 * np.linspace(-1, 1, 2400) ** 2)
    upright = set_upright(shred)
    assert upright.indent > 5
    rows = np.concatenate([np.arange(2400)[run.rows] for run in upright.runs])
    np.testing.assert_array_equal(rows, np.arange(2400))
    columns = np.concatenate([np.full(run.rows.stop - run.rows.start, run.column) for run in upright.runs])
    for row in range(2400):
        straight = np.zeros(upright.width, bool)
        straight[columns[row] : columns[row] + shred.mask.shape[1]] = shred.mask[row]
        assert straight.argmax() == upright.sides.starts[row]
        assert upright.width - straight[::-1].argmax() == upright.sides.stops[row]
    composed = compose(ShredSet([shred]), arrange(shred.id))[0]
    place = composed.placements[0]
    for row in range(2400):
        left = place.x - upright.indent + columns[row]
        there = composed.image[place.y + row, left : left + shred.mask.shape[1]]
        np.testing.assert_array_equal(there[shred.mask[row]], shred.image[row][shred.mask[row]])
