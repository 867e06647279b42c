"""A contraction is a smaller problem with the same orders."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from deshred.arrangement.problem.costs import DenseCosts, PageEnds
from deshred.arrangement.problem.fixings import PageCount
from deshred.arrangement.problem.scores import ScoreRange
from deshred.arrangement.proof.contraction import chain_ends, chain_up, contract, contract_within
from tests.arrangement.brute_force import all_covers, arcs_of, cover_cost, full_matrix, random_costs

N, PAGES = 5, PageCount(1, 2)


def kept_arcs(contraction):
    """What an order over the small problem may use, between the original nodes."""
    inside = np.flatnonzero(contraction.right >= 0)
    between = contraction.original
    return {*zip(between.tails.tolist(), between.heads.tolist(), strict=True)} | {
        *zip(inside.tolist(), contraction.right[inside].tolist(), strict=True)
    }


@pytest.mark.parametrize("seed", range(12))
def test_every_order_over_the_arcs_is_one_over_the_chains_at_the_same_cost(seed):
    rng = np.random.default_rng(seed)
    costs = random_costs(rng, N, PAGES)
    arcs = costs.arcs_below(np.zeros(N + 1), np.zeros(N + 1), 1e9)
    arcs = arcs.take(rng.random(len(arcs)) < 0.45)
    before = {*zip(arcs.tails.tolist(), arcs.heads.tolist(), strict=True)}
    small, matrix = contract(costs, arcs), full_matrix(costs)
    forced = {*pairwise_of(small.right)}
    prices = dict(
        zip(
            zip(small.original.tails.tolist(), small.original.heads.tolist(), strict=True),
            small.costs,
            strict=True,
        )
    )
    for cover in all_covers(N, PAGES):
        used = set(arcs_of(cover, N))
        if used <= before:
            assert forced <= used <= kept_arcs(small)
            rest = sum(prices[arc] for arc in arcs_of(cover, N) if arc not in forced)
            assert small.base + rest == pytest.approx(cover_cost(matrix, cover))


def pairwise_of(right):
    return ((int(i), int(right[i])) for i in np.flatnonzero(right >= 0))


def test_chains_are_numbered_after_the_walks_along_them():
    costs = random_costs(np.random.default_rng(0), 6, PAGES)
    chains = chain_up(costs, np.array([3, 1]), np.array([1, 4]))
    assert chains.n_chains == 4
    assert chains.chain_of[3] == chains.chain_of[1] == chains.chain_of[4]
    assert len(set(chains.chain_of[[0, 1, 2, 5, 6]].tolist())) == 5  # the outside has a number of its own
    firsts, lasts = chain_ends(chains)
    chain = chains.chain_of[1]
    assert (firsts[chain], lasts[chain]) == (3, 4)
    assert firsts[chains.chain_of[5]] == lasts[chains.chain_of[5]] == 5
    assert chains.base == pytest.approx(full_matrix(costs)[[3, 1], [1, 4]].sum())


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
