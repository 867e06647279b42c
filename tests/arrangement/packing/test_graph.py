"""The cheapest pages through a graph of chains are those of all walks."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deshred.arrangement.packing.graph import PageGraph
from deshred.arrangement.problem.fixings import PageCount
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.proof.contraction import contract
from tests.arrangement.brute_force import full_matrix, random_costs
from tests.arrangement.packing.graphs import random_graph

seeds = st.integers(0, 10_000)


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_the_cheapest_pages_are_those_of_all_walks(seed):
    rng = np.random.default_rng(seed)
    graph, prices = random_graph(rng, 4), rng.uniform(0, 4, 4)
    cheapest = np.full(4, np.inf)
    for length in range(1, 6):  # at least a fifth of the paper each
        for walk in product(range(4), repeat=length):
            path = np.array(walk)
            if graph.units[path].sum() <= graph.most_units:
                cheapest[path[-1]] = min(cheapest[path[-1]], graph.cost(path) - prices[path].sum())
    priced = graph.price(prices)
    assert priced.surplus == pytest.approx(cheapest)
    for last in np.flatnonzero(np.isfinite(cheapest)):
        path = priced.path(int(last))
        assert path[-1] == last
        assert graph.cost(path) - prices[path].sum() == pytest.approx(cheapest[last])


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_a_completion_is_the_cheapest_way_to_end_a_page_in_the_width_left(seed):
    rng = np.random.default_rng(seed)
    graph, prices = random_graph(rng, 3), rng.uniform(0, 4, 3)
    found = graph.completions(prices)
    for left in (0, graph.most_units // 3, graph.most_units // 2):
        truth = graph.ends.copy()
        for length in range(1, 4):
            for walk in product(range(3), repeat=length):
                if graph.units[list(walk)].sum() > left:
                    continue
                rest = graph.ends[walk[-1]] - prices[list(walk)].sum()
                rest += sum(graph.joins[a, b] for a, b in pairwise(walk))
                truth = np.minimum(truth, graph.joins[:, walk[0]] + rest)
        assert found[left] == pytest.approx(truth)


def test_the_graph_of_a_contraction_has_its_costs_and_the_widths_of_its_chains():
    costs = random_costs(np.random.default_rng(3), 5, PageCount(1, 2))
    arcs = costs.arcs_below(np.zeros(6), np.zeros(6), 1e9)
    only = (arcs.tails != 1) | (arcs.heads == 3)  # from 1 there is one way
    chains = contract(costs, arcs.take(only))
    graph = PageGraph.of(chains, chains.costs, Room(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), 20.0))
    number, matrix = chains.chain_of, full_matrix(costs)
    assert len(graph) == 4
    assert graph.room.widths[number[1]] == 2.0 + 8.0
    assert graph.joins[number[3], number[0]] == matrix[3, 0]
    assert graph.joins[number[0], number[3]] == matrix[0, 1]
    assert graph.begins[number[1]] == matrix[5, 1]
    assert graph.ends[number[1]] == matrix[3, 5]


def test_a_page_holds_no_chain_twice_and_no_more_than_its_width():
    graph = random_graph(np.random.default_rng(0), 5)
    graph = PageGraph(graph.joins, graph.begins, graph.ends, Room(np.full(5, 30.0), 100.0))
    assert graph.is_page(np.array([0, 1, 2]))
    assert not graph.is_page(np.array([0, 1, 0]))
    assert not graph.is_page(np.array([0, 1, 2, 3]))


def test_widths_are_counted_downwards_so_that_no_page_is_lost():
    rng = np.random.default_rng(1)
    widths = rng.uniform(1, 60, 8)
    graph = PageGraph(np.zeros((8, 8)), np.zeros(8), np.zeros(8), Room(widths, 100.0))
    assert graph.units.min() >= 1
    for mask in product((False, True), repeat=8):
        chosen = np.array(mask)
        if widths[chosen].sum() <= 100.0:
            assert graph.units[chosen].sum() <= graph.most_units
    assert graph.is_countable
    thin = PageGraph(graph.joins, graph.begins, graph.ends, Room(np.full(8, 0.01), 100.0))
    assert not thin.is_countable
