"""Branch and cut over the chains of a contraction: proves that no order over its arcs is cheaper than
the cutoff, or finds the cheapest.

Best bound first, each time diving to the better child; the arc to branch on is chosen by a few simplex
steps either way (reliability branching). A node is only given up on a bound recomputed from the duals.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from deshred.arrangement.problem.deadlines import Deadline
from deshred.arrangement.problem.fixings import Floats, Ints
from deshred.arrangement.problem.rules import PageRules
from deshred.arrangement.proof.contraction import Contraction
from deshred.arrangement.proof.cuts import Support, violated
from deshred.arrangement.proof.program import ArcProgram, Basis, TimeUp

_INTEGRAL = 1e-6
_PROBE_STEPS = 40
_PROBE_ARCS = 10
_RELIABLE = 1  # probes of an arc either way, after which what they gained is believed
_SUGGESTED = 200  # nodes from one fractional solution that is rounded to the next
_PATIENCE = 4


@dataclass(frozen=True)
class SearchResult:
    """What a search proves: no order over its arcs is cheaper than the bound."""

    bound: float
    is_complete: bool
    n_nodes: int


@dataclass(order=True)
class _Node:
    estimate: float
    negative_depth: int
    number: int
    bound: float = field(compare=False)
    choices: tuple[tuple[int, bool], ...] = field(compare=False, default=())
    basis: Basis | None = field(compare=False, default=None)


@dataclass(frozen=True)
class SearchHooks:
    """How the search talks to its owner."""

    cutoff: Callable[[], float]  # nodes at or above this do not matter
    offer: Callable[[Support], float]  # an order over chains; returns what it costs
    suggest: Callable[[Support], None]  # a fractional solution worth rounding
    report: Callable[[float], None]  # the bound so far


class Search:
    """One branch and cut."""

    def __init__(
        self,
        contraction: Contraction,
        program: ArcProgram,
        offset: float,
        rules: PageRules,
        hooks: SearchHooks,
        *,
        root_bound: float,
        node_limit: int,
        deadline: Deadline,
    ) -> None:
        self._contraction, self._program, self._offset = contraction, program, offset
        self._rules, self._hooks = rules, hooks
        self._root_bound, self._node_limit, self._deadline = root_bound, node_limit, deadline
        self._heap: list[_Node] = []
        self._n_nodes = 0
        self._n_pushed = 0
        self._unresolved = np.inf
        size = len(contraction.tails)
        self._gain = np.zeros((2, size))  # pseudo-costs: objective per unit of rounding, down and up
        self._tried = np.zeros((2, size))

    def run(self) -> SearchResult:
        """Search until all nodes are closed, or the clock or the number of nodes runs out."""
        self._push(-np.inf, self._root_bound, ())
        bound = self._root_bound
        try:
            while self._heap:
                node = heapq.heappop(self._heap)
                if node.bound < self._hooks.cutoff():
                    self._dive(node)
                bound = max(bound, min((n.bound for n in self._heap), default=np.inf))
                self._hooks.report(min(bound, self._hooks.cutoff(), self._unresolved))
        except TimeUp:
            open_bounds = [n.bound for n in self._heap] + [self._unresolved]
            return SearchResult(min(open_bounds), False, self._n_nodes)
        bound = min(self._hooks.cutoff(), self._unresolved)
        return SearchResult(bound, self._unresolved == np.inf, self._n_nodes)

    def _push(
        self, estimate: float, bound: float, choices: tuple[tuple[int, bool], ...], basis: Basis | None = None
    ) -> None:
        self._n_pushed += 1
        heapq.heappush(self._heap, _Node(estimate, -len(choices), self._n_pushed, bound, choices, basis))

    def _dive(self, node: _Node) -> None:
        choices, floor = node.choices, node.bound
        if node.basis is not None:
            self._program.restore(node.basis)
        while True:
            self._n_nodes += 1
            if self._n_nodes > self._node_limit or self._deadline.is_past:
                self._push(floor, floor, choices)
                raise TimeUp
            self._bound_arcs(choices)
            try:
                bound = max(floor, self._solve())
            except TimeUp:
                self._push(floor, floor, choices)
                raise
            if bound >= self._hooks.cutoff():
                return
            values = self._program.values
            fractional = np.flatnonzero((values > _INTEGRAL) & (values < 1 - _INTEGRAL))
            if not len(fractional):
                self._accept(bound)
                return
            if self._n_nodes % _SUGGESTED == 0:
                self._hooks.suggest(self._original_support())
            objective = self._program.objective + self._offset
            try:
                arc, up_first, estimates = self._choose(values, fractional, choices, objective)
            except TimeUp:
                self._push(bound, bound, choices)
                raise
            first, second = ((arc, up_first),), ((arc, not up_first),)
            basis = self._program.basis()
            self._push(estimates[int(not up_first)], bound, choices + second, basis)
            choices, floor = choices + first, bound
            best = self._heap[0].estimate
            if estimates[int(up_first)] > best + 0.5 * (self._hooks.cutoff() - best):
                self._push(estimates[int(up_first)], floor, choices, basis)
                return

    def _bound_arcs(self, choices: tuple[tuple[int, bool], ...]) -> None:
        """An arc chosen is one whose rivals are ruled out: so the LP stays feasible, penalties included."""
        contraction = self._contraction
        slack = self._hooks.cutoff() - self._root_bound
        upper = (contraction.original.reduced <= slack + 1e-9).astype(float)
        for arc, chosen in choices:
            if not chosen:
                upper[arc] = 0.0
                continue
            kept = upper[arc]
            tail, head = contraction.tails[arc], contraction.heads[arc]
            if tail < contraction.n_chains:
                upper[contraction.tails == tail] = 0.0
            if head < contraction.n_chains:
                upper[contraction.heads == head] = 0.0
            upper[arc] = kept
        self._program.set_upper(upper)

    def _solve(self) -> float:
        """Solve with cuts until none is violated; a safe bound, infinite where penalties remain."""
        program = self._program
        while True:
            program.solve()
            if program.objective + self._offset >= self._hooks.cutoff() - 1e-7:
                safe = program.safe_bound() + self._offset
                if safe >= self._hooks.cutoff():
                    return safe
            # minimum cuts pay at the first node, whose cuts all others inherit
            quickly = self._n_nodes > 1
            cuts = violated(program.support, program.degrees, self._rules, quickly=quickly)
            if not program.add_cuts(cuts):
                return program.safe_bound() + self._offset

    def _accept(self, bound: float) -> None:
        """An integral solution: an order, unless penalties fill a gap in it."""
        if self._program.shortfall > 0.5 or not self._is_an_order(bound):
            self._unresolved = min(self._unresolved, bound)

    def _is_an_order(self, bound: float) -> bool:
        cost = self._hooks.offer(self._original_support())
        return cost <= bound + max(1e-6, 1e-9 * abs(bound))

    def _original_support(self) -> Support:
        values = self._program.values
        used = np.flatnonzero(values > _INTEGRAL)
        arcs = self._contraction.original
        return Support(arcs.tails[used], arcs.heads[used], values[used])

    def _choose(
        self, values: Floats, fractional: Ints, choices: tuple[tuple[int, bool], ...], objective: float
    ) -> tuple[int, bool, tuple[float, float]]:
        """The arc to branch on, which way to dive, and the estimates of both children."""
        program = self._program
        parts = np.stack([values[fractional], 1 - values[fractional]])
        known = self._tried.sum(axis=1)
        if known.min() > 2:
            mean = self._gain.sum(axis=1) / known
            tried = self._tried[:, fractional]
            rate = np.where(tried > 0, self._gain[:, fractional] / np.maximum(tried, 1), mean[:, None])
            promise = np.maximum(rate * parts, 1e-9).prod(axis=0)
        else:
            promise = parts.min(axis=0)
        best_score, best_arc, best_estimates, misses = -1.0, -1, (objective, objective), 0
        basis = program.basis()
        for arc in fractional[np.argsort(-promise, kind="stable")[:_PROBE_ARCS]].tolist():
            estimates = tuple(
                self._estimate(arc, chosen, float(values[arc]), objective, choices, basis)
                for chosen in (False, True)
            )
            score = float(np.prod([max(e - objective, 1e-9) for e in estimates]))
            if score > best_score:
                best_score, best_arc, best_estimates, misses = score, arc, (estimates[0], estimates[1]), 0
            else:
                misses += 1
            if misses >= _PATIENCE or max(estimates) >= self._hooks.cutoff():
                break
        self._bound_arcs(choices)
        program.restore(basis)
        return best_arc, best_estimates[1] <= best_estimates[0], best_estimates

    def _estimate(
        self,
        arc: int,
        chosen: bool,
        value: float,
        objective: float,
        choices: tuple[tuple[int, bool], ...],
        basis: Basis,
    ) -> float:
        way, part = int(chosen), (1 - value if chosen else value)
        if self._tried[way, arc] >= _RELIABLE:
            return float(objective + self._gain[way, arc] / self._tried[way, arc] * part)
        self._bound_arcs((*choices, (arc, chosen)))
        reached = self._program.probe(_PROBE_STEPS)
        self._bound_arcs(choices)
        self._program.restore(basis)
        if reached is None:
            return objective
        estimate = max(objective, reached + self._offset)
        self._gain[way, arc] += (estimate - objective) / max(part, 1e-6)
        self._tried[way, arc] += 1
        return float(estimate)
