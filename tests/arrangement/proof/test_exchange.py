"""An arc is only given up if no cheap set of arcs, one from and one to each node, contains it."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

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
