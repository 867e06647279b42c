"""Lines of print tell which page a shred belongs to, where the ink at its cut does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from deshred.compatibility.contract import ScorerCard
from deshred.compatibility.lines import (
    LineWeights,
    Printed,
    PrintedEnds,
    compare_ends,
    find_chains,
    look_at_lines,
    weigh_lines,
)
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Calibration, Compatibility, Edge, EdgePair, Pile, RowInk, Shred, ShredSet, Source
from deshred.imaging.preparation import prepare
from deshred.simulation.drawing import draw_page
from deshred.simulation.shredding import Damage, ShreddingOptions, shred_page
from tests.arrangement.drawn_piles import to_sparse

INK = ScorerCard("towers", "towers", model="made up")
ROWS = 2600
COLUMN = 5  # shreds in a column; two columns make a page


def print_lines(pitch: float, *, first: int = 300, last: int = 2300) -> NDArray[np.bool_]:
    """Lines of print that cover 60 % of every pitch."""
    rows = np.arange(ROWS)
    printed: NDArray[np.bool_] = ((rows - first) % pitch < 0.6 * pitch) & (rows >= first) & (rows < last)
    return printed


def cut_edges(
    lines: Sequence[NDArray[np.bool_]], *, gutters: Sequence[tuple[bool, bool]] | None = None
) -> list[EdgePair]:
    """The edges of shreds with these lines: inside a column they reach both tears, at a gutter none."""
    blank = Edge(np.zeros((32, 2), np.uint8), np.zeros(32, np.float32), np.full((32, 3), 255, np.uint8), 0)
    gutters = gutters or [(i % COLUMN == 0, i % COLUMN == COLUMN - 1) for i in range(len(lines))]
    return [
        EdgePair(blank, blank, RowInk.of(shown, shown & (not left), shown & (not right)))
        for shown, (left, right) in zip(lines, gutters, strict=True)
    ]


def score_columns(pages: int, *, offset: int = 0) -> Compatibility:
    """Pages of two columns, whose joins are sure but for those that begin or end at a gutter."""
    count = 2 * COLUMN * pages
    scores = np.random.default_rng(0).normal(-5, 1, (count, count)).astype(np.float32)
    for i in range(count - 1):
        if i % COLUMN != COLUMN - 1:
            scores[i, i + 1] = 30
    np.fill_diagonal(scores, -np.inf)
    offsets = np.full(scores.shape, offset, np.int16)
    calibration = Calibration(slope=0.5, intercept=0.0)
    return Compatibility(tuple(map(str, range(count))), scores, offsets, calibration=calibration)


def weigh(before: Compatibility, edges: Sequence[EdgePair]) -> Compatibility:
    paper = np.full((8, 4, 3), 255, np.uint8)
    source = Source(Path("made up"), "")
    shreds = [Shred(name, paper, np.ones((8, 4), bool), 300.0, source) for name in before.ids]
    return weigh_lines(before, Pile(ShredSet(shreds), edges, ShredSet([])), scorer=INK)


def gain(before: Compatibility, edges: Sequence[EdgePair]) -> NDArray[np.float32]:
    after = weigh(before, edges).scores
    return np.subtract(after, before.scores, out=np.zeros_like(after), where=np.isfinite(before.scores))


PITCHES = (38.0, 44.3, 51.7)
PAGES = [print_lines(pitch) for pitch in PITCHES for _ in range(2 * COLUMN)]


def test_columns_of_one_pitch_belong_to_one_page() -> None:
    added = gain(score_columns(3), cut_edges(PAGES))
    last, first = COLUMN - 1, COLUMN
    for page in (0, 10, 20):
        own = added[page + last, page + first]
        strangers = [added[page + last, other + first] for other in (0, 10, 20) if other != page]
        assert own > max(strangers) + 4


def test_in_a_book_lines_say_nothing() -> None:
    added = gain(score_columns(3), cut_edges([print_lines(44.0)] * 30))
    assert np.abs(added).max() < 1e-5


def test_joins_with_print_at_the_cut_and_sure_ones_stay_as_they_are() -> None:
    before = score_columns(3)
    after = weigh(before, cut_edges(PAGES))
    ends, starts = np.arange(30) % COLUMN == COLUMN - 1, np.arange(30) % COLUMN == 0
    asked = ends[:, None] & starts
    np.testing.assert_array_equal(after.scores[~asked], before.scores[~asked])
    assert (after.scores[asked] != before.scores[asked]).mean() > 0.8


def test_no_join_moves_further_than_the_bounds() -> None:
    added = gain(score_columns(3), cut_edges(PAGES)) * 0.5
    assert added.max() <= 2
    assert added.min() >= -6


def test_a_few_lines_say_nothing() -> None:
    edges = cut_edges([print_lines(pitch, last=380) for pitch in PITCHES for _ in range(2 * COLUMN)])
    before = score_columns(3)
    assert weigh(before, edges) is before


def test_without_calibration_nobody_knows_what_lines_are_worth() -> None:
    before = replace(score_columns(3), calibration=None)
    assert weigh(before, cut_edges(PAGES)) is before


def test_listed_joins_are_weighed_like_all() -> None:
    before, edges = score_columns(3), cut_edges(PAGES)
    everywhere, listed = weigh(before, edges), weigh(to_sparse(before), edges)
    rows, columns = listed.list_joins()
    np.testing.assert_allclose(listed.scores, everywhere.scores[rows, columns], atol=1e-4)


def test_shreds_that_lie_lower_are_seen_as_their_neighbors_show_them() -> None:
    """Each shred of a chain was scanned 7 px higher than the one before, and lies 7 px lower."""
    moved = [np.roll(PAGES[i], -7 * (i % COLUMN)) for i in range(30)]
    straight = look_at_lines(score_columns(3), cut_edges(PAGES))
    stepped = look_at_lines(score_columns(3, offset=7), cut_edges(moved))
    assert straight is not None
    assert stepped is not None
    np.testing.assert_array_equal(stepped.places, straight.places)
    np.testing.assert_allclose(stepped.signs[:, 0], straight.signs[:, 0], atol=1e-6)


def test_a_silent_join_must_be_surer_to_be_inside_a_chain() -> None:
    scores = np.full((4, 4), -9, np.float32)
    scores[0, 1], scores[1, 2], scores[2, 3] = 9, -2, 9
    np.fill_diagonal(scores, -np.inf)
    pile = Compatibility(tuple("abcd"), scores, np.zeros((4, 4), np.int16), calibration=Calibration(0.5, 0.0))
    silent, printed = np.ones(4, np.bool_), np.zeros(4, np.bool_)
    assert find_chains(pile, printed, printed) == [[0, 1, 2, 3]]
    assert find_chains(pile, silent, silent) == [[0, 1], [2, 3]]


def test_chains_that_bite_their_tail_are_cut_once() -> None:
    scores = np.full((4, 4), -9, np.float32)
    scores[1, 2] = scores[2, 3] = scores[3, 1] = 9
    np.fill_diagonal(scores, -np.inf)
    pile = Compatibility(tuple("abcd"), scores, np.zeros((4, 4), np.int16), calibration=Calibration(0.5, 0.0))
    printed = np.zeros(4, np.bool_)
    assert find_chains(pile, printed, printed) == [[0], [1, 2, 3]]


def test_signs_are_those_of_their_slow_twins() -> None:
    rng = np.random.default_rng(2)
    ends = [Printed(print_lines(pitch).astype(float) * 3, int(rng.integers(-30, 30))) for pitch in PITCHES]
    before, after = PrintedEnds(ends[:2]), PrintedEnds(ends[1:])
    a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    signs = compare_ends(before, after, a, b)
    upper, lower = before.draw_steps(-400, 3000), after.draw_steps(-400, 3000)
    for at, (i, j) in enumerate(zip(a, b, strict=True)):
        best = max(float(np.roll(upper[i], shift) @ lower[j]) for shift in range(-12, 13))
        assert signs[at, 2] == pytest.approx(best, abs=1e-4)
        for side, row in ((0, 300), (-1, 2300)):
            assert abs(before.borders[side, i] - ends[i].top - row) < 60
    for end, repeats in zip(ends[:2], before.repeats, strict=True):
        smooth = gaussian_filter1d(end.counts, 1.0)
        smooth = smooth - gaussian_filter1d(smooth, 40.0)
        slow = np.array([smooth[:-lag] @ smooth[lag:] for lag in range(15, 350)])
        np.testing.assert_allclose(repeats, slow / np.linalg.norm(slow), atol=1e-9)


def test_weights_are_log_odds_of_each_sign() -> None:
    looked = look_at_lines(score_columns(3), cut_edges(PAGES))
    assert looked is not None
    nothing = looked.weigh(LineWeights(0, 0, 0, 0))
    np.testing.assert_array_equal(nothing, np.zeros(len(looked.places)))


@pytest.fixture(scope="module")
def crops() -> Pile:
    """Two pages of columns as rectangular crops."""
    rng = np.random.default_rng(3)
    options = ShreddingOptions(shreds=20, damage=Damage(ragged=0.0, fray=0.0))
    shreds = []
    for page in range(2):
        cut = shred_page(draw_page("columns", rng), rng, options=options)
        shreds += [one.to_shred(f"{page}-{i:02d}") for i, one in enumerate(cut)]
    return prepare([replace(shred, mask=np.ones_like(shred.mask)) for shred in shreds])


def tear(pile: Pile) -> Pile:
    """The same pile, as if every outline were ragged."""
    rng = np.random.default_rng(4)
    edges = [
        EdgePair(
            *(
                replace(edge, outline=edge.outline + rng.normal(0, 3, len(edge.outline)).astype(np.float32))
                for edge in (pair.left, pair.right)
            ),
            pair.rows,
        )
        for pair in pile.edges
    ]
    return replace(pile, edges=edges)


@pytest.mark.parametrize(("scorer", "is_torn"), [("towers", True), ("towers", False), ("default", False)])
def test_lines_are_weighed_where_no_tear_is_seen(crops: Pile, scorer: str, is_torn: bool) -> None:
    pile, loaded = (tear(crops) if is_torn else crops), load_scorer(scorer)
    scored = score(pile, loaded)
    assert (weigh_lines(scored, pile, scorer=loaded.card, pages=2).scores != scored.scores).any()
    assert weigh_lines(scored, pile, scorer=loaded.card, pages=1) is scored


@pytest.mark.parametrize(("scorer", "is_torn"), [("default", True), ("outline", False)])
def test_lines_are_not_weighed_where_tears_tell_or_ink_is_not_seen(
    crops: Pile, scorer: str, is_torn: bool
) -> None:
    pile, loaded = (tear(crops) if is_torn else crops), load_scorer(scorer)
    scored = score(pile, loaded)
    assert weigh_lines(scored, pile, scorer=loaded.card) is scored
