"""Branch and cut finds what trying all orders finds, or a bound below it when it has to stop."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.arrangement.heuristics import follow
from deshred.arrangement.problem.deadlines import NEVER
from deshred.arrangement.problem.fixings import PageCount
from deshred.arrangement.problem.rules import PageRules
from deshred.arrangement.proof.branching import Search, SearchHooks
from deshred.arrangement.proof.contraction import contract
from deshred.arrangement.proof.cuts import Degrees
from deshred.arrangement.proof.program import ArcProgram
from tests.arrangement.brute_force import all_covers, cover_cost, full_matrix, random_costs

N, PAGES = 6, PageCount(2, 2)


class Owner:
    """Keeps the best order that is offered."""

    def __init__(self, matrix, contraction):
        self.matrix, self.right = matrix, contraction.right
        self.best, self.cover, self.reported = np.inf, None, []

    def offer(self, support):
        right, sure = self.right.copy(), support.values > 0.5
        tails, heads = support.tails[sure], support.heads[sure]
        inner = (tails < N) & (heads < N)
        right[tails[inner]] = heads[inner]
        cover = [tuple(follow(right, int(first)).tolist()) for first in heads[tails == N]]
        assert sorted(i for page in cover for i in page) == list(range(N))
        cost = cover_cost(self.matrix, cover)
        if cost < self.best:
            self.best, self.cover = cost, cover
        return cost


def search(seed, rules=PageRules(), node_limit=10_000):  # noqa: B008 - frozen
    rng = np.random.default_rng(seed)
    costs = random_costs(rng, N, PAGES)
    arcs = costs.arcs_below(np.zeros(N + 1), np.zeros(N + 1), 1e9)
    contraction = contract(costs, replace(arcs, reduced=np.zeros(len(arcs))))
    program = ArcProgram(Degrees.of(contraction.n_chains, PAGES, has_hub=False), 100.0)
    program.add_arcs(contraction.tails, contraction.heads, contraction.costs)
    owner = Owner(full_matrix(costs), contraction)
    hooks = SearchHooks(lambda: owner.best - 1e-7, owner.offer, lambda _: None, owner.reported.append)
    result = Search(
        contraction,
        program,
        contraction.base,
        rules.mapped(contraction.chain_of),
        hooks,
        root_bound=-1e3,
        node_limit=node_limit,
        deadline=NEVER,
    ).run()
    return owner, result


def truth(matrix, rules):
    """The cheapest cover that obeys the rules."""
    cheapest = np.inf
    for cover in all_covers(N, PAGES):
        page_of = np.array([next(k for k, page in enumerate(cover) if i in page) for i in range(N)])
        if rules.allow(page_of):
            cheapest = min(cheapest, cover_cost(matrix, cover))
    return cheapest


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "rules",
    [
        PageRules(),
        PageRules(together=(np.array([0, 4]),), apart=(np.array([1, 2]),)),
    ],
    ids=["free", "in groups"],
)
def test_the_best_order_offered_is_the_cheapest_of_all(seed, rules):
    owner, result = search(seed, rules)
    assert owner.best == pytest.approx(truth(owner.matrix, rules))
    assert result.is_complete
    assert result.bound == pytest.approx(owner.best, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_search_that_must_stop_says_so_and_its_bound_holds(seed):
    owner, result = search(seed, node_limit=0)
    assert not result.is_complete
    assert result.bound <= truth(owner.matrix, PageRules())


def test_no_bound_is_reported_that_is_above_the_optimum():
    owner, _ = search(0)
    assert max(owner.reported) <= truth(owner.matrix, PageRules()) + 1e-6
