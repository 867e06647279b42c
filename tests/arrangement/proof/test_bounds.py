"""Any duals give a bound that no order goes below, whatever they are."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.arrangement.problem.fixings import PageCount
from deshred.arrangement.proof.bounds import Duals, arcs_below, prove, reduced_costs, threshold_for
from deshred.arrangement.proof.cuts import Cut, Degrees
from tests.arrangement.brute_force import all_covers, arcs_of, cover_cost, full_matrix, random_costs

N, PAGES = 5, PageCount(1, 2)


def proven(seed):
    """A bound from duals drawn at random, some for cuts that hold for every order."""
    rng = np.random.default_rng(seed)
    costs = random_costs(rng, N, PAGES)
    cuts = (Cut(np.array([0, 2])), Cut(np.array([1, 3, 4])))
    duals = Duals(*rng.normal(0, 0.7, (2, N + 1)), -rng.uniform(0, 1, 2))
    return costs, *prove(costs, Degrees.of(N, PAGES, has_hub=False), duals, cuts)


@pytest.mark.parametrize("seed", range(12))
def test_no_order_is_cheaper_than_the_bound_of_random_duals(seed):
    costs, proof, _ = proven(seed)
    matrix = full_matrix(costs)
    assert proof.bound <= min(cover_cost(matrix, cover) for cover in all_covers(N, PAGES)) + 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_an_order_with_an_arc_costs_the_bound_and_its_reduced_cost_at_least(seed):
    costs, proof, _ = proven(seed)
    matrix = full_matrix(costs)
    for cover in all_covers(N, PAGES):
        tails, heads = np.array(arcs_of(cover, N)).T
        dearest = reduced_costs(costs, proof, tails, heads).max()
        assert cover_cost(matrix, cover) >= proof.bound + max(dearest, 0.0) - 1e-9


@pytest.mark.parametrize("seed", range(6))
def test_the_arcs_below_a_threshold_are_those_of_a_look_at_each(seed):
    costs, proof, weak = proven(seed)
    tails, heads = np.divmod(np.arange((N + 1) ** 2), N + 1)
    reduced = reduced_costs(costs, proof, tails, heads)
    below = arcs_below(costs, proof, 0.8)
    assert [*zip(below.tails, below.heads, strict=True)] == [
        *zip(tails[reduced <= 0.8], heads[reduced <= 0.8], strict=True)
    ]
    assert len(weak) == (reduced < 0).sum()


def test_a_threshold_keeps_about_as_many_arcs_per_node_as_asked_for():
    costs = random_costs(np.random.default_rng(0), 60, PAGES)
    duals = Duals.zero(61)
    kept = len(costs.arcs_below(duals.out, duals.into, threshold_for(costs, duals, 5.0)))
    assert kept / 61 == pytest.approx(5.0, abs=0.5)


def test_the_outside_has_no_price_among_those_of_shreds():
    duals = Duals(np.arange(1.0, 5.0), np.arange(5.0, 9.0), np.array([-1.0])).of_shreds(3)
    assert duals.out.tolist() == [1, 2, 3, 0]
    assert duals.into.tolist() == [5, 6, 7, 0]
    assert len(duals.cuts) == 0
