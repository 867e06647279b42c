"""All pages that are cheap enough are listed, found again by trying every path."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deshred.arrangement.packing.graph import PageGraph
from deshred.arrangement.packing.listing import list_pages
from deshred.arrangement.problem.rules import Room
from tests.arrangement.packing.graphs import random_graph

seeds = st.integers(0, 10_000)


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_all_pages_below_a_surplus_are_listed_each_set_once_at_its_cheapest(seed):
    rng = np.random.default_rng(seed)
    graph, prices, most = random_graph(rng, 5), rng.uniform(0, 4, 5), float(rng.uniform(-2, 4))
    truth = {}
    for length in range(1, 6):
        for walk in permutations(range(5), length):
            path = np.array(walk)
            cost = graph.cost(path)
            if graph.is_page(path) and cost - prices[path].sum() <= most:
                truth[frozenset(walk)] = min(truth.get(frozenset(walk), np.inf), cost)
    listed = list_pages(graph, prices, most, 10_000)
    assert {frozenset(path.tolist()): graph.cost(path) for path in listed} == pytest.approx(truth)
    assert len(listed) == len(truth)
    if len(truth) > 1:
        assert list_pages(graph, prices, most, 1) is None


def test_sets_of_more_chains_than_fit_one_word_are_told_apart():
    size = 130
    joins = np.full((size, size), np.inf)
    pairs = [(0, 64), (0, 65), (1, 128), (63, 127), (126, 129)]
    for a, b in pairs:
        joins[a, b] = 0.0
    graph = PageGraph(joins, np.zeros(size), np.zeros(size), Room(np.full(size, 40.0), 100.0))
    listed = list_pages(graph, np.full(size, 1.0), -2.0, 10_000)
    assert sorted(tuple(path.tolist()) for path in listed) == pairs
