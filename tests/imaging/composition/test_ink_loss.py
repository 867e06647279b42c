"""Gaps that tears made are told from those of print, on pages whose gaps are known."""

import numpy as np

from deshred.imaging.composition.ink_loss import measure_gaps
from tests.imaging.composition.cut_pages import print_page


def test_gaps_that_tears_made_are_told_from_those_between_letters():
    for taken in (4, 7):
        assert taken <= measure_gaps(*print_page(natural=[12, 13, 14], taken=taken)) <= 11
    assert measure_gaps(*print_page(natural=[12, 13, 14], taken=0)) == 0
    assert measure_gaps(*print_page(natural=[4, 5, 6], taken=2)) <= 3
    assert measure_gaps(np.full((500, 300, 3), 255, np.uint8), []) == 0
