"""Duals -> a lower bound that holds on the full matrix, and the reduced cost of every arc.

Any duals give a valid bound: what the LP solver's tolerances hide is subtracted here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deshred.arrangement.problem.costs import Arcs, Costs
from deshred.arrangement.problem.fixings import Floats, Ints
from deshred.arrangement.proof.cuts import Cut, Degrees, coefficients

_SAMPLE_ROWS = 100


@dataclass(frozen=True, eq=False)
class Duals:
    """Prices of the degree rows and of the cuts."""

    out: Floats
    into: Floats
    cuts: Floats  # <= 0

    @staticmethod
    def zero(n_nodes: int) -> Duals:
        """No prices at all."""
        return Duals(np.zeros(n_nodes), np.zeros(n_nodes), np.zeros(0))

    def of_shreds(self, n: int) -> Duals:
        """Only the prices of shreds: the outside and the hub may have an open degree."""
        out, into = self.out.copy(), self.into.copy()
        out[n:] = into[n:] = 0.0
        return Duals(out, into, np.zeros(0))


@dataclass(frozen=True, eq=False)
class Proof:
    """Duals and the bound they give: an order with some arc costs at least bound + its reduced cost."""

    duals: Duals
    cuts: tuple[Cut, ...]
    bound: float


def dual_constant(degrees: Degrees, cuts: tuple[Cut, ...], duals: Duals) -> float:
    """The part of the bound that does not depend on arcs."""
    price = duals.out + duals.into
    total = float((price * degrees.fixed).sum())
    for k in np.flatnonzero(duals.cuts < 0):
        total += float(duals.cuts[k]) * degrees.right_hand_side(cuts[k])
        if not cuts[k].same_page:
            price[cuts[k].members] += duals.cuts[k]
    free = degrees.free
    return total + float(
        np.minimum(price[free] * degrees.least[free], price[free] * degrees.most[free]).sum()
    )


def reduced_costs(costs: Costs, proof: Proof, tails: Ints, heads: Ints) -> Floats:
    """Reduced costs of single arcs."""
    reduced = costs.at(tails, heads) - proof.duals.out[tails] - proof.duals.into[heads]
    _subtract_cuts(costs, proof, tails, heads, reduced)
    return reduced


def arcs_below(costs: Costs, proof: Proof, threshold: float) -> Arcs:
    """All arcs of the full matrix with a reduced cost of at most the threshold."""
    arcs = costs.arcs_below(proof.duals.out, proof.duals.into, threshold)
    _subtract_cuts(costs, proof, arcs.tails, arcs.heads, arcs.reduced)
    return arcs.take(arcs.reduced <= threshold)


def _subtract_cuts(costs: Costs, proof: Proof, tails: Ints, heads: Ints, reduced: Floats) -> None:
    for k in np.flatnonzero(proof.duals.cuts < 0):
        hits, values = coefficients(proof.cuts[k], tails, heads, costs.depot, costs.n_nodes)
        reduced[hits] -= proof.duals.cuts[k] * values


def prove(costs: Costs, degrees: Degrees, duals: Duals, cuts: tuple[Cut, ...]) -> tuple[Proof, Arcs]:
    """The bound that duals give, and the arcs of negative reduced cost that weaken it."""
    proof = Proof(duals, cuts, dual_constant(degrees, cuts, duals))
    weak = arcs_below(costs, proof, 0.0)
    weak = weak.take(weak.reduced < 0)
    worst, total = np.zeros(degrees.n_nodes), np.zeros(degrees.n_nodes)
    np.minimum.at(worst, weak.tails, weak.reduced)
    np.add.at(total, weak.tails, weak.reduced)
    lost = float(np.maximum(worst * degrees.most, total).sum())
    return Proof(duals, cuts, proof.bound + lost), weak


def threshold_for(costs: Costs, duals: Duals, per_node: float) -> float:
    """The reduced cost (cuts aside) that about so many arcs per node stay below, from a sample of rows."""
    if costs.hub is not None:
        sample = costs.arcs_below(duals.out, duals.into, np.inf).reduced
        count = int(per_node * costs.n_nodes)
    else:
        rows = np.unique(np.linspace(0, costs.n, min(_SAMPLE_ROWS, costs.n + 1)).astype(np.int64))
        sample = np.concatenate([costs.row(int(i)) - duals.out[i] - duals.into for i in rows])
        sample = sample[np.isfinite(sample)]
        count = int(per_node * len(rows))
    if count >= len(sample):
        return float(sample.max(initial=1e-9))
    return max(1e-9, float(np.partition(sample, count)[count]))
