"""Quick looks at the full matrix find what slow ones find."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.arrangement.problem.costs import Arcs, DenseCosts, PageEnds, SparseCosts
from deshred.arrangement.problem.fixings import PageCount, fix
from deshred.arrangement.problem.scores import ScoreRange, score_range
from deshred.elements import Constraints
from tests.arrangement.brute_force import pile


@pytest.fixture(params=[np.float32, np.float64])
def costs(request):
    rng = np.random.default_rng(0)
    scores = rng.normal(-1000, 1e-3, (40, 40)).astype(request.param)  # hardly told apart in float32
    scores[rng.random((40, 40)) < 0.1] = -np.inf
    scores[3, 7] = -np.inf
    np.fill_diagonal(scores, np.nan)
    shreds = pile(scores.astype(np.float32))
    made = DenseCosts(scores, PageEnds(*rng.normal(size=(2, 40))), PageCount(1, 4), score_range(shreds))
    constraints = Constraints(
        required=frozenset({("s3", "s7")}),
        forbidden=frozenset({("s1", "s2"), ("s9", "s2")}),
        first=frozenset({"s5"}),
        last=frozenset({"s6"}),
    )
    return made.fix(fix(shreds.ids, constraints, made.pages))


@pytest.mark.parametrize("threshold", [-1e-3, 0.0, 1e-3, 1e-2])
def test_arcs_below_a_threshold_are_those_of_the_slow_twin(costs, threshold):
    out, into = 1e-3 * np.random.default_rng(1).normal(size=(2, 41))
    quick, slow = costs.arcs_below(out, into, threshold), costs.all_arcs_below(out, into, threshold)
    assert quick.tails.tolist() == slow.tails.tolist()
    assert quick.heads.tolist() == slow.heads.tolist()
    np.testing.assert_allclose(quick.reduced, slow.reduced, atol=1e-12)


def test_columns_are_those_of_the_rows(costs):
    rows = np.stack([costs.row(i) for i in range(41)])
    np.testing.assert_array_equal(
        np.stack([costs.column(j) for j in range(41)], axis=1)[:, :40], rows[:, :40]
    )
    before = costs.row(1)
    forbidden = Constraints(forbidden=frozenset({("s1", "s2")}))
    fixed = costs.fix(fix(tuple(f"s{i}" for i in range(40)), forbidden, costs.pages))
    np.testing.assert_array_equal(costs.row(1), before)  # the costs themselves stay as they were
    costs = fixed
    rows = np.stack([costs.row(i) for i in range(41)])
    np.testing.assert_array_equal(
        np.stack([costs.column(j) for j in range(41)], axis=1)[:, :40], rows[:, :40]
    )


@pytest.mark.parametrize("is_final", [True, False])
@pytest.mark.parametrize("forbidden", [frozenset(), frozenset({("s1", "s2")})])
def test_rows_and_columns_of_lists_are_those_of_single_arcs(is_final, forbidden):
    rng = np.random.default_rng(2)
    rows, columns = np.nonzero(rng.random((40, 40)) < 0.3)
    scores = rng.normal(size=len(rows)).astype(np.float32)
    scores[rng.random(len(rows)) < 0.1] = -np.inf
    starts = np.searchsorted(rows, np.arange(41))
    made = SparseCosts(
        starts,
        columns,
        scores,
        PageEnds(*rng.normal(size=(2, 40))),
        PageCount(1, 4),
        ScoreRange(3.0, -4.0),
        is_final=is_final,
    )
    names = tuple(f"s{i}" for i in range(40))
    made = made.fix(fix(names, Constraints(forbidden=forbidden), made.pages))
    every = np.arange(41)
    for node in every:
        np.testing.assert_array_equal(made.row(node), made.at(np.full(41, node), every))
        np.testing.assert_array_equal(made.column(node), made.at(every, np.full(41, node)))


def test_least_reduced_costs_are_those_of_all_arcs_but_the_tours(costs):
    out, into = 1e-3 * np.random.default_rng(1).normal(size=(2, 41))
    right = np.append(np.roll(np.arange(40), -1), -1)
    full = np.stack([costs.row(i) for i in range(41)]) - out[:, None] - into
    full[np.arange(40), right[:40]] = np.inf
    least = costs.least_reduced(out, into, right)
    np.testing.assert_allclose(least.out, full.min(axis=1))
    np.testing.assert_allclose(least.into, full.min(axis=0))


def test_of_equal_arcs_not_all_nodes_choose_the_same():
    tails, heads = np.divmod(np.arange(50 * 50), 50)
    chosen = Arcs(tails, heads, np.full(2500, -1.0)).lowest(2)
    assert np.bincount(chosen.tails).tolist() == [2] * 50
    assert len(np.unique(chosen.heads)) > 25
    flat = DenseCosts(
        np.zeros((50, 50)),
        PageEnds(*np.zeros((2, 50))),
        PageCount(1, 1),
        score_range(pile(np.zeros((50, 50)))),
    )
    candidates = flat.candidates(2)
    into = np.bincount(candidates.heads[(candidates.tails < 50) & (candidates.heads < 50)], minlength=50)
    assert into.max() < 15  # lists of two to and from each node: four on average


def test_the_lowest_arcs_of_each_node_are_its_cheapest():
    arcs = Arcs(
        np.array([0, 0, 0, 2, 2]), np.array([1, 2, 3, 0, 1]), np.array([-1.0, -3.0, -2.0, -5.0, -1.0])
    )
    chosen = arcs.lowest(2)
    assert set(zip(chosen.tails.tolist(), chosen.heads.tolist(), strict=True)) == {
        (0, 2),
        (0, 3),
        (2, 0),
        (2, 1),
    }
