"""All pages that are cheap enough at given prices, found by growing paths chain by chain.

A path is kept only while some way to end it is cheap enough; ways that repeat a chain count, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deshred.arrangement.packing.graph import PageGraph
from deshred.arrangement.problem.fixings import Floats, Ints

_BLOCK = 1 << 18  # entries looked at in one go
_WORD = 63  # chains per integer of a set


def list_pages(graph: PageGraph, prices: Floats, most: float, limit: int) -> list[Ints] | None:
    """All pages that cost at most so much above their prices; None if that takes more paths than the limit.

    Of pages over the same chains only the cheapest is listed.
    """
    listing = _Listing(graph, prices, most)
    paths, n_paths = listing.first(), 0
    found: list[_Paths] = []
    while len(paths):
        n_paths += len(paths)
        if n_paths > limit:
            return None
        found.append(listing.ended(paths))
        longer = []
        step = max(1, _BLOCK // len(graph))
        for at in range(0, len(paths), step):
            longer.append(listing.extended(paths.take(np.arange(at, min(at + step, len(paths))))))
            if sum(map(len, longer)) > limit:
                return None
        paths = _Paths.joined(longer).cheapest(with_last=True)
    return [path for some in found for path in some.cheapest(with_last=False).chains]


@dataclass(frozen=True, eq=False)
class _Paths:
    """Paths of one length that begin a page."""

    chains: Ints  # (k, length)
    widths: Floats  # (k,)
    costs: Floats  # (k,): less the prices of their chains
    members: Ints  # (k, words): their chains as bits

    def __len__(self) -> int:
        return len(self.chains)

    @property
    def last(self) -> Ints:
        last: Ints = self.chains[:, -1]
        return last

    def take(self, chosen: Ints | NDArray[np.bool_]) -> _Paths:
        return _Paths(self.chains[chosen], self.widths[chosen], self.costs[chosen], self.members[chosen])

    @staticmethod
    def joined(parts: list[_Paths]) -> _Paths:
        return _Paths(
            np.concatenate([part.chains for part in parts]),
            np.concatenate([part.widths for part in parts]),
            np.concatenate([part.costs for part in parts]),
            np.concatenate([part.members for part in parts]),
        )

    def cheapest(self, *, with_last: bool) -> _Paths:
        """Of paths over the same chains (with the same last one) the cheapest, which can replace the rest."""
        if not len(self):
            return self
        sets = np.column_stack([self.members, self.last]) if with_last else self.members
        order = np.lexsort((self.costs, *sets.T))
        is_new = np.append(True, (sets[order[1:]] != sets[order[:-1]]).any(axis=1))
        return self.take(order[is_new])


class _Listing:
    """What paths are measured by."""

    def __init__(self, graph: PageGraph, prices: Floats, most: float) -> None:
        self._graph, self._prices, self._most = graph, prices, most
        self._rest = graph.completions(prices)
        self._least_rest = self._rest.min(axis=0)  # whatever the width left
        chains = np.arange(len(graph))
        self._bits = np.zeros((len(graph), len(graph) // _WORD + 1), np.int64)
        self._bits[chains, chains // _WORD] = np.int64(1) << (chains % _WORD)

    def first(self) -> _Paths:
        """Single chains."""
        graph = self._graph
        chains = np.flatnonzero(np.isfinite(graph.begins))
        costs = (graph.begins - self._prices)[chains]
        return self._promising(_Paths(chains[:, None], graph.room.widths[chains], costs, self._bits[chains]))

    def extended(self, paths: _Paths) -> _Paths:
        """All with one chain more."""
        graph = self._graph
        costs = paths.costs[:, None] + graph.joins[paths.last] - self._prices
        row, head = np.nonzero(costs + self._least_rest <= self._most)
        members, bits = paths.members[row], self._bits[head]
        longer = _Paths(
            np.column_stack([paths.chains[row], head]),
            paths.widths[row] + graph.room.widths[head],
            costs[row, head],
            members | bits,
        )
        return self._promising(longer.take(np.flatnonzero(~(members & bits).any(axis=1))))

    def _promising(self, paths: _Paths) -> _Paths:
        graph = self._graph
        paths = paths.take(paths.widths <= graph.room.most)
        left = graph.count(graph.room.most - paths.widths)
        return paths.take(paths.costs + self._rest[left, paths.last] <= self._most)

    def ended(self, paths: _Paths) -> _Paths:
        """Those that are cheap enough as whole pages."""
        ended = replace(paths, costs=paths.costs + self._graph.ends[paths.last])
        return ended.take(ended.costs <= self._most)
