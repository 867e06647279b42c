"""The root: bounds below the optimum, orders above it, and a later solve carries on from an earlier one."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.arrangement.heuristics import tour_cost
from deshred.arrangement.problem.costs import PageEnds, SparseCosts
from deshred.arrangement.problem.deadlines import NEVER
from deshred.arrangement.problem.fixings import PageCount, fix
from deshred.arrangement.problem.scores import ScoreRange
from deshred.arrangement.proof.record import Limits, Record
from deshred.arrangement.proof.relaxation import Relaxation
from deshred.elements import Constraints
from tests.arrangement.brute_force import all_covers, cover_cost, full_matrix, random_costs

N, PAGES = 6, PageCount(1, 2)


def optimum(costs):
    matrix = full_matrix(costs)
    return min(cover_cost(matrix, cover) for cover in all_covers(N, PAGES))


@pytest.fixture(params=range(6))
def record(request):
    return Record(random_costs(np.random.default_rng(request.param), N, PAGES), Limits(), None)


def relaxed(record):
    root = Relaxation(record)
    root.assign()
    root.start()
    root.close()
    return root


def test_a_sketch_has_an_order_and_a_bound_with_the_optimum_between(record):
    Relaxation(record).sketch(NEVER)
    assert record.lower <= optimum(record.costs) + 1e-9
    assert record.upper >= optimum(record.costs) - 1e-9
    assert tour_cost(record.costs, record.tour) == pytest.approx(record.upper)


def test_cuts_and_prices_raise_the_bound_of_the_assignment_and_not_above_the_optimum(record):
    root = Relaxation(record)
    root.assign()
    first = record.lower
    root.start()
    root.close()
    assert first - 1e-9 <= record.lower <= optimum(record.costs) + 1e-6
    assert record.upper >= optimum(record.costs) - 1e-9


def test_a_later_solve_with_a_join_forbidden_is_bounded_like_one_from_scratch(record):
    memory = relaxed(record).memory(0.0)
    left = next(i for i in range(N) if record.tour[i] < N)
    ids = tuple(f"s{i}" for i in range(N))
    without = Constraints(forbidden=frozenset({(ids[left], ids[record.tour[left]])}))
    fixed = record.costs.fix(fix(ids, without, PAGES))
    matrix = full_matrix(fixed)
    cheapest = min(cover_cost(matrix, cover) for cover in all_covers(N, PAGES))
    cold = Record(fixed, Limits(), None)
    relaxed(cold)
    warm = Record(fixed, Limits(), None)
    again = Relaxation(warm)
    again.resume(memory)
    again.close()
    for solved in (cold, warm):
        assert solved.lower <= cheapest + 1e-6 <= solved.upper + 2e-6
    if not (cold.is_proven or warm.is_proven):
        assert warm.lower == pytest.approx(cold.lower, abs=1e-6)


def test_a_solve_that_never_had_an_lp_leaves_no_memory(record):
    assert Relaxation(record).memory(0.0) is None


def test_the_lp_holds_the_arcs_of_the_best_order(record):
    root = Relaxation(record)
    root.assign()
    root.start()
    known = {*zip(root.program.tails.tolist(), root.program.heads.tolist(), strict=True)}
    tour = np.minimum(record.tour, N).tolist()
    assert {(min(i, N), head) for i, head in enumerate(tour)} <= known


def test_of_short_lists_all_arcs_are_there_from_the_start():
    """Else they would be priced and added a few at a time, in hundreds of rounds."""
    rng, n = np.random.default_rng(3), 60
    rows, columns = np.nonzero(rng.random((n, n)) < 0.25)
    chain = np.arange(n - 1)
    keys = np.unique(np.concatenate([rows * n + columns, chain * n + chain + 1]))
    rows, columns = np.divmod(keys, n)
    scores = rng.normal(0, 20, len(rows)).astype(np.float32)
    ends, starts = PageEnds(*rng.normal(4, 1, (2, n))), np.searchsorted(rows, np.arange(n + 1))
    made = SparseCosts(
        starts,
        columns,
        scores,
        ends,
        PageCount(1, n),
        ScoreRange(float(scores.max()), float(scores.min())),
        is_final=True,
    )
    costs = made.fix(fix(tuple(f"s{i}" for i in range(n)), Constraints(), made.pages))
    root = Relaxation(Record(costs, Limits(), None))
    root.assign()
    root.start()
    assert len(root.program.tails) == costs.listed
