"""Packing by whole pages finds the cheapest pages of limited width, found again by Held-Karp over sets."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.arrangement.packing.columns import Packing, PackingHooks
from deshred.arrangement.problem.deadlines import NEVER
from deshred.arrangement.problem.fixings import PageCount
from tests.arrangement.packing.graphs import random_graph

N, PAGES = 7, PageCount(2, 4)


def cheapest_pages(graph, pages):
    """The cost of the cheapest pages that hold each chain once."""
    paths = np.full((1 << N, N), np.inf)  # (subset, last)
    for subset in range(1, 1 << N):
        for j in (j for j in range(N) if subset >> j & 1):
            rest = subset ^ 1 << j
            paths[subset, j] = (paths[rest] + graph.joins[:, j]).min() if rest else graph.begins[j]
    page = (paths + graph.ends).min(axis=1)
    for subset in range(1 << N):
        inside = [j for j in range(N) if subset >> j & 1]
        if graph.room.widths[inside].sum() > graph.room.most:
            page[subset] = np.inf
    best, found = np.where(np.arange(1 << N) == 0, 0.0, np.inf), np.inf
    for n_pages in range(1, pages.most + 1):
        longer = np.full(1 << N, np.inf)
        for subset in range(1, 1 << N):
            some = subset
            while some:
                longer[subset] = min(longer[subset], best[subset ^ some] + page[some])
                some = (some - 1) & subset
        best = longer
        found = min(found, best[-1]) if n_pages >= pages.least else found
    return float(found)


class Owner:
    """Keeps the best pages that are offered."""

    def __init__(self, graph, cutoff=50.0):
        self.graph, self.best, self.bounds = graph, cutoff, []

    def offer(self, pages):
        assert sorted(chain for page in pages for chain in page.tolist()) == list(range(N))
        assert PAGES.least <= len(pages) <= PAGES.most
        assert all(map(self.graph.is_page, pages))
        self.best = min(self.best, sum(map(self.graph.cost, pages)))

    @property
    def hooks(self):
        return PackingHooks(lambda: self.best - 1e-7, self.offer, self.bounds.append)


@pytest.mark.parametrize("seed", [0, 1, 2, 48, 77, 111, 141, 146])  # all but the first three need branching
def test_the_best_pages_offered_are_the_cheapest_of_all(seed):
    graph = random_graph(np.random.default_rng(seed), N)
    truth, owner = cheapest_pages(graph, PAGES), Owner(graph)
    bound = Packing(graph, PAGES, owner.hooks, NEVER).run([])
    if truth == np.inf:
        assert owner.best == 50.0
        return
    assert owner.best == pytest.approx(truth)
    assert bound == pytest.approx(truth, abs=1e-5)
    assert max(owner.bounds) <= truth + 1e-6


def test_pages_known_beforehand_change_nothing_about_the_answer():
    graph = random_graph(np.random.default_rng(1), N)
    owner = Owner(graph)
    Packing(graph, PAGES, owner.hooks, NEVER).run([np.array([k]) for k in range(N)])
    assert owner.best == pytest.approx(cheapest_pages(graph, PAGES))


def test_a_bound_stops_at_what_the_owner_already_has():
    graph = random_graph(np.random.default_rng(1), N)
    truth = cheapest_pages(graph, PAGES)
    owner = Owner(graph, cutoff=truth)
    assert Packing(graph, PAGES, owner.hooks, NEVER).run([]) == pytest.approx(truth, abs=1e-5)
    assert owner.best == truth
