"""Prices of joins and page breaks never say more than trying all orders does."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from deshred.arrangement.exact import ExactSolver
from deshred.arrangement.heuristics import pages_of
from deshred.arrangement.problem.costs import PageEnds
from deshred.arrangement.problem.fixings import PageCount
from deshred.arrangement.proof.certificates import certify
from deshred.arrangement.proof.record import Limits
from tests.arrangement.brute_force import (
    all_covers,
    arcs_of,
    costs_of,
    cover_cost,
    full_matrix,
    random_costs,
)

N, PAGES = 6, PageCount(2, 2)


@pytest.fixture(scope="module", params=range(4))
def solved(request):
    costs = random_costs(np.random.default_rng(request.param), N, PAGES)
    solution = ExactSolver(costs, Limits()).solve()
    pages = [page.tolist() for page in pages_of(solution.tour, N)]
    breaks = [(a[-1], b[0]) for a, b in pairwise(pages)]
    matrix = full_matrix(costs)
    covers = [(set(arcs_of(cover, N)), cover_cost(matrix, cover)) for cover in all_covers(N, PAGES)]
    return solution, pages, breaks, covers, certify(costs, solution, breaks)


def test_no_order_without_a_join_is_cheaper_than_its_price_says(solved):
    solution, pages, _, covers, certificates = solved
    for page in pages:
        for left, right in pairwise(page):
            cheapest = min(cost for arcs, cost in covers if (left, right) not in arcs)
            assert 0 <= certificates.without_right[left] <= cheapest - solution.cost + 1e-6


def test_no_order_that_joins_two_pages_is_cheaper_than_their_break_says(solved):
    solution, _, breaks, covers, certificates = solved
    for price, seam in zip(certificates.with_join, breaks, strict=True):
        cheapest = min(cost for arcs, cost in covers if seam in arcs)
        assert 0 <= price <= cheapest - solution.cost + 1e-6


def test_joins_that_stand_out_have_a_price():
    scores = np.zeros((N, N))
    scores[np.arange(N - 1), np.arange(1, N)] = 10.0
    outer = np.where(np.arange(N) == 0, 0.0, 10.0)  # a page begins with the first and ends with the last
    costs = costs_of(scores, PageEnds(outer, outer[::-1]), PageCount(1, 1))
    solution = ExactSolver(costs, Limits()).solve()
    assert certify(costs, solution, []).without_right[: N - 1].min() > 5.0
