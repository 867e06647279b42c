"""Evidence between groups: the same to the last bit in whatever way and order it was compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from deshred.cases import MemoryStore
from deshred.compatibility.comparing import (
    Comparing,
    ComparingAll,
    ListingBest,
    face_paper,
    reduce_evidence,
)
from deshred.compatibility.contract import Descriptions, PlainScorer, ScoreBlock, ScorerCard
from deshred.compatibility.describing import DescribedGroup, Describing
from deshred.compatibility.groups import Group
from deshred.compatibility.margins import Borders
from deshred.compatibility.outline import OutlineScorer
from deshred.elements import ShredSet
from deshred.executors import SerialExecutor
from tests.compatibility.comparing import pile_of

N = 30


@dataclass(frozen=True, eq=False)
class Numbers(Descriptions):
    values: np.ndarray


class Nearest(PlainScorer):
    """Edges are numbers, and the nearer two of them are, the better they fit; it counts what it compares."""

    card = ScorerCard("nearest", "nearest 1")
    description_type = Numbers
    compared = 0

    def compare(self, rights: Numbers, lefts: Numbers) -> ScoreBlock:
        self.compared += len(rights) * len(lefts)
        apart = np.abs(rights.values[:, None] - lefts.values)
        return ScoreBlock(-apart.astype(np.float32), (100 * apart).astype(np.int16))


def describe_numbers(seed: int = 0, sizes: tuple[int, ...] = (14, 9, 7)) -> list[DescribedGroup]:
    rng = np.random.default_rng(seed)
    rights, lefts, tops = rng.random(N), rng.random(N), rng.integers(0, 50, N)
    members = np.split(rng.permutation(N), np.cumsum(sizes)[:-1])
    nothing = np.zeros(N, np.float32)
    return [
        DescribedGroup(
            Group(some, f"group {k}"),
            Numbers(rights[some]),
            Numbers(lefts[some]),
            tops[some].astype(np.int32),
            Borders(nothing[some], nothing[some], nothing[some], nothing[some]),
        )
        for k, some in enumerate(members)
    ]


def in_order(described: list[DescribedGroup], name: str) -> np.ndarray:
    """What the groups hold, in the order of the pile: the obvious way."""
    held: dict[int, Any] = {}
    for one in described:
        values = one.tops if name == "tops" else getattr(one, name).values
        held |= dict(zip(one.group.members.tolist(), values, strict=True))
    return np.array([held[i] for i in range(N)])


def plain_scores(described: list[DescribedGroup]) -> np.ndarray:
    rights, lefts = in_order(described, "rights"), in_order(described, "lefts")
    return -np.abs(rights[:, None] - lefts).astype(np.float32)


@pytest.mark.parametrize("make", [ComparingAll, ListingBest])
def test_rows_come_in_the_order_they_were_asked_for_with_all_columns_of_the_pile(
    make: type[Comparing],
) -> None:
    described = describe_numbers()
    rows = np.array([17, 3, 29, 0])
    found = make(described, Nearest(), MemoryStore()).find_rows(rows)
    np.testing.assert_array_equal(found.scores, plain_scores(described)[rows])


def test_the_right_hand_edges_come_in_the_order_of_the_pile() -> None:
    described = describe_numbers()
    rights = ComparingAll(described, Nearest(), MemoryStore()).rights
    np.testing.assert_array_equal(rights.values, in_order(described, "rights"))


def test_blocks_hold_every_join_once_with_no_shred_beside_itself_and_the_tops_in_the_offsets() -> None:
    described, scorer = describe_numbers(), Nearest()
    comparing = ComparingAll(described, scorer, MemoryStore())
    scores, offsets = np.full((N, N), np.nan, np.float32), np.zeros((N, N), np.int16)
    for block in comparing.reduce_all(scorer, None):
        assert np.isnan(scores[block.rows, block.columns]).all()
        scores[block.rows, block.columns] = block.scores
        offsets[block.rows, block.columns] = block.offsets
    expected = plain_scores(described)
    tops = in_order(described, "tops")
    plain_offsets = (
        100 * np.abs(in_order(described, "rights")[:, None] - in_order(described, "lefts"))
    ).astype(np.int16) + (tops[:, None] - tops)
    np.testing.assert_array_equal(offsets, plain_offsets)
    np.fill_diagonal(expected, -np.inf)
    np.testing.assert_array_equal(scores, expected)


def test_of_a_large_pile_the_best_eight_of_every_edge_with_every_group_are_kept() -> None:
    described, scorer = describe_numbers(), Nearest()
    comparing = ListingBest(described, scorer, MemoryStore())
    blocks = list(comparing.reduce_all(scorer, None))
    scores = plain_scores(described)
    for block, (a, b) in zip(blocks, [(a, b) for a in described for b in described], strict=True):
        part = scores[np.ix_(a.group.members, b.group.members)]
        is_best = np.zeros(part.shape, bool)
        for i, row in enumerate(part):
            is_best[i, np.argsort(-row)[:8]] = True
        for j, column in enumerate(part.T):
            is_best[np.argsort(-column)[:8], j] = True
        rows, columns = np.nonzero(is_best)
        expected = set(zip(a.group.members[rows].tolist(), b.group.members[columns].tolist(), strict=True))
        assert set(zip(block.rows.tolist(), block.columns.tolist(), strict=True)) == expected
        inner = block.rows != block.columns
        np.testing.assert_array_equal(block.scores[inner], scores[block.rows, block.columns][inner])


@pytest.mark.parametrize("make", [ComparingAll, ListingBest])
def test_what_was_compared_is_not_compared_again(make: type[Comparing]) -> None:
    store, scorer = MemoryStore(), Nearest()
    make(describe_numbers(), scorer, store).compare_all(SerialExecutor(), None)
    assert scorer.compared == N * N
    again = make(describe_numbers(), scorer, store)
    again.compare_all(SerialExecutor(), None)
    list(again.reduce_all(scorer, None))
    assert scorer.compared == N * N


def test_where_scores_are_no_log_odds_nothing_is_weighed_with_them() -> None:
    comparing = ComparingAll(describe_numbers(), Nearest(), MemoryStore())
    assert comparing.weigh_margins(Nearest()) is None


def test_scores_do_not_depend_on_how_many_columns_are_reduced_at_once(tiny_pile: ShredSet) -> None:
    scorer = OutlineScorer()
    executor = SerialExecutor()
    describing = Describing(pile_of(tiny_pile, scorer.edge_options), scorer, MemoryStore(), executor)
    (group,) = describing.describe_all([Group(np.arange(len(tiny_pile)), "all")], None)
    evidence = scorer.compare(group.rights, group.lefts)
    whole = reduce_evidence(scorer, evidence)
    for count in range(1, len(tiny_pile) + 1):
        part = reduce_evidence(scorer, evidence.map(lambda array, n=count: array[..., :n]))
        np.testing.assert_array_equal(part.scores, whole.scores[:, :count])
        np.testing.assert_array_equal(part.offsets, whole.offsets[:, :count])


def test_paper_takes_off_half_of_what_it_scores_beside_itself_on_either_side(tiny_pile: ShredSet) -> None:
    scorer = OutlineScorer()
    describing = Describing(pile_of(tiny_pile, scorer.edge_options), scorer, MemoryStore(), SerialExecutor())
    (group,) = describing.describe_all([Group(np.array([5, 1]), "some")], None)
    asked: list[tuple[str, str]] = []

    def find(a: DescribedGroup, b: DescribedGroup) -> Any:
        asked.append((a.group.key, b.group.key))
        return scorer.compare(a.rights, b.lefts)

    facing = face_paper(group, scorer, find)
    paper = "blank paper"
    assert asked == [(paper, paper), (paper, "some"), ("some", paper)]
    found = [find(*pair) for pair in _papers(scorer, group)]
    itself, starts, ends = (scorer.reduce(one).scores for one in found)
    np.testing.assert_allclose(facing.starts, starts[0] - itself[0, 0] / 2, rtol=1e-6)
    np.testing.assert_allclose(facing.ends, ends[:, 0] - itself[0, 0] / 2, rtol=1e-6)


def _papers(scorer: OutlineScorer, group: DescribedGroup) -> list[tuple[DescribedGroup, DescribedGroup]]:
    from deshred.compatibility.describing import describe_paper

    paper = describe_paper(scorer)
    return [(paper, paper), (paper, group), (group, paper)]
