"""The LP over arcs: the assignment without cuts, tighter with each cut, and bounds that hold."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from deshred.arrangement.problem.deadlines import Deadline
from deshred.arrangement.problem.fixings import PageCount
from deshred.arrangement.proof.cuts import Cut, Degrees
from deshred.arrangement.proof.program import ArcProgram, TimeUp
from tests.arrangement.brute_force import all_covers, cover_cost, full_matrix, random_costs

N, PAGES = 6, PageCount(1, 1)


def program_over(matrix, penalty=100.0):
    """The LP over all arcs that can be."""
    program = ArcProgram(Degrees.of(len(matrix) - 1, PAGES, has_hub=False), penalty)
    tails, heads = np.nonzero(np.isfinite(matrix))
    program.add_arcs(tails, heads, matrix[tails, heads])
    return program


@pytest.fixture(params=range(5))
def matrix(request):
    return full_matrix(random_costs(np.random.default_rng(request.param), N, PAGES))


def subtours():
    return [Cut(np.array(some)) for size in (2, 3) for some in combinations(range(N + 1), size)]


def cheapest(matrix):
    return min(cover_cost(matrix, cover) for cover in all_covers(N, PAGES))


def test_without_cuts_it_is_the_assignment(matrix):
    program = program_over(matrix)
    program.solve()
    closed = np.where(np.isfinite(matrix), matrix, 1e6)
    assert program.objective == pytest.approx(closed[linear_sum_assignment(closed)].sum())
    assert program.shortfall == pytest.approx(0.0)


def test_bounds_from_the_duals_alone_hold_before_and_after_cuts(matrix):
    program, optimum = program_over(matrix), cheapest(matrix)
    program.solve()
    before = program.safe_bound()
    assert before <= optimum + 1e-9
    assert program.add_cuts(subtours()) == len(subtours())
    program.solve()
    assert before - 1e-7 <= program.safe_bound() <= optimum + 1e-9
    assert program.safe_bound() == pytest.approx(program.objective, abs=1e-6)


def test_a_cut_is_added_once(matrix):
    program = program_over(matrix)
    assert program.add_cuts([Cut(np.array([0, 1])), Cut(np.array([0, 1]))]) == 1
    assert program.add_cuts([Cut(np.array([0, 1]))]) == 0
    assert len(program.cuts) == 1


def test_arcs_that_come_after_the_cuts_obey_them_too(matrix):
    early, late = program_over(matrix), program_over(np.where(matrix > np.median(matrix), np.inf, matrix))
    early.add_cuts(subtours())
    late.add_cuts(subtours())
    tails, heads = np.nonzero(np.isfinite(matrix) & (matrix > np.median(matrix)))
    late.add_arcs(tails, heads, matrix[tails, heads])
    early.solve()
    late.solve()
    assert late.objective == pytest.approx(early.objective)
    assert late.safe_bound() == pytest.approx(early.safe_bound(), abs=1e-6)


def test_cuts_from_constraints_can_be_dropped_and_the_others_stay(matrix):
    program = program_over(matrix)
    program.add_cuts(subtours())
    program.solve()
    before = program.objective
    program.add_cuts([Cut(np.arange(N), rank=3, holds_always=False)])
    program.solve()
    assert program.objective > before + 1  # one page cannot be three
    program.drop_conditional_cuts()
    program.solve()
    assert program.objective == pytest.approx(before)


def test_what_no_arc_covers_is_paid_by_penalties(matrix):
    closed = matrix.copy()
    closed[2, :] = np.inf  # no way out of one node
    program = program_over(closed, penalty=50.0)
    program.solve()
    assert program.shortfall == pytest.approx(2.0)
    dear = program.objective
    program.set_penalty(500.0)
    program.solve()
    assert program.objective == pytest.approx(dear + 2 * 450.0)


def test_an_arc_bounded_to_nothing_is_not_used_until_it_is_freed(matrix):
    program = program_over(matrix)
    program.solve()
    before, first = program.objective, int(program.values.argmax())
    upper = np.ones(len(program.tails))
    upper[first] = 0.0
    program.set_upper(upper)
    program.solve()
    assert program.values[first] == 0.0
    assert program.objective >= before - 1e-9
    program.set_upper(np.ones(len(upper)))
    program.solve()
    assert program.objective == pytest.approx(before)


def test_a_probe_says_no_more_than_the_whole_solve_and_a_basis_is_restored(matrix):
    program = program_over(matrix)
    program.solve()
    before, basis = program.objective, program.basis()
    upper = np.ones(len(program.tails))
    upper[program.values > 0.5] = 0.0
    program.set_upper(upper)
    probed = program.probe(3)
    program.solve()
    assert probed is not None
    assert probed <= program.objective + 1e-6
    program.add_cuts([Cut(np.array([0, 1]))])
    program.set_upper(np.ones(len(upper)))
    program.restore(basis)
    program.solve()
    assert program.objective >= before - 1e-9


def test_no_solve_begins_after_the_deadline(matrix):
    program = program_over(matrix)
    program.deadline = Deadline(0.0, lambda: 1.0)
    with pytest.raises(TimeUp):
        program.solve()
