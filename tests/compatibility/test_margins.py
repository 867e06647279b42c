from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, arrange
from deshred.compatibility.margins import count_inked_rows, level_margins, weigh_margins
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.elements import Compatibility, Margins, ShredSet
from deshred.imaging.edges import EdgeOptions, extract_edges


def test_an_empty_edge_speaks_for_a_margin_and_an_inked_one_against(tiny_pile: ShredSet) -> None:
    edges = [extract_edges(shred, options=EdgeOptions()) for shred in tiny_pile]
    margins = weigh_margins(tiny_pile, edges)
    inked = np.array([count_inked_rows(pair.left) for pair in edges])
    assert (np.diff(margins.starts[np.argsort(inked)]) <= 0).all()
    assert margins.widths_mm.shape == (len(tiny_pile),)


@pytest.mark.parametrize("constant", [-40.0, 0.0, 25.0])
def test_a_constant_on_all_scores_does_not_move_a_page_break(constant: float) -> None:
    """Four shreds, two pages: strong joins inside, nothing between."""
    scores = np.full((4, 4), -5.0, np.float32)
    scores[0, 1] = scores[2, 3] = 20.0
    scores += np.float32(constant)
    np.fill_diagonal(scores, -np.inf)
    plain = Margins(
        np.array([1, -2, 1, -2], np.float32), np.array([-2, 1, -2, 1], np.float32), np.full(4, 8, np.float32)
    )
    compatibility = Compatibility(tuple("abcd"), scores, np.zeros((4, 4), np.int16))
    leveled = replace(compatibility, margins=level_margins(plain, compatibility))
    pages = arrange(leveled, options=ArrangementOptions(pages="auto")).pages
    assert {tuple(slot.shred_id for slot in page) for page in pages} == {("a", "b"), ("c", "d")}


def test_sparse_and_dense_scores_level_alike(tiny_pile: ShredSet) -> None:
    dense = score(tiny_pile, OutlineScorer())
    sparse = score(tiny_pile, OutlineScorer(), options=ScoringOptions(dense_limit=0, candidates=7))
    assert dense.margins is not None
    assert sparse.margins is not None
    np.testing.assert_allclose(sparse.margins.starts, dense.margins.starts, rtol=1e-5)
