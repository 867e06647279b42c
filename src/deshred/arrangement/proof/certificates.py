"""How much more every order without a given join costs, at least: lower bounds from reduced costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deshred.arrangement.exact import Solution
from deshred.arrangement.problem.costs import Costs
from deshred.arrangement.problem.fixings import Floats
from deshred.arrangement.proof.bounds import arcs_below, reduced_costs, threshold_for

_ARCS = 4.0  # per node, whose reduced costs are known with cuts


@dataclass(frozen=True, eq=False)
class Certificates:
    """Prices, all >= 0."""

    without_right: Floats  # (n,): to do without the join to the right
    with_join: Floats  # (k - 1,): to join a page to the next


def certify(costs: Costs, solution: Solution, breaks: list[tuple[int, int]]) -> Certificates:
    """Price the joins and the page breaks of a solution.

    An order without i -> j uses another arc out of i and another into j; both are dearer than nothing by
    their reduced costs, and the two arcs differ.
    """
    n, proof = costs.n, solution.proof
    assert proof is not None
    threshold = threshold_for(costs, proof.duals, _ARCS)
    arcs = arcs_below(costs, proof, threshold)
    right = np.minimum(np.append(solution.tour[:n], np.full(costs.n_nodes - n, -1)), n)
    others = arcs.take(right[arcs.tails] != arcs.heads)
    out, into = np.full(costs.n_nodes, threshold), np.full(costs.n_nodes, threshold)
    np.minimum.at(out, others.tails, others.reduced)
    np.minimum.at(into, others.heads, others.reduced)
    least = costs.least_reduced(proof.duals.out, proof.duals.into, right)
    out, into = np.maximum(out, least.out), np.maximum(into, least.into)  # cuts only add to reduced costs
    bound = proof.bound + np.maximum(out[:n], 0) + np.maximum(into[right[:n]], 0)
    forced = solution.forced[:n] == right[:n]
    bound = np.where(forced, np.maximum(bound, solution.forced_limit), bound)
    pairs = np.array(breaks, np.int64).reshape(-1, 2)
    joined = proof.bound + np.maximum(reduced_costs(costs, proof, pairs[:, 0], pairs[:, 1]), 0)
    return Certificates(np.maximum(bound - solution.cost, 0.0), np.maximum(joined - solution.cost, 0.0))
