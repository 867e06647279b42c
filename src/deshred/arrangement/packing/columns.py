"""Chains onto pages of limited width, with proof: whole pages are the columns of a linear program.

Prices of chains come from the pages known so far; the cheapest page at these prices is a path through the
graph of chains, found exactly, and becomes known. When no page costs less than its prices, they are a
bound for all orders. What is left is closed by listing all pages cheap enough to matter, and branching.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import compress

import numpy as np

from deshred.arrangement.packing.graph import PageGraph
from deshred.arrangement.packing.listing import list_pages
from deshred.arrangement.packing.program import PageProgram, page_bound
from deshred.arrangement.problem.deadlines import Deadline
from deshred.arrangement.problem.fixings import Floats, Ints, PageCount
from deshred.arrangement.problem.rules import Mask

_SMOOTHING = 0.8  # prices looked at: so much of the best known, the rest of the LP's
_ROUNDS = 400
_RAISES = 6  # of the penalties, ten times each
_FIRST_SHARE, _GROWTH = 0.25, 4.0  # of the gap that is closed first, and of that from try to try
_LISTED = 200_000  # paths
_NODES, _FEW_NODES = 500, 50  # of branching, for the proof and for a first order
_DEAR = 1000.0  # penalties in branching, where no page is added any more
_INTEGRAL = 1e-6
_HELPFUL = 1e-7


@dataclass(frozen=True)
class PackingHooks:
    """How the packing talks to its owner; costs are those of the graph."""

    cutoff: Callable[[], float]  # orders at or above this do not matter
    offer: Callable[[list[Ints]], None]  # pages that hold each chain once
    report: Callable[[float], None]  # a bound for all orders


@dataclass(frozen=True, eq=False)
class _Prices:
    """Prices of chains, what every page costs above them at least, and what follows for all orders."""

    chains: Floats
    least_surplus: float
    bound: float


class Packing:
    """One problem: all chains of a graph, as many pages as allowed."""

    def __init__(self, graph: PageGraph, pages: PageCount, hooks: PackingHooks, deadline: Deadline) -> None:
        self._graph, self._pages, self._hooks, self._deadline = graph, pages, hooks, deadline
        dearest = [np.abs(some[np.isfinite(some)]).max(initial=0.0) for some in (graph.joins, graph.begins)]
        self._penalty = 1.0 + float(max(dearest))
        self._best = _Prices(np.zeros(len(graph)), -np.inf, -np.inf)

    def run(self, known: list[Ints]) -> float:
        """Offer orders, given some pages to begin with; returns a bound for all, at most the cutoff."""
        self._relax(known)
        root = self._best
        bound, step = root.bound, _FIRST_SHARE * (self._hooks.cutoff() - root.bound)
        while bound < self._hooks.cutoff():
            limit = min(root.bound + step, self._hooks.cutoff())
            paths = list_pages(self._graph, root.chains, root.least_surplus + limit - root.bound, _LISTED)
            if paths is None:
                break
            # an order with a page that is not listed costs at least the limit
            reached = self._branch(paths, limit, _NODES)
            bound = max(bound, reached)
            self._hooks.report(bound)
            if reached < min(limit, self._hooks.cutoff()):
                break
            step *= _GROWTH
        return min(bound, self._hooks.cutoff())

    def _relax(self, known: list[Ints]) -> None:
        """Generate pages until the LP over all of them is solved; the best prices on the way are kept."""
        size = len(self._graph)
        program = PageProgram(size, self._pages, self._penalty, self._deadline)
        program.add_pages(known, [self._graph.cost(path) for path in known])
        self._add_cheapest(program, np.zeros(size + 1), np.zeros(size))
        raises = 0
        for _ in range(_ROUNDS):
            program.solve()
            exact = program.prices
            smooth = _SMOOTHING * self._best.chains + (1 - _SMOOTHING) * exact[:size]
            if self._best.bound >= self._hooks.cutoff():
                return
            if self._add_cheapest(program, exact, smooth) or self._add_cheapest(program, exact, exact[:size]):
                continue
            if program.shortfall < _INTEGRAL or raises == _RAISES:
                break
            raises += 1
            program.set_penalty(self._penalty * 10.0**raises)
        if not self._offer(program):  # the pages known by now may make an order; the bound is not one for all
            known = [path for path in program.paths if self._graph.is_page(path)]
            self._branch(known, np.inf, _FEW_NODES)

    def _add_cheapest(self, program: PageProgram, exact: Floats, prices: Floats) -> int:
        """Add the cheapest pages at some prices as far as they help the LP at its own."""
        priced = self._graph.price(prices)
        least = float(priced.surplus.min())
        bound = page_bound(prices, self._pages, least)
        if bound > self._best.bound:
            self._best = _Prices(prices, least, bound)
            self._hooks.report(bound)
        paths = [priced.path(int(last)) for last in np.flatnonzero(np.isfinite(priced.surplus))]
        costs = [self._graph.cost(path) for path in paths]
        helps = [
            cost - exact[path].sum() - exact[-1] < -_HELPFUL for path, cost in zip(paths, costs, strict=True)
        ]
        return program.add_pages(list(compress(paths, helps)), list(compress(costs, helps)))

    def _offer(self, program: PageProgram) -> bool:
        """Offer the LP's solution if it is one of whole pages."""
        values = program.values
        used = np.flatnonzero(values > _INTEGRAL)
        paths = [program.paths[k] for k in used]
        is_order = program.shortfall < _INTEGRAL and values[used].min(initial=1.0) > 1 - _INTEGRAL
        if is_order and all(map(self._graph.is_page, paths)):
            self._hooks.offer(paths)
            return True
        return False

    def _branch(self, paths: list[Ints], limit: float, node_limit: int) -> float:
        """Branch over listed pages: two chains lie on one page, or on two. A bound for all their orders."""
        graph, size = self._graph, len(self._graph)
        program = PageProgram(size, self._pages, _DEAR * self._penalty, self._deadline)
        program.add_pages(paths, [graph.cost(path) for path in paths])
        member = np.zeros((len(paths), size), bool)
        for row, path in zip(member, paths, strict=True):
            row[path] = True
        heap = [_Node(self._best.bound, 0, np.ones(len(paths), bool))]
        n_nodes, unresolved = 0, np.inf
        while heap:
            node = heapq.heappop(heap)
            if node.bound >= min(limit, self._hooks.cutoff()):
                break  # as are all that are left
            if n_nodes == node_limit:
                unresolved = min(unresolved, node.bound)
                break
            n_nodes += 1
            program.allow(node.allowed)
            program.solve()
            prices = program.prices[:size]
            least = float((program.costs - member @ prices).min(initial=np.inf, where=node.allowed))
            bound = max(node.bound, page_bound(prices, self._pages, least))
            if bound >= min(limit, self._hooks.cutoff()):
                continue
            pair = None if self._offer(program) else _undecided(program.values, member)
            if pair is None:
                unresolved = min(unresolved, bound)
                continue
            first, second = member[:, pair[0]], member[:, pair[1]]
            for number, children in enumerate((first == second, ~(first & second))):
                heapq.heappush(heap, _Node(bound, 2 * n_nodes + number, node.allowed & children))
        reached = min(limit, self._hooks.cutoff())
        return reached if unresolved >= reached else unresolved


@dataclass(order=True)
class _Node:
    bound: float
    number: int
    allowed: Mask = field(compare=False)


def _undecided(values: Floats, member: Mask) -> tuple[int, int] | None:
    """The two chains about which the LP is least sure whether they lie on one page."""
    used = np.flatnonzero(values > _INTEGRAL)
    some = member[used].astype(float)
    together = np.triu(some.T @ (some * values[used, None]), 1)
    doubt = np.minimum(together, 1 - together)
    pair = int(doubt.argmax())
    if doubt.flat[pair] < _INTEGRAL:
        return None
    return pair // len(doubt), pair % len(doubt)
