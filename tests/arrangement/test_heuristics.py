"""Quick orders are orders, cost what they say, and where a choice is exact it is that of trying all."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from deshred.arrangement.heuristics import (
    LocalSearch,
    Matrix,
    close,
    fold,
    link,
    nearest_neighbor,
    pages_of,
    patch,
    tour_cost,
    tour_of,
)
from deshred.arrangement.problem.costs import PageEnds
from deshred.arrangement.problem.deadlines import NEVER
from deshred.arrangement.problem.fixings import PageCount, fix
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.proof.cuts import Support
from deshred.elements import Constraints
from tests.arrangement.brute_force import costs_of, cover_cost, full_matrix, random_costs

N, PAGES = 9, PageCount(1, 4)
seeds = pytest.mark.parametrize("seed", range(6))


def costs_for(seed, room=None):
    return random_costs(np.random.default_rng(seed), N, PAGES, room)


def check(costs, tour):
    """It is one circle with pages that are not empty, and costs what a plain sum says."""
    cover = [tuple(page.tolist()) for page in pages_of(tour, costs.n)]
    assert all(cover)
    assert sorted(i for page in cover for i in page) == list(range(costs.n))
    assert sorted(tour.tolist()) == list(range(len(tour)))
    assert tour_cost(costs, tour) == pytest.approx(cover_cost(full_matrix(costs), cover))
    return cover


def test_pages_become_a_tour_and_pages_again():
    pages = [np.array([3, 1]), np.array([0]), np.array([4, 2, 5])]
    again = pages_of(tour_of(pages, 6), 6)
    assert [page.tolist() for page in again] == [page.tolist() for page in pages]


@seeds
@pytest.mark.parametrize("n_pages", [1, 2, 4])
def test_fragments_are_closed_to_as_many_pages_as_asked_for(seed, n_pages):
    right = np.full(N, -1)
    right[[2, 5, 0]] = [5, 7, 8]
    assert len(check(costs_for(seed), close(costs_for(seed), right, n_pages))) == n_pages


@seeds
def test_a_required_join_stays_when_fragments_are_closed(seed):
    required = Constraints(required=frozenset({("s2", "s5"), ("s5", "s7")}))
    costs = costs_for(seed).fix(fix(tuple(f"s{i}" for i in range(N)), required, PAGES))
    right = np.full(N, -1)
    right[[2, 5, 0]] = [5, 7, 8]
    cover = check(costs, close(costs, right, 2))
    assert {(2, 5), (5, 7)} <= {pair for page in cover for pair in pairwise(page)}


@seeds
def test_circles_are_patched_into_one_tour(seed):
    costs = costs_for(seed)
    circles = np.array([1, 2, 0, 4, 5, 3, 7, 8, 9, 6])  # the last one goes through the outside
    check(costs, patch(costs, circles))


@seeds
def test_arcs_are_linked_in_the_order_of_their_shares(seed):
    rng = np.random.default_rng(seed)
    costs = costs_for(seed)
    order = rng.permutation(N)
    sure = np.full(N - 1, 1.0)
    noise = rng.integers(0, N, (2, 20))
    noise = noise[:, noise[0] != noise[1]]
    support = Support(
        np.append(order[:-1], noise[0]),
        np.append(order[1:], noise[1]),
        np.append(sure, np.full(noise.shape[1], 0.3)),
    )
    assert check(costs, link(costs, support, 1)) == [tuple(order.tolist())]


@seeds
def test_linked_pages_are_no_wider_than_the_paper(seed):
    rng = np.random.default_rng(seed)
    room = Room(rng.uniform(10, 40, N), 100.0)
    costs = costs_for(seed, room)
    tails, heads = np.nonzero(~np.eye(N, dtype=bool))
    tour = link(costs, Support(tails, heads, rng.random(len(tails))), 3)
    cover = [tuple(page.tolist()) for page in pages_of(tour, N)]
    assert sorted(i for page in cover for i in page) == list(range(N))
    assert max(room.widths[list(page)].sum() for page in cover) <= room.most


@seeds
def test_a_path_is_folded_at_its_cheapest_places(seed):
    rng = np.random.default_rng(seed)
    room = Room(rng.uniform(20, 40, N), 100.0)
    costs, path = costs_for(seed, room), rng.permutation(N)
    matrix, truth = full_matrix(costs), np.inf
    for n_pages in range(PAGES.least, PAGES.most + 1):
        for cuts in combinations(range(1, N), n_pages - 1):
            cover = [tuple(path[a:b].tolist()) for a, b in pairwise((0, *cuts, N))]
            if all(room.widths[list(page)].sum() <= room.most for page in cover):
                truth = min(truth, cover_cost(matrix, cover))
    folded = fold(costs, tour_of([path], N), room)
    if truth == np.inf:
        assert folded is None
        return
    check(costs, folded)
    assert tour_cost(costs, folded) == pytest.approx(truth)


@seeds
def test_the_nearest_neighbor_is_that_of_a_plain_walk_from_every_start(seed):
    costs = costs_for(seed)
    matrix, walks = full_matrix(costs), []
    for start in range(N):
        walk = [start]
        while len(walk) < N:
            walk.append(min(set(range(N)) - set(walk), key=lambda j: matrix[walk[-1], j]))
        walks.append(tuple(walk))
    best = min(walks, key=lambda walk: cover_cost(matrix, [walk]))
    assert check(costs, nearest_neighbor(costs, 1)) == [best]


@seeds
def test_local_search_makes_no_tour_dearer_and_knows_its_cost(seed):
    rng = np.random.default_rng(seed)
    costs = costs_for(seed)
    tour = tour_of(list(np.split(rng.permutation(N), [4])), N)
    search = LocalSearch(Matrix.of(costs), tour, N)
    before = search.cost
    assert before == pytest.approx(tour_cost(costs, tour))
    search.run(NEVER)
    improved = search.cost
    assert improved <= before + 1e-9
    search.shake(20, NEVER)
    assert search.cost <= improved + 1e-9
    check(costs, search.tour)
    assert search.cost == pytest.approx(tour_cost(costs, search.tour))


def test_local_search_moves_a_stretch_back_where_it_belongs():
    scores, best = np.random.default_rng(0).normal(size=(20, 20)), np.arange(20)
    scores[best[:-1], best[1:]] = 5.0
    costs = costs_of(scores, PageEnds(*np.zeros((2, 20))), PageCount(1, 1))
    moved = np.concatenate([best[:4], best[9:15], best[4:9], best[15:]])
    search = LocalSearch(Matrix.of(costs), tour_of([moved], 20), 20)
    search.run(NEVER)
    assert pages_of(search.tour, 20)[0].tolist() == best.tolist()
