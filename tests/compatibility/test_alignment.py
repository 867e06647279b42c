from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from deshred.compatibility.alignment import align
from deshred.elements import Arrangement, Join, Shred, ShredSet, Slot, Source
from deshred.imaging.edges import EdgeOptions, extract_edges
from deshred.simulation.shredding import ShreddingOptions, shred_page
from tests.scribbles import scribble


@pytest.mark.parametrize("error", [-4, -2, 0, 3])
def test_a_coarse_offset_is_refined_to_the_pixel(error: int) -> None:
    page = np.repeat(255 - 255 * scribble(1, height=1600)[:, :, None], 3, axis=2)
    cut = shred_page(page, np.random.default_rng(2), options=ShreddingOptions(shreds=5, tilt_degrees=0.0))
    source = Source(Path("page.png"), "")
    shreds = ShredSet([Shred(str(i), s.image, s.mask, 300.0, source) for i, s in enumerate(cut)])
    edges = [extract_edges(shred, options=EdgeOptions()) for shred in shreds]
    truth = [left.shift - right.shift for left, right in pairwise(cut)]
    joins = tuple(Join(str(i), str(i + 1), 0.0, offset + error) for i, offset in enumerate(truth))
    slots = tuple(Slot(str(i), 0) for i in range(5))
    aligned = align(Arrangement((slots,), joins, (), 0, 0), shreds, edges)
    assert np.abs(np.array([join.offset for join in aligned.joins]) - truth).max() <= 1
    assert aligned.pages[0][-1].offset == sum(join.offset for join in aligned.joins)
