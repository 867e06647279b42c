from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, arrange
from deshred.compatibility.margins import count_inked_rows, level_margins, weigh_margins
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.elements import Compatibility, Margins, ShredSet
from deshred.imaging.edges import EdgeOptions, extract_edges
from deshred.store import load_compatibility, save_compatibility


def test_an_empty_edge_speaks_for_a_margin_and_an_inked_one_against(tiny_pile: ShredSet) -> None:
    edges = [extract_edges(shred, options=EdgeOptions()) for shred in tiny_pile]
    margins = weigh_margins(tiny_pile, edges)
    inked = np.array([count_inked_rows(pair.left) for pair in edges])
    assert (np.diff(margins.starts[np.argsort(inked)]) <= 0).all()
    assert margins.widths_mm.shape == (len(tiny_pile),)
    assert margins.heights_mm is not None
    rows = [shred.mask.any(axis=1).sum() for shred in tiny_pile]
    np.testing.assert_allclose(margins.heights_mm, np.array(rows) / tiny_pile[0].dpi * 25.4, rtol=1e-6)


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


def test_every_edge_has_a_level_of_its_own() -> None:
    """An edge with much ink scores high with strangers too: there a page break must be worth more."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(6, 6)).astype(np.float32)
    scores[2] += 30
    np.fill_diagonal(scores, -np.inf)
    flat = Margins(*np.zeros((3, 6), np.float32))
    leveled = level_margins(flat, Compatibility(tuple("abcdef"), scores, np.zeros((6, 6), np.int16)))
    np.testing.assert_allclose(leveled.ends, np.sort(scores, axis=1)[:, -2] / 2)
    np.testing.assert_allclose(leveled.starts, np.sort(scores, axis=0)[-2] / 2)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_the_smallest_piles_have_margins(n: int) -> None:
    scores = np.full((n, n), -np.inf, np.float32)
    flat = Margins(*np.zeros((3, n), np.float32))
    leveled = level_margins(flat, Compatibility(tuple("ab"[:n]), scores, np.zeros((n, n), np.int16)))
    assert leveled.starts.tolist() == leveled.ends.tolist() == [0.0] * n


def test_heights_are_kept_with_the_scores(tmp_path: Path) -> None:
    margins = Margins(*np.zeros((3, 2), np.float32), heights_mm=np.array([297, 295], np.float32))
    scores = Compatibility(
        ("a", "b"), np.eye(2, dtype=np.float32), np.eye(2, dtype=np.int16), margins=margins
    )
    save_compatibility(scores, tmp_path / "c.npz")
    kept = load_compatibility(tmp_path / "c.npz").margins
    assert kept is not None
    assert kept.heights_mm is not None
    assert kept.heights_mm.tolist() == [297, 295]


def test_sparse_and_dense_scores_level_alike(tiny_pile: ShredSet) -> None:
    dense = score(tiny_pile, OutlineScorer())
    sparse = score(tiny_pile, OutlineScorer(), options=ScoringOptions(dense_limit=0, candidates=7))
    assert dense.margins is not None
    assert sparse.margins is not None
    np.testing.assert_allclose(sparse.margins.starts, dense.margins.starts, rtol=1e-5)
