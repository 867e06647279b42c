"""People see exact offsets and probabilities; the order itself stays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, arrange
from deshred.compatibility.refinement import refine
from deshred.elements import Calibration, Compatibility, Pile, Shred, ShredSet, Source
from deshred.imaging.edges import EdgeOptions
from tests.compatibility.comparing import pile_of
from tests.scribbles import scribble

EDGES = EdgeOptions(width=64, rows=1600)


def strips(*drops: int) -> Pile:
    """A page cut straight, each strip hanging so many px too low in its image."""
    page = np.repeat(250 - 220 * scribble(4, 1600, 100 * len(drops))[:, :, None], 3, axis=2)
    made = []
    for i, drop in enumerate(drops):
        image = np.roll(page[:, 100 * i : 100 * (i + 1)], drop, axis=0)
        mask = np.ones(image.shape[:2], bool)
        made.append(Shred(f"s{i}", image, mask, 300.0, Source(Path("drawn"), "")))
    return pile_of(ShredSet(made), EDGES)


@pytest.fixture(scope="module")
def pile(tiny_pile: ShredSet) -> Pile:
    return pile_of(tiny_pile, EDGES)


def scored(pile: Pile, offset: int = 0, calibration: Calibration | None = None) -> Compatibility:
    n = len(pile)
    scores = np.full((n, n), -5, np.float32)
    scores[np.arange(n - 1), np.arange(1, n)] = 5
    offsets = np.full((n, n), offset, np.int16)
    return Compatibility(pile.shreds.ids, scores, offsets, calibration=calibration)


def test_the_order_stays_and_slots_add_up_the_offsets_of_their_joins(pile: Pile) -> None:
    before = scored(pile, offset=2)
    arranged = arrange(before, options=ArrangementOptions(pages=1))
    refined = refine(arranged, before, pile)
    assert refined.order == arranged.order
    steps = [join.offset for join in refined.joins]
    assert [slot.offset for slot in refined.pages[0]] == [0, *np.cumsum(steps)]


def test_shreds_that_hang_lower_are_found_to_the_pixel() -> None:
    pile = strips(0, 3, 1, 1)
    known = scored(pile)
    refined = refine(arrange(known, options=ArrangementOptions(pages=1)), known, pile)
    assert [join.offset for join in refined.joins] == [-3, 2, 0]


def test_probabilities_are_given_where_scores_are_calibrated_and_nowhere_else(pile: Pile) -> None:
    plain, sure = scored(pile), scored(pile, calibration=Calibration(1.0, 0.0))
    arranged = arrange(plain, options=ArrangementOptions(pages=1))
    assert all(join.probability is None for join in refine(arranged, plain, pile).joins)
    assert all(join.probability > 0.99 for join in refine(arranged, sure, pile).joins)
