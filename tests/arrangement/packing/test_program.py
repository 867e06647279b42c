"""The LP over whole pages: each chain once, as many pages as allowed, and prices that bound every order."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from deshred.arrangement.packing.program import PageProgram, page_bound
from deshred.arrangement.problem.deadlines import NEVER, Deadline
from deshred.arrangement.problem.fixings import PageCount
from deshred.arrangement.proof.program import TimeUp
from tests.arrangement.packing.graphs import random_graph

N = 5


def all_pages(graph):
    """Of every set of chains that fits, the cheapest path."""
    best = {}
    for length in range(1, N + 1):
        for walk in permutations(range(N), length):
            path = np.array(walk)
            cost = graph.cost(path)
            if graph.is_page(path) and cost < best.get(frozenset(walk), (np.inf, None))[0]:
                best[frozenset(walk)] = cost, path
    return best


def cheapest_cover(best, pages):
    """By trying all sets of pages."""
    cheapest = np.inf
    for n_pages in range(pages.least, pages.most + 1):
        for some in combinations(best, n_pages):
            if sum(map(len, some)) == N and len(frozenset().union(*some)) == N:
                cheapest = min(cheapest, sum(best[page][0] for page in some))
    return cheapest


def solved(seed, pages=PageCount(2, 3)):  # noqa: B008 - frozen
    best = all_pages(random_graph(np.random.default_rng(seed), N))
    program = PageProgram(N, pages, 1000.0, NEVER)
    paths, costs = [path for _, path in best.values()], [cost for cost, _ in best.values()]
    assert program.add_pages(paths, costs) == len(best)
    program.solve()
    return best, program, paths


@pytest.mark.parametrize("seed", range(8))
def test_no_cover_is_cheaper_than_the_lp_and_its_prices_prove_it(seed):
    best, program, paths = solved(seed)
    pages = PageCount(2, 3)
    truth = cheapest_cover(best, pages)
    if truth == np.inf:
        return
    assert program.objective <= truth + 1e-6
    prices = program.prices[:N]
    least = min(cost - prices[path].sum() for cost, path in zip(program.costs, paths, strict=True))
    assert page_bound(prices, pages, least) <= truth + 1e-6
    assert page_bound(prices, pages, least) == pytest.approx(program.objective, abs=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_any_prices_bound_every_cover(seed):
    best, program, paths = solved(seed)
    pages, prices = PageCount(2, 3), np.random.default_rng(seed).normal(size=N)
    least = min(cost - prices[path].sum() for cost, path in zip(program.costs, paths, strict=True))
    assert page_bound(prices, pages, least) <= cheapest_cover(best, pages) + 1e-9


def test_a_page_is_added_once():
    program = PageProgram(3, PageCount(1, 3), 10.0, NEVER)
    assert program.add_pages([np.array([0, 1]), np.array([0, 1]), np.array([1, 0])], [1.0, 1.0, 2.0]) == 2
    assert program.add_pages([np.array([0, 1])], [1.0]) == 0
    assert len(program.paths) == len(program.costs) == 2


def test_a_chain_on_no_page_is_paid_by_penalties_until_a_page_holds_it():
    program = PageProgram(3, PageCount(1, 2), 10.0, NEVER)
    program.add_pages([np.array([0, 1])], [1.0])
    program.solve()
    assert program.shortfall == pytest.approx(1.0)
    assert program.objective == pytest.approx(11.0)
    program.set_penalty(100.0)
    program.solve()
    assert program.objective == pytest.approx(101.0)
    program.add_pages([np.array([2])], [3.0])
    program.solve()
    assert program.shortfall == pytest.approx(0.0)
    assert program.objective == pytest.approx(4.0)
    assert program.values == pytest.approx([1.0, 1.0])


def test_pages_ruled_out_are_not_used():
    program = PageProgram(2, PageCount(1, 2), 100.0, NEVER)
    program.add_pages([np.array([0, 1]), np.array([0]), np.array([1])], [1.0, 2.0, 2.0])
    program.allow(np.array([False, True, True]))
    program.solve()
    assert program.values == pytest.approx([0.0, 1.0, 1.0])


def test_the_number_of_pages_is_kept():
    program = PageProgram(2, PageCount(2, 2), 100.0, NEVER)
    program.add_pages([np.array([0, 1]), np.array([0]), np.array([1])], [1.0, 2.0, 2.0])
    program.solve()
    assert program.values.sum() == pytest.approx(2.0)
    assert program.objective == pytest.approx(4.0)


def test_no_solve_begins_after_the_deadline():
    program = PageProgram(2, PageCount(1, 2), 1.0, Deadline(0.0, lambda: 1.0))
    with pytest.raises(TimeUp):
        program.solve()
