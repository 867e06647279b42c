import numpy as np
import pytest

from deshred.elements import ShredSet
from deshred.imaging.composition import compose
from deshred.imaging.composition.pushing import push_together
from deshred.imaging.composition.uprights import find_sides
from tests.imaging.composition.cut_pages import arrange, draw_pattern, make_shred


def spurred(row, reach=36, height=600):
    """A shred 100 px wide with a spur of the rim in a single row: 36 px are 3 mm."""
    mask = np.zeros((height, 100 + reach), bool)
    mask[:, :100] = True
    mask[row] = True
    return mask


@pytest.mark.parametrize("row", [0, 300, 599])
@pytest.mark.parametrize("offset", [-4, -1, 0, 1, 5])
def test_a_spur_of_one_row_holds_no_shreds_apart(row, offset):
    first = make_shred("a", draw_pattern(600, 136), spurred(row))
    pile = ShredSet([first, *(make_shred(name, draw_pattern(600, 100)) for name in "bc")])
    composed = compose(pile, arrange("a", "b", "c", offsets=[0, offset, 0]))[0]
    assert [p.x for p in composed.placements] == [0, 100, 200]


def test_known_missing_paper_keeps_its_width():
    sides = [find_sides(np.ones((50, 20), bool))] * 3
    assert push_together(sides, [0, 0, 0], touching=0.7, missing=[0, 15, 0]) == [0, 35, 55]


def test_a_shred_without_paper_pushes_nothing_out_of_the_page():
    sides = [find_sides(mask) for mask in (np.zeros((50, 20), bool), np.ones((50, 20), bool))]
    assert push_together(sides, [0, 0], touching=0.7) == [0, 0]
