from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deshred.compatibility.outline import Curves, OutlineOptions, OutlineScorer
from deshred.elements import Edge
from deshred.errors import SettingsError
from deshred.simulation.shredding import draw_tears
from tests.compatibility.comparing import adapt_to, describe, score_edges

ROWS = 3000


def _edge(outline: NDArray[np.floating]) -> Edge:
    return Edge(
        np.zeros((ROWS, 2), np.uint8), outline.astype(np.float32), np.full((ROWS, 3), 255, np.uint8), 0
    )


def _torn(count: int, seed: int = 0, amplitude: float = 1.5) -> tuple[Curves, Curves]:
    """Both sides of so many cuts, each with its own fray, in whole pixels as masks have them."""
    rng = np.random.default_rng(seed)
    tears = draw_tears(rng, count, ROWS, amplitude)
    scorer = OutlineScorer()
    rights = [_edge(np.rint(tear + 0.3 * rng.standard_normal(ROWS))) for tear in tears]
    lefts = [_edge(-np.rint(tear + 0.3 * rng.standard_normal(ROWS))) for tear in tears]
    return describe(scorer, rights, lefts)


def _score(rights: Curves, lefts: Curves) -> NDArray[np.float32]:
    scorer = OutlineScorer()
    return scorer.reduce(scorer.compare(rights, lefts)).scores


def test_the_two_sides_of_a_tear_find_each_other() -> None:
    rights, lefts = _torn(12)
    scores = _score(rights, lefts)
    np.testing.assert_array_equal(scores.argmax(axis=1), np.arange(12))
    assert (np.diag(scores) > 0).all()
    assert (scores[~np.eye(12, dtype=bool)] < 0).all()


def test_straight_outlines_say_nothing() -> None:
    scorer = OutlineScorer()
    straight = [_edge(np.full(ROWS, 7.0)) for _ in range(3)]
    block = score_edges(scorer, straight, straight)
    np.testing.assert_allclose(block.scores, 0, atol=1e-5)


def test_a_poor_fit_is_bounded_by_the_share_of_ruined_joins() -> None:
    rights, lefts = _torn(6)
    scores = _score(rights, lefts)
    assert scores.min() >= np.log(OutlineOptions().ruined) - 1e-3


def test_the_offset_brings_the_tear_together() -> None:
    rng = np.random.default_rng(2)
    tear = draw_tears(rng, 1, ROWS + 20, 2.0)[0]
    scorer = OutlineScorer()
    right = _edge(tear[10 : 10 + ROWS])
    left = _edge(-tear[:ROWS])  # everything lies 10 px lower on the right shred
    assert score_edges(scorer, [right], [left]).offsets[0, 0] == -10


def test_rows_without_paper_do_no_harm() -> None:
    rng = np.random.default_rng(3)
    tear = draw_tears(rng, 1, ROWS, 2.0)[0].astype(np.float64)
    tear[:500] = np.nan
    scorer = OutlineScorer()
    block = score_edges(scorer, [_edge(tear)], [_edge(-tear)])
    assert block.scores[0, 0] > 10
    nothing = _edge(np.full(ROWS, np.nan))
    assert np.isfinite(score_edges(scorer, [_edge(tear)], [nothing]).scores).all()


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SettingsError, match="noise"):
        OutlineOptions(noise=0)


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_a_pile_tells_how_much_its_outlines_differ(noise: float) -> None:
    rng = np.random.default_rng(0)
    tears = draw_tears(rng, 25, 3000, 1.5)
    rights = [_edge(tear + noise * rng.standard_normal(3000)) for tear in tears[1:]]
    lefts = [_edge(-tear + noise * rng.standard_normal(3000)) for tear in tears[:-1]]
    scorer = OutlineScorer()
    adapted = adapt_to(scorer, rights, lefts)
    # a curve is sampled every other row, so independent noise of rows is averaged over two
    assert noise / 2 <= adapted.options.noise <= noise * 1.1
    assert scorer.options.noise == OutlineOptions().noise


def test_a_pile_without_torn_outlines_teaches_nothing() -> None:
    scorer = OutlineScorer()
    straight = [_edge(np.zeros(3000)) for _ in range(5)]
    adapted = adapt_to(scorer, straight, straight)
    assert adapted.options == scorer.options
    np.testing.assert_allclose(adapted.log_prior, scorer.log_prior, atol=1e-5)
