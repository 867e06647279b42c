"""All stages offer orders and bounds here; it keeps the best of each and nothing that breaks a rule."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.arrangement.heuristics import tour_cost, tour_of
from deshred.arrangement.problem.costs import DenseCosts, PageEnds
from deshred.arrangement.problem.deadlines import Deadline
from deshred.arrangement.problem.fixings import PageCount, fix
from deshred.arrangement.problem.scores import score_range
from deshred.arrangement.proof.program import TimeUp
from deshred.arrangement.proof.record import Limits, Record
from deshred.elements import Constraints
from tests.arrangement.brute_force import pile


def record_of(n=6, constraints=Constraints(), **limits):  # noqa: B008 - frozen
    scores = np.random.default_rng(1).random((n, n)).astype(np.float32)
    shreds, pages = pile(scores), PageCount(1, 2)
    costs = DenseCosts(scores, PageEnds(*np.zeros((2, n))), pages, score_range(shreds))
    return Record(costs.fix(fix(shreds.ids, constraints, pages)), Limits(**limits), None)


def one_page(order):
    return tour_of([np.array(order)], len(order))


def test_the_cheapest_order_offered_is_kept():
    record = record_of()
    orders = [np.random.default_rng(seed).permutation(6) for seed in range(5)]
    costs = [record.offer(one_page(order)) for order in orders]
    assert record.upper == pytest.approx(min(costs))
    assert tour_cost(record.costs, record.tour) == pytest.approx(min(costs))


def test_an_order_that_breaks_a_constraint_is_not_kept():
    record = record_of(constraints=Constraints(forbidden=frozenset({("s0", "s1")})))
    assert record.offer(one_page([0, 1, 2, 3, 4, 5])) == np.inf
    assert record.tour is None
    apart = record_of(constraints=Constraints(apart=frozenset({frozenset({"s0", "s5"})})))
    assert apart.offer(one_page([0, 1, 2, 3, 4, 5])) == np.inf
    assert apart.offer(tour_of([np.array([0, 1, 2]), np.array([3, 4, 5])], 6)) < np.inf


def test_too_many_pages_are_no_order():
    record = record_of()
    assert record.offer(tour_of([np.array([i]) for i in range(6)], 6)) == np.inf


def test_a_bound_only_rises_and_never_above_an_order():
    record = record_of()
    record.raise_bound(-3.0)
    record.raise_bound(-5.0)
    assert record.lower == -3.0
    cost = record.offer(one_page([5, 4, 3, 2, 1, 0]))
    record.raise_bound(cost + 7)
    assert record.bound == pytest.approx(cost)
    assert record.is_proven


def test_time_that_is_up_is_told():
    record_of().check_time()
    with pytest.raises(TimeUp):
        record_of(deadline=Deadline(at=-np.inf)).check_time()
