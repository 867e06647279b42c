"""The solver itself, below the face: the cost of brute force, a bound that holds, whatever stops it."""

from __future__ import annotations

from itertools import count, pairwise

import numpy as np
import pytest

from deshred.arrangement.exact import ExactSolver, Solution
from deshred.arrangement.heuristics import pages_of, tour_cost
from deshred.arrangement.problem.costs import DenseCosts, PageEnds
from deshred.arrangement.problem.deadlines import Deadline
from deshred.arrangement.problem.fixings import PageCount, fix
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.proof.record import Limits
from deshred.elements import Constraints
from deshred.errors import InfeasibleError
from tests.arrangement.brute_force import all_covers, cover_cost, full_matrix, random_costs
from tests.arrangement.brute_force import costs_of as fixed_costs

N, PAGES = 6, PageCount(1, 3)
IDS = tuple(f"s{i}" for i in range(N))
COVERS = list(all_covers(N, PAGES))


def costs_of(seed: int, room: Room | None = None) -> DenseCosts:
    return random_costs(np.random.default_rng(seed), N, PAGES, room)


def optimum(costs: DenseCosts) -> float:
    matrix = full_matrix(costs)
    return min(cover_cost(matrix, cover) for cover in COVERS)


def check(solution: Solution, costs: DenseCosts) -> None:
    """The tour is whole, costs what it says, and no order is cheaper than the bound."""
    pages = pages_of(solution.tour, costs.n)
    assert sorted(shred for page in pages for shred in page) == list(range(costs.n))
    assert PAGES.least <= len(pages) <= PAGES.most
    assert tour_cost(costs, solution.tour) == pytest.approx(solution.cost)
    assert solution.bound <= optimum(costs) + 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_the_cost_is_that_of_the_cheapest_of_all_covers(seed: int) -> None:
    costs = costs_of(seed)
    solution = ExactSolver(costs, Limits()).solve()
    check(solution, costs)
    assert solution.cost == pytest.approx(optimum(costs), abs=1e-6)
    assert solution.bound == pytest.approx(solution.cost, abs=1e-5)


def test_forced_neighbors_stand_in_every_order_below_their_limit() -> None:
    one_page = PageCount(1, 1)
    orders = list(all_covers(7, one_page))
    checked = 0
    for seed in range(24):
        costs = random_costs(np.random.default_rng(seed), 7, one_page)
        solution = ExactSolver(costs, Limits()).solve()
        forced = {(i, int(j)) for i, j in enumerate(solution.forced[:7]) if 0 <= j < 7}
        if forced:
            matrix = full_matrix(costs)
            cheap = [order for order in orders if cover_cost(matrix, order) < solution.forced_limit - 1e-9]
            assert all(forced <= set(pairwise(order[0])) for order in cheap)
            checked += len(cheap)
    assert checked > 0


@pytest.mark.parametrize("seed", range(8))
def test_a_clock_that_has_run_out_still_leaves_an_order_and_a_bound_that_holds(seed: int) -> None:
    ticks = count()
    past = Deadline(at=-1.0, clock=lambda: float(next(ticks)) * 1e-3)
    costs = costs_of(seed)
    check(ExactSolver(costs, Limits(deadline=past)).solve(), costs)


def test_a_deadline_is_kept_by_the_count_of_looks_at_the_clock_and_more_time_never_hurts() -> None:
    scores = np.random.default_rng(0).normal(size=(80, 80))
    costs = fixed_costs(scores + scores.T, PageEnds(np.zeros(80), np.zeros(80)), PageCount(1, 1))
    found: list[Solution] = []
    for most in (0, 20, 100, 10_000):
        looks = count()
        deadline = Deadline(float(most), lambda looks=looks: float(next(looks)))
        found.append(ExactSolver(costs, Limits(deadline=deadline)).solve())
        assert next(looks) <= most + 5
    spent = [solution.cost for solution in found]
    proven = [solution.bound for solution in found]
    assert spent == sorted(spent, reverse=True)
    assert proven == sorted(proven)
    assert proven[0] < spent[0]
    assert proven[-1] == pytest.approx(spent[-1], abs=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_no_nodes_to_search_still_leave_an_order_and_a_bound_that_holds(seed: int) -> None:
    costs = costs_of(seed)
    check(ExactSolver(costs, Limits(node_limit=0)).solve(), costs)


@pytest.mark.parametrize("seed", range(8))
def test_a_solve_that_remembers_another_finds_what_a_fresh_one_finds(seed: int) -> None:
    costs = costs_of(seed)
    before = ExactSolver(costs, Limits()).solve()
    page = next(page for page in pages_of(before.tour, N) if len(page) > 1)
    without = Constraints(forbidden=frozenset({(IDS[page[0]], IDS[page[1]])}))
    changed = costs.fix(fix(IDS, without, PAGES))
    again = ExactSolver(changed, Limits(), memory=before.memory).solve()
    check(again, changed)
    assert again.cost == pytest.approx(optimum(changed), abs=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_narrow_pages_cost_what_the_cheapest_cover_that_fits_costs(seed: int) -> None:
    widths = np.random.default_rng(seed).uniform(1, 3, N)
    costs = costs_of(seed, Room(widths, 5.5))
    matrix = full_matrix(costs)
    fits = [cover for cover in COVERS if all(widths[list(page)].sum() <= 5.5 for page in cover)]
    solution = ExactSolver(costs, Limits()).solve()
    assert solution.cost == pytest.approx(min(cover_cost(matrix, cover) for cover in fits), abs=1e-6)


def test_more_shreds_than_fit_on_all_pages_are_refused() -> None:
    with pytest.raises(InfeasibleError):
        ExactSolver(costs_of(0, Room(np.full(N, 2.0), 3.0)), Limits()).solve()


def test_constraints_that_no_order_obeys_are_refused_and_not_searched_for_ever() -> None:
    together = Constraints(together=frozenset({frozenset(IDS[:3])}), apart=frozenset({frozenset(IDS[1:3])}))
    with pytest.raises(InfeasibleError):
        ExactSolver(costs_of(0).fix(fix(IDS, together, PAGES)), Limits()).solve()


def test_progress_ends_with_the_gap_closed() -> None:
    told: list[tuple[str, int, int]] = []
    rng = np.random.default_rng(3)
    pages = PageCount(1, 1)
    costs = random_costs(rng, 40, pages)
    ExactSolver(costs, Limits(), progress=lambda *args: told.append(args)).solve()
    assert {total for _, _, total in told} == {1000}
    assert told[-1][1] == 1000
    assert all("gap" in stage for stage, _, _ in told[-1:])
