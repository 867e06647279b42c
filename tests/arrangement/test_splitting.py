"""Pages of limited width in piles too large for a full matrix."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from deshred.arrangement.heuristics import pages_of
from deshred.arrangement.problem.costs import Costs, PageEnds, SparseCosts
from deshred.arrangement.problem.fixings import PageCount, fix
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.problem.scores import ScoreRange, in_decimals, score_range
from deshred.arrangement.proof.record import Limits
from deshred.arrangement.splitting import SplittingOptions, solve_by_splitting
from deshred.elements import Constraints
from tests.arrangement.brute_force import best_of


def make_costs(seed: int, n: int, most: float, listed: int = 3) -> tuple[Costs, ScoreRange]:
    rng = np.random.default_rng(seed)
    sparse, _ = best_of(rng.normal(size=(n, n)).astype(np.float32), listed)
    assert sparse.row_starts is not None
    assert sparse.columns is not None
    scores, range_ = in_decimals(sparse.scores, score_range(sparse))
    ends = PageEnds(rng.uniform(0, 3, n), rng.uniform(0, 3, n))
    pages, room = PageCount(1, n), Room(rng.uniform(1, 2, n), most)
    costs = SparseCosts(sparse.row_starts, sparse.columns, scores, ends, pages, range_, room)
    return costs.fix(fix(sparse.ids, Constraints(), pages)), range_


def find_cheapest(costs: Costs) -> float:
    """Every order and every way to part it into pages that are narrow enough."""
    assert costs.room is not None
    n, ends, cheapest = costs.n, costs.page_ends, np.inf
    joins = np.array([costs.row(i)[:n] for i in range(n)])
    for order in itertools.permutations(range(n)):
        # the best way to part this order, from left to right
        best = [0.0] + [np.inf] * n
        for start in range(n):
            width, cost = 0.0, best[start] + ends.starts[order[start]]
            for stop in range(start, n):
                width += costs.room.widths[order[stop]]
                if width > costs.room.most:
                    break
                cost += joins[order[stop - 1], order[stop]] if stop > start else 0.0
                best[stop + 1] = min(best[stop + 1], cost + ends.ends[order[stop]])
        cheapest = min(cheapest, best[n])
    return float(cheapest)


@pytest.mark.parametrize("seed", range(6))
def test_no_page_is_too_wide_and_the_best_order_lies_between_bound_and_cost(seed: int) -> None:
    costs, range_ = make_costs(seed, 6, 4.0)
    found = solve_by_splitting(costs, range_, Limits())
    pages = pages_of(found.tour, costs.n)
    assert sorted(np.concatenate(pages).tolist()) == list(range(6))
    assert costs.room is not None
    assert all(costs.room.widths[page].sum() <= costs.room.most for page in pages)
    assert found.bound <= find_cheapest(costs) + 1e-6 <= found.cost + 2e-6


def test_where_every_page_fits_the_order_is_proven() -> None:
    costs, range_ = make_costs(1, 40, 1000.0)
    found = solve_by_splitting(costs, range_, Limits())
    assert found.cost == pytest.approx(found.bound, abs=1e-6)


def test_solving_short_pages_again_makes_nothing_dearer() -> None:
    costs, range_ = make_costs(2, 80, 9.0, listed=8)
    once = solve_by_splitting(costs, range_, Limits(), options=SplittingOptions(rounds=0))
    again = solve_by_splitting(costs, range_, Limits())
    assert again.bound == once.bound
    assert again.cost < once.cost


def test_a_number_of_pages_that_splitting_cannot_keep_is_kept_all_the_same() -> None:
    costs, range_ = make_costs(3, 12, 9.0)
    costs.pages = PageCount(2, 2)
    found = solve_by_splitting(costs, range_, Limits())
    assert len(pages_of(found.tour, costs.n)) == 2
