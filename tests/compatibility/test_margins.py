from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deshred.cases import load_compatibility, save_compatibility
from deshred.compatibility.classical.marques import MarquesScorer
from deshred.compatibility.comparing import face_paper
from deshred.compatibility.contract import Descriptions, PlainScorer, ScoreBlock, ScorerCard
from deshred.compatibility.describing import DescribedGroup
from deshred.compatibility.groups import Group
from deshred.compatibility.margins import Borders, Facing, observe_borders, weigh_margins
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.compatibility.tears import measure_raggedness
from deshred.elements import Compatibility, Edge, Margins, ShredSet
from deshred.executors import Executor
from deshred.imaging.edges import EdgeOptions, extract_edges
from tests.compatibility.comparing import pile_of


def borders(left: list[float], right: list[float]) -> Borders:
    size = np.full(len(left), 8, np.float32)
    return Borders(np.array(left, np.float32), np.array(right, np.float32), size, 37 * size)


def facing(starts: list[float], ends: list[float]) -> Facing:
    return Facing(np.array(starts, np.float32), np.array(ends, np.float32))


def test_the_straightest_edges_of_a_ragged_pile_speak_for_a_page_end() -> None:
    ragged = np.random.default_rng(0).uniform(0.9, 2, 40).tolist()
    margins = weigh_margins(borders([0.4, *ragged], [*ragged, 0.3]), facing([0.0] * 41, [0.0] * 41))
    assert margins.starts.argmax() == 0
    assert margins.ends.argmax() == 40
    assert margins.starts[0] > np.median(margins.starts) + 2


@pytest.mark.parametrize("raggedness", [0.0, 1.3])
def test_where_all_edges_are_alike_outlines_say_nothing(raggedness: float) -> None:
    alike = [raggedness] * 5
    margins = weigh_margins(borders(alike, alike), facing([1, 2, 3, 4, 5], [0] * 5))
    np.testing.assert_allclose(margins.starts - margins.starts[0], [0, 1, 2, 3, 4], atol=1e-6)
    np.testing.assert_allclose(margins.ends, margins.starts[0] - 1, atol=1e-6)


def test_a_ragged_outline_is_never_certain_to_be_inside() -> None:
    """Blank shreds are set aside: the last one that is left may be torn on both sides."""
    margins = weigh_margins(borders([0.1] * 50 + [9.0], [0.1] * 51), facing([0.0] * 51, [0.0] * 51))
    assert margins.starts[-1] - margins.starts[0] > -2


def test_raggedness_is_what_the_tear_adds_to_a_smooth_course() -> None:
    rows = np.arange(3000)
    bow = (0.01 * rows + 20 * np.sin(rows / 800)).astype(np.float32)
    assert measure_raggedness(bow) < 0.1
    teeth = bow + 2 * np.sign(np.sin(rows / 6)).astype(np.float32)
    assert 1.5 < measure_raggedness(teeth) < 2.1
    half = teeth.copy()
    half[1500:] = np.nan
    assert measure_raggedness(half) == pytest.approx(measure_raggedness(teeth), rel=0.1)
    assert measure_raggedness(np.full(3000, np.nan, np.float32)) == 0


def test_sizes_are_those_of_the_shreds(tiny_pile: ShredSet) -> None:
    edges = [extract_edges(shred, options=EdgeOptions()) for shred in tiny_pile]
    seen = observe_borders(tiny_pile, edges)
    rows = [shred.mask.any(axis=1).sum() for shred in tiny_pile]
    np.testing.assert_allclose(seen.heights_mm, np.array(rows) / tiny_pile[0].dpi * 25.4, rtol=1e-6)
    assert seen.widths_mm.tolist() == pytest.approx([shred.width_mm for shred in tiny_pile])


@dataclass(frozen=True, eq=False)
class Numbers(Descriptions):
    """Edges that are numbers."""

    values: NDArray[np.intp]


class Lookup(PlainScorer):
    """The score of a join is looked up; the last number is blank paper."""

    unit = "nats"
    card = ScorerCard("lookup", "lookup")
    edge_options = EdgeOptions()
    description_type = Numbers

    def __init__(self, scores: NDArray[np.float32]) -> None:
        self.scores = scores

    def describe_rights(self, edges: Sequence[Edge], _executor: Executor, /) -> Numbers:
        return Numbers(np.full(len(edges), len(self.scores) - 1))

    describe_lefts = describe_rights

    def compare(self, rights: Numbers, lefts: Numbers, /) -> ScoreBlock:
        scores = self.scores[np.ix_(rights.values, lefts.values)]
        return ScoreBlock(scores, np.zeros(scores.shape, np.int16))


def test_constants_of_edges_do_not_move_a_page_break() -> None:
    """Scores are right up to a constant per edge: a break carries the same as the join it replaces."""
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(5, 5)).astype(np.float32)
    shifted = plain + rng.normal(0, 30, (5, 1)).astype(np.float32) + rng.normal(0, 30, 5).astype(np.float32)
    at = np.arange(4)
    gain = []
    for scores in (plain, shifted):
        scorer = Lookup(scores)
        none = np.zeros(4, np.float32)
        group = DescribedGroup(
            Group(at, "four"),
            Numbers(at),
            Numbers(at),
            np.zeros(4, np.int32),
            Borders(none, none, none, none),
        )
        found = face_paper(group, scorer, lambda a, b, scorer=scorer: scorer.compare(a.rights, b.lefts))
        gain.append(scores[:4, :4] - (found.ends[:, None] + found.starts))
    np.testing.assert_allclose(gain[0], gain[1], atol=1e-4)


def test_scores_that_are_not_log_odds_have_no_margins(tiny_pile: ShredSet) -> None:
    assert score(pile_of(tiny_pile), OutlineScorer()).margins is not None
    tones = MarquesScorer()
    assert score(pile_of(tiny_pile, tones.edge_options), tones).margins is None


@pytest.mark.parametrize("n", [0, 1, 2])
def test_the_smallest_piles_have_margins(n: int) -> None:
    none = [0.0] * n
    margins = weigh_margins(borders(none, none), facing(none, none))
    assert len(margins.starts) == len(margins.ends) == n
    assert np.isfinite(margins.starts).all()


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
    dense = score(pile_of(tiny_pile), OutlineScorer())
    sparse = score(pile_of(tiny_pile), OutlineScorer(), options=ScoringOptions(dense_limit=0, candidates=7))
    assert dense.margins is not None
    assert sparse.margins is not None
    np.testing.assert_allclose(sparse.margins.starts, dense.margins.starts, rtol=1e-5)
