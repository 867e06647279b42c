"""Pages of limited width: chain up what is certain, and pack the chains onto pages (see `packing`).

Every order cheaper than the best one uses only arcs whose reduced cost is below the gap.
"""

from __future__ import annotations

import numpy as np

from deshred.arrangement.heuristics import follow, pages_of, tour_of
from deshred.arrangement.packing.columns import Packing, PackingHooks
from deshred.arrangement.packing.graph import PageGraph
from deshred.arrangement.problem.fixings import Ints
from deshred.arrangement.proof.bounds import Proof, arcs_below
from deshred.arrangement.proof.contraction import Contraction, chain_ends, contract
from deshred.arrangement.proof.record import Record

_FEW, _MANY = 150, 400  # chains that are packed: first for a good order, then for the proof
_SHRINKING = 0.8  # of the part of the gap that is looked at, where there are more
_LEAST = 0.05  # part of the gap that is worth it


def pack(record: Record) -> None:
    """Close the gap of a record that has an order; with too many chains, only as far as they stay few."""
    assert record.proof is not None
    reached = _LEAST * (record.upper - record.proof.bound)
    for most in (_FEW, _MANY):
        delta = record.upper - record.proof.bound
        while not record.is_proven and delta > reached:
            contraction = contract(record.costs, arcs_below(record.costs, record.proof, delta + 1e-9))
            if contraction.n_chains <= most:
                reached = delta
                limit = record.proof.bound + delta
                record.raise_bound(_Chains(record, contraction, record.proof, limit).pack())
            delta *= _SHRINKING


class _Chains:
    """The chains of a contraction, at costs less the prices of their ends; all orders that use them."""

    def __init__(self, record: Record, contraction: Contraction, proof: Proof, limit: float) -> None:
        assert record.costs.room is not None
        self._record, self._contraction = record, contraction
        self._limit = limit  # orders that use anything else cost at least so much
        self._firsts, lasts = chain_ends(contraction)
        shift, arcs = proof.duals.of_shreds(record.costs.n), contraction.original
        shifted = contraction.costs - shift.out[arcs.tails] - shift.into[arcs.heads]
        self._offset = contraction.base + float(shift.out[lasts].sum() + shift.into[self._firsts].sum())
        self._graph = PageGraph.of(contraction, shifted, record.costs.room)

    def pack(self) -> float:
        """Offer orders to the record; returns what all orders cost at least."""
        record, graph = self._record, self._graph
        if (graph.room.widths > graph.room.most).any():
            return self._limit
        if not graph.is_countable:
            return record.lower
        hooks = PackingHooks(
            cutoff=lambda: record.cutoff - self._offset,
            offer=self._offer,
            report=self._report,
        )
        bound = Packing(graph, record.costs.pages, hooks, record.limits.deadline).run(self._known())
        return min(bound + self._offset, self._limit)

    def _known(self) -> list[Ints]:
        """The pages of the best order so far that consist of whole chains."""
        assert self._record.tour is not None
        chain_of, n = self._contraction.chain_of, self._record.costs.n
        lengths = np.bincount(chain_of[:n])
        known = []
        for page in pages_of(self._record.tour, n):
            chains = chain_of[page]
            path = chains[np.append(True, chains[1:] != chains[:-1])]
            if lengths[path].sum() == len(page) and np.isfinite(self._graph.cost(path)):
                known.append(path)
        return known

    def _offer(self, paths: list[Ints]) -> None:
        right = self._contraction.right
        pages = [
            np.concatenate([follow(right, int(self._firsts[chain])) for chain in path]) for path in paths
        ]
        self._record.offer(tour_of(pages, self._record.costs.n))
        self._record.report("pages")

    def _report(self, bound: float) -> None:
        self._record.raise_bound(min(bound + self._offset, self._limit))
        self._record.report("pages")
