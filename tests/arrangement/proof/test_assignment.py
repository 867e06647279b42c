"""The assignment of large piles: rounds over candidates, as good as over the full matrix, as time allows."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.arrangement.exact import ExactSolver
from deshred.arrangement.problem.costs import DenseCosts, PageEnds
from deshred.arrangement.problem.deadlines import NEVER, Deadline
from deshred.arrangement.problem.fixings import PageCount, fix
from deshred.arrangement.problem.scores import score_range
from deshred.arrangement.proof.assignment import (
    AssignmentOptions,
    assign,
    assign_densely,
    assign_sparsely,
)
from deshred.arrangement.proof.bounds import Duals, prove
from deshred.arrangement.proof.cuts import Degrees
from deshred.arrangement.proof.record import Limits, Record
from deshred.arrangement.proof.relaxation import Relaxation
from deshred.elements import Constraints
from tests.arrangement.brute_force import pile

PAST = Deadline(at=-np.inf)


def test_an_assignment_out_of_time_stops_after_its_first_round():
    scores = np.round(np.random.default_rng(0).random((80, 80)), 1).astype(np.float32)
    costs = costs_of(scores, 1)
    few = AssignmentOptions(dense_limit=0, candidates=1)  # one round is not enough then
    assert assign(costs, 1, options=few).rounds > 1
    hurried = assign(costs, 1, PAST, options=few)
    assert hurried.rounds == 1
    # all the same a bound: nothing of it rests on the matching
    assert bound_of(costs, hurried) <= bound_of(costs, assign(costs, 1)) + 1e-4


def costs_of(scores, n_pages):
    shreds, pages, n = pile(scores), PageCount(n_pages, n_pages), len(scores)
    costs = DenseCosts(scores, PageEnds(*np.zeros((2, n))), pages, score_range(shreds))
    return costs.fix(fix(shreds.ids, Constraints(), pages))


def bound_of(costs, found):
    degrees = Degrees.of(costs.n, costs.pages, False)
    return prove(costs, degrees, Duals(found.out_duals, found.in_duals, np.zeros(0)), ())[0].bound


@pytest.mark.parametrize("n_pages", [1, 4, 30])
@pytest.mark.parametrize("decimals", [1, 6])
def test_candidates_give_the_bound_of_the_full_matrix(n_pages, decimals):
    scores = np.round(np.random.default_rng(4).random((150, 150)), decimals).astype(np.float32)
    costs = costs_of(scores, n_pages)
    dense = bound_of(costs, assign_densely(costs, n_pages))
    sparse = bound_of(costs, assign_sparsely(costs, n_pages, NEVER, 10))
    # more than 20 pages cost a price each, found by bisection
    assert sparse == pytest.approx(dense, abs=1e-4 if n_pages <= 20 else 0.05 * dense)
    assert sparse <= dense + 1e-4


def test_many_pages_of_a_large_pile_get_an_order():
    scores = np.random.default_rng(6).normal(size=(120, 120)).astype(np.float32)
    costs = costs_of(scores, 40)
    few = AssignmentOptions(dense_limit=0)
    hurried = ExactSolver(costs, Limits(deadline=PAST, assignment=few)).solve()
    assert len(hurried.tour) - 120 == 40
    found = ExactSolver(costs, Limits(assignment=few)).solve()
    assert found.cost == pytest.approx(found.bound, abs=1e-6)
    assert found.cost == pytest.approx(ExactSolver(costs, Limits()).solve().cost, abs=2e-6)


class CountingRecord(Record):
    """How often an order was offered."""

    offers = 0

    def offer(self, tour, *, is_final=False):
        self.offers += 1
        return super().offer(tour, is_final=is_final)


def test_a_first_order_is_one_of_two_where_time_allows_no_more():
    costs = costs_of(np.random.default_rng(7).random((50, 50)).astype(np.float32), 1)
    for deadline, expected in ((PAST, 1), (NEVER, 2)):
        record = CountingRecord(costs, Limits(), None)
        Relaxation(record).sketch(deadline)
        assert record.tour is not None
        assert record.offers == expected
