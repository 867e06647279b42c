"""Shrinks what is certain: where only one arc is left, its two ends become one chain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deshred.arrangement.problem.costs import Arcs, Costs
from deshred.arrangement.problem.fixings import Floats, Ints
from deshred.arrangement.proof.exchange import are_usable


@dataclass(frozen=True, eq=False)
class Contraction:
    """A small problem over chains that has the same orders as the large one over the arcs kept."""

    right: Ints  # (N,): the next node in the chain, -1 at its end
    chain_of: Ints  # (N,): chains 0 .. m-1, then the outside, then the hub
    n_chains: int
    tails: Ints  # of the small problem
    heads: Ints
    original: Arcs  # the same arcs between the original nodes
    costs: Floats
    base: float  # the cost of the arcs inside the chains


def contract(costs: Costs, arcs: Arcs) -> Contraction:
    """Chain up arcs that are the only way out of their tail or into their head, again and again."""
    n, n_nodes = costs.n, costs.n_nodes
    right, left = np.full(n_nodes, -1, np.int64), np.full(n_nodes, -1, np.int64)
    start, end = np.arange(n_nodes), np.arange(n_nodes)  # of the chain, valid at its ends
    while True:
        inner = (arcs.tails < n) & (arcs.heads < n)
        usable = (right[arcs.tails] < 0) & (left[arcs.heads] < 0)
        usable &= ~(inner & (start[arcs.tails] == arcs.heads))
        arcs, inner = arcs.take(usable), inner[usable]
        ways_out = np.bincount(arcs.tails, minlength=n_nodes)
        ways_in = np.bincount(arcs.heads, minlength=n_nodes)
        forced = inner & ((ways_out[arcs.tails] == 1) | (ways_in[arcs.heads] == 1))
        chained = False
        for a, b in zip(arcs.tails[forced].tolist(), arcs.heads[forced].tolist(), strict=True):
            if right[a] < 0 and left[b] < 0 and start[a] != b:
                right[a], left[b] = b, a
                first, last = start[a], end[b]
                end[first], start[last] = last, first
                chained = True
        if not chained:
            break
    return _number(costs, arcs, right, left)


def contract_within(costs: Costs, arcs: Arcs, slack: float) -> Contraction:
    """The same for orders whose arcs have reduced costs of at most the slack in total."""
    contraction = contract(costs, arcs)
    if not (costs.pages.is_fixed and costs.pages.least == 1 and costs.hub is None):
        return contraction
    usable = are_usable(
        contraction.tails, contraction.heads, contraction.original.reduced, contraction.n_chains + 1, slack
    )
    if usable.all():
        return contraction
    kept, inside = contraction.original.take(usable), np.flatnonzero(contraction.right >= 0)
    tails, heads = np.append(kept.tails, inside), np.append(kept.heads, contraction.right[inside])
    order = np.argsort(tails, kind="stable")
    reduced = np.append(kept.reduced, np.zeros(len(inside)))
    return contract(costs, Arcs(tails[order], heads[order], reduced[order]))


def chain_up(costs: Costs, tails: Ints, heads: Ints) -> Contraction:
    """Chains made of the given arcs, which must form paths; no arcs remain."""
    right, left = np.full(costs.n_nodes, -1, np.int64), np.full(costs.n_nodes, -1, np.int64)
    right[tails], left[heads] = heads, tails
    none = np.zeros(0, np.int64)
    return _number(costs, Arcs(none, none, np.zeros(0)), right, left)


def _number(costs: Costs, arcs: Arcs, right: Ints, left: Ints) -> Contraction:
    n, n_nodes = costs.n, costs.n_nodes
    firsts = np.flatnonzero(left[:n] < 0)
    chain_of = np.full(n_nodes, -1, np.int64)
    chain_of[firsts] = np.arange(len(firsts))
    chain_of[n:] = len(firsts) + np.arange(n_nodes - n)
    following = right[firsts]
    labels = np.arange(len(firsts))
    while len(following):  # all chains one step at a time
        alive = following >= 0
        following, labels = following[alive], labels[alive]
        chain_of[following] = labels
        following = right[following]
    inside = np.flatnonzero(right >= 0)
    return Contraction(
        right=right,
        chain_of=chain_of,
        n_chains=len(firsts),
        tails=chain_of[arcs.tails],
        heads=chain_of[arcs.heads],
        original=arcs,
        costs=costs.at(arcs.tails, arcs.heads),
        base=float(costs.at(inside, right[inside]).sum()),
    )


def chain_ends(contraction: Contraction) -> tuple[Ints, Ints]:
    """First and last shred of every chain."""
    nodes = np.flatnonzero(contraction.chain_of < contraction.n_chains)
    firsts = np.empty(contraction.n_chains, np.int64)
    has_left = np.zeros(len(contraction.right), bool)
    has_left[contraction.right[contraction.right >= 0]] = True
    heads = nodes[~has_left[nodes]]
    firsts[contraction.chain_of[heads]] = heads
    lasts = np.empty(contraction.n_chains, np.int64)
    ends = nodes[contraction.right[nodes] < 0]
    lasts[contraction.chain_of[ends]] = ends
    return firsts, lasts
