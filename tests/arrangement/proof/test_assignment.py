"""The assignment of large piles: rounds over candidates, as good as over the full matrix, as time allows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, arrange
from deshred.arrangement.problem.costs import DenseCosts, PageEnds, score_range
from deshred.arrangement.problem.fixings import PageCount, fix
from deshred.arrangement.proof import assignment, relaxation
from deshred.arrangement.proof.bounds import Duals, prove
from deshred.arrangement.proof.cuts import Degrees
from deshred.arrangement.proof.record import Limits, Record
from deshred.arrangement.proof.relaxation import Relaxation
from deshred.elements import Constraints
from tests.arrangement.brute_force import pile


def test_an_assignment_out_of_time_stops_after_its_first_round(monkeypatch):
    scores = np.round(np.random.default_rng(0).random((80, 80)), 1).astype(np.float32)
    best = arrange(pile(scores), options=ArrangementOptions(pages=1))
    monkeypatch.setattr(assignment, "_DENSE_LIMIT", 0)
    monkeypatch.setattr(assignment, "_CANDIDATES", 1)  # one round is not enough then
    rounds = []
    match = assignment._match
    monkeypatch.setattr(assignment, "_match", lambda *given: rounds.append(given) or match(*given))
    arrange(pile(scores), options=ArrangementOptions(pages=1))
    assert len(rounds) > 1
    rounds.clear()
    monkeypatch.setattr(assignment, "time", SimpleNamespace(monotonic=lambda: np.inf))
    hurried = arrange(pile(scores), options=ArrangementOptions(pages=1, time_limit=60.0))
    assert len(rounds) == 1
    assert hurried.is_optimal  # all the same: the rest of the solver had its time
    assert abs(hurried.cost - best.cost) < 1e-6


def costs_of(scores, n_pages):
    shreds, pages, n = pile(scores), PageCount(n_pages, n_pages), len(scores)
    costs = DenseCosts(scores, PageEnds(*np.zeros((2, n))), pages, score_range(shreds))
    costs.fix(fix(shreds.ids, Constraints(), pages))
    return costs


def bound_of(costs, found):
    degrees = Degrees.of(costs.n, costs.pages, False)
    return prove(costs, degrees, Duals(found.out_duals, found.in_duals, np.zeros(0)), ())[0].bound


@pytest.mark.parametrize("n_pages", [1, 4, 30])
@pytest.mark.parametrize("decimals", [1, 6])
def test_candidates_give_the_bound_of_the_full_matrix(n_pages, decimals):
    scores = np.round(np.random.default_rng(4).random((150, 150)), decimals).astype(np.float32)
    costs = costs_of(scores, n_pages)
    dense = bound_of(costs, assignment._assign_dense(costs, n_pages))
    sparse = bound_of(costs, assignment._assign_sparse(costs, n_pages, np.inf))
    # more than 20 pages cost a price each, found by bisection
    assert sparse == pytest.approx(dense, abs=1e-4 if n_pages <= 20 else 0.05 * dense)
    assert sparse <= dense + 1e-4


def test_many_pages_of_a_large_pile_get_an_order(monkeypatch):
    monkeypatch.setattr(assignment, "_DENSE_LIMIT", 0)
    scores = np.random.default_rng(6).normal(size=(120, 120)).astype(np.float32)
    hurried = arrange(pile(scores), options=ArrangementOptions(pages=40, time_limit=1e-6))
    assert len(hurried.pages) == 40
    found = arrange(pile(scores), options=ArrangementOptions(pages=40))
    assert found.is_optimal
    monkeypatch.undo()
    assert found.cost == pytest.approx(
        arrange(pile(scores), options=ArrangementOptions(pages=40)).cost, abs=2e-6
    )


def test_a_first_order_is_one_of_two_where_time_allows_no_more(monkeypatch):
    tries = []
    link = relaxation.link
    monkeypatch.setattr(relaxation, "link", lambda *given: tries.append(given) or link(*given))
    costs = costs_of(np.random.default_rng(7).random((50, 50)).astype(np.float32), 1)
    for deadline, expected in ((-np.inf, 1), (np.inf, 2)):
        tries.clear()
        record = Record(costs, Limits(), None)
        Relaxation(record).sketch(deadline)
        assert record.tour is not None
        assert len(tries) == expected
