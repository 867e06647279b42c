"""An arc is only given up if no cheap set of arcs, one from and one to each node, contains it."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from deshred.arrangement.problem.costs import DenseCosts, PageEnds, ScoreRange
from deshred.arrangement.problem.fixings import PageCount
from deshred.arrangement.proof.contraction import contract, contract_within
from deshred.arrangement.proof.exchange import are_usable


def random_arcs(rng, n):
    """About half of all arcs; those of one hidden permutation cost nothing."""
    reduced = np.round(rng.exponential(1.0, (n, n)), 1)
    reduced[np.arange(n), rng.permutation(n)] = 0.0
    present = (rng.random((n, n)) < 0.5) | (reduced == 0)
    tails, heads = np.nonzero(present)
    return tails, heads, reduced[tails, heads]


@pytest.mark.parametrize("seed", range(20))
def test_the_usable_arcs_are_those_of_all_permutations_within_the_slack(seed):
    rng = np.random.default_rng(seed)
    n, slack = int(rng.integers(2, 7)), float(rng.uniform(0, 3))
    tails, heads, reduced = random_arcs(rng, n)
    costs = np.full((n, n), np.inf)
    costs[tails, heads] = reduced
    usable = np.zeros((n, n), bool)
    for chosen in map(list, permutations(range(n))):
        if costs[np.arange(n), chosen].sum() <= slack:
            usable[np.arange(n), chosen] = True
    assert (are_usable(tails, heads, reduced, n, slack) == usable[tails, heads]).all()


def test_all_arcs_stay_where_the_free_ones_do_not_suffice():
    tails, heads = np.nonzero(np.ones((4, 4), bool))
    assert are_usable(tails, heads, np.full(16, 0.5), 4, 0.1).all()


@pytest.mark.parametrize("seed", range(10))
def test_contracting_within_a_slack_keeps_all_orders_within_it(seed):
    rng = np.random.default_rng(seed)
    n, slack = 5, 1.5
    matrix = rng.exponential(1.0, (n + 1, n + 1))
    hidden = np.append(rng.permutation(n), n)
    matrix[hidden, np.roll(hidden, -1)] = 0.0
    scores = -matrix[:n, :n]
    ends = PageEnds(matrix[n, :n], matrix[:n, n])
    costs = DenseCosts(scores, ends, PageCount(1, 1), ScoreRange(0.0, float(scores.min())))
    arcs = costs.arcs_below(np.zeros(n + 1), np.zeros(n + 1), slack)
    wide, narrow = contract(costs, arcs), contract_within(costs, arcs, slack)
    assert narrow.n_chains <= wide.n_chains
    allowed = {*zip(narrow.original.tails.tolist(), narrow.original.heads.tolist(), strict=True)}
    inside = np.flatnonzero(narrow.right >= 0)
    allowed |= {*zip(inside.tolist(), narrow.right[inside].tolist(), strict=True)}
    for order in permutations(range(n)):
        walk = [n, *order, n]
        if matrix[walk[:-1], walk[1:]].sum() <= slack:
            assert set(pairwise(walk)) <= allowed
