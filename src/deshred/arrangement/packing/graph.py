"""Chains of shreds as a graph, and the cheapest pages in it where every chain on a page earns a price.

A page is a path through some chains that together are no wider than the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deshred.arrangement.problem.fixings import Floats, Ints
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.proof.contraction import Contraction

_UNITS = 200  # that the width of a page is counted in, at least
_MOST_UNITS = 1500
_BLOCK = 1 << 18  # entries looked at in one go


@dataclass(frozen=True, eq=False)
class PageGraph:
    """Chains, what it costs to join them, and to begin and end a page with them."""

    joins: Floats  # (m, m): inf where two do not join
    begins: Floats  # (m,)
    ends: Floats  # (m,)
    room: Room  # of m chains

    @staticmethod
    def of(contraction: Contraction, costs: Floats, room: Room) -> PageGraph:
        """The graph over the chains of a contraction, at the given costs of its arcs; room is for shreds."""
        size = contraction.n_chains
        full = np.full((size + 1, size + 1), np.inf)
        full[contraction.tails, contraction.heads] = costs
        joins = np.ascontiguousarray(full[:size, :size])
        widths = room.widths_of(contraction.chain_of)[:size]
        return PageGraph(joins, full[size, :size], full[:size, size], Room(widths, room.most))

    def __len__(self) -> int:
        return len(self.begins)

    @property
    def is_countable(self) -> bool:
        """Whether widths can be counted in not too many units."""
        return float(self.room.widths.min()) * _MOST_UNITS > self.room.most

    @cached_property
    def _unit(self) -> float:
        return min(self.room.most / _UNITS, float(self.room.widths.min()))  # no chain counts as nothing

    @cached_property
    def units(self) -> Ints:
        """Widths in whole units, rounded down: pages a little too wide may pass, which only lowers bounds."""
        return self.count(self.room.widths)

    @cached_property
    def most_units(self) -> int:
        return int(self.count(np.array([self.room.most]))[0])

    def count(self, widths: Floats) -> Ints:
        """How many whole units fit into each width."""
        counted: Ints = np.floor(widths / self._unit + 1e-9).astype(np.int64)
        return counted

    def cost(self, path: Ints) -> float:
        """What a page costs."""
        inner = self.joins[path[:-1], path[1:]].sum()
        return float(self.begins[path[0]] + inner + self.ends[path[-1]])

    def is_page(self, path: Ints) -> bool:
        """Whether a path visits no chain twice and fits on the paper."""
        return len(np.unique(path)) == len(path) and float(self.room.widths[path].sum()) <= self.room.most

    def price(self, prices: Floats) -> PricedPages:
        """The cheapest pages where every chain on them earns its price."""
        return PricedPages(self, prices, self._reach(self.joins, self.begins, prices))

    def completions(self, prices: Floats) -> Floats:
        """(units + 1, m): the cheapest way to end a page after a chain with so many units left."""
        back = self._reach(np.ascontiguousarray(self.joins.T), self.ends, prices)  # the chain included
        rest = np.full(back.shape, np.inf)
        for chain, units in enumerate(self.units.tolist()):
            rest[: len(rest) - units, chain] = back[units:, chain] + prices[chain]
        return rest

    def _reach(self, joins: Floats, begins: Floats, prices: Floats) -> Floats:
        """(units + 1, m): the cheapest path that ends in a chain within so many units.

        Paths may visit a chain again: that only makes them cheaper.
        """
        size, units = len(self), self.units
        pad = int(units.max())
        best = np.full((pad + self.most_units + 1, size), np.inf)
        into = np.ascontiguousarray(joins.T)  # (head, tail)
        step = int(max(1, min(units.min(), _BLOCK // (size * size))))  # no path within a step goes on
        for start in range(0, self.most_units + 1, step):
            rows = np.arange(start, min(start + step, self.most_units + 1))
            through = best[rows[:, None] - units + pad]  # (rows, head, tail)
            through += into
            found = np.where(rows[:, None] >= units, begins, np.inf)
            np.minimum(found, through.min(axis=2), out=found)
            best[rows + pad] = found - prices
        return best[pad:]


@dataclass(frozen=True, eq=False)
class PricedPages:
    """The cheapest pages at given prices, for each chain that may be their last."""

    graph: PageGraph
    prices: Floats
    reach: Floats

    @cached_property
    def surplus(self) -> Floats:
        """(m,): what the cheapest page that ends in a chain costs above its prices."""
        surplus: Floats = self.reach[-1] + self.graph.ends
        return surplus

    def path(self, last: int) -> Ints:
        """The cheapest page that ends in a chain."""
        graph, left, path = self.graph, self.graph.most_units, [last]
        while True:
            head = path[-1]
            left -= int(graph.units[head])
            through = self.reach[left] + graph.joins[:, head]
            tail = int(through.argmin())
            if graph.begins[head] <= through[tail]:
                return np.array(path[::-1], np.int64)
            path.append(tail)
