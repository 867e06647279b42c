"""Costs -> the cheapest order with a proof, or the best found with a bound, whatever the time allows.

The steps: assignment, LP with subtour cuts priced on the full matrix, rounding. What is left is closed
by deepening: all arcs whose reduced cost is at most delta are searched by branch and cut; an order that
uses any other arc costs more than the bound plus delta, so either the best order found is proven, or
the bound rises to bound + delta and delta doubles.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from deshred.arrangement.assignment import assign
from deshred.arrangement.bounds import Duals, Proof, arcs_below, prove, threshold_for
from deshred.arrangement.branching import Search, SearchHooks
from deshred.arrangement.contraction import Contraction, chain_ends, chain_up, contract
from deshred.arrangement.costs import Arcs, Costs, DenseCosts, Floats, PageEnds, ScoreRange
from deshred.arrangement.cuts import Cut, Degrees, Groups, Support, violated
from deshred.arrangement.fixings import Fixings, Ints
from deshred.arrangement.heuristics import (
    LocalSearch,
    Matrix,
    Tour,
    close,
    link,
    pages_of,
    tour_cost,
    tour_of,
)
from deshred.arrangement.program import ArcProgram, TimeUp
from deshred.errors import InfeasibleError

Progress = Callable[[str, int, int], None]
_ROOT_ARCS = 8  # per node, to begin with
_GRACE = 3.0  # seconds
_REPORT_ROUNDS = 10
_ALIKE = 0.01  # gap of the assignment beyond which scores look alike both ways round
_KICKS = 3000
_REPLACED = 100  # neighbors lost to new constraints that are replaced beforehand, not by pricing
_REPLACEMENTS = 20
_GROWTH = 2.0  # of delta from round to round
_FIRST_ARCS = 0.1  # share of n: arcs beyond those the LP uses in the first round
_PATIENCE = 4  # rounds of deepening before a good order is sought for its own sake
_SMALL_PILE = 300  # shreds; below, all arcs at once are no problem
_BRANCHED = 60  # shreds up to which branching is quicker than searching around
_SEARCHED = 6000  # shreds that local search takes on: it needs the full matrix of costs
_SMALL = 3000  # chains that rounding solves exactly


@dataclass(frozen=True)
class Limits:
    """When to stop."""

    tolerance: float = 1e-6
    step: float = 0.0  # all costs are multiples of it; 0 if they are not
    deadline: float = np.inf  # on time.monotonic()
    node_limit: int = 10**9


@dataclass(frozen=True, eq=False)
class Memory:
    """What a solve leaves for the next one over the same scores with other constraints."""

    program: ArcProgram
    shift: Duals
    tour: Tour | None
    delta: float  # how far above the LP bound the optimum lay


@dataclass(frozen=True, eq=False)
class Solution:
    """The best tour and what is known about it."""

    tour: Tour
    cost: float
    bound: float
    proof: Proof | None = None
    forced: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # right neighbors in all orders ...
    forced_limit: float = -np.inf  # ... that cost less than this; -1 where there is none
    memory: Memory | None = None


class ExactSolver:
    """One problem, solved once."""

    def __init__(
        self,
        costs: Costs,
        fixings: Fixings,
        limits: Limits,
        progress: Progress | None = None,
        memory: Memory | None = None,
    ) -> None:
        costs.fix(fixings)
        self._costs, self._limits, self._progress = costs, limits, progress
        self._degrees = Degrees.of(costs.n, costs.pages, costs.hub is not None)
        self._groups = Groups(fixings.together, fixings.apart)
        self._memory = memory
        self._program: ArcProgram | None = None
        self._shift = Duals.zero(costs.n_nodes)
        self._tour: Tour | None = None
        self._upper = np.inf
        self._lower = -np.inf
        self._proof: Proof | None = None
        self._forced = np.full(costs.n_nodes, -1, np.int64)
        self._forced_limit = -np.inf
        self._first_bound = -np.inf  # of the relaxation, before any search
        self._penalty = 4 * costs.spread + 1.0
        # no order costs more, so a bound above it proves that there is none
        self._ceiling = (costs.n + 2 * costs.pages.most + 1) * (costs.spread + 1.0)

    def solve(self) -> Solution:
        """Run all stages that the limits allow."""
        try:
            if self._memory is None:
                self._relax()
            if not self._is_proven:
                self._improve(0)
                self._start_program()
                self._close_root()
                self._first_bound = self._lower
                self._improve(min(_KICKS, 6 * self._costs.n))
            if not self._is_proven:
                self._deepen()
        except TimeUp:
            self._report("time is up")
        if self._tour is None:
            self._rescue()
        if self._proof is None:
            self._prove(Duals.zero(self._costs.n_nodes), ())
        assert self._tour is not None
        assert self._proof is not None
        memory = None
        if self._program is not None:
            delta = max(self._upper - self._first_bound, 0.0) if np.isfinite(self._first_bound) else 0.0
            memory = Memory(self._program, self._shift, self._tour, delta)
        bound = self._lower
        if self._limits.step:
            bound = float(np.ceil((bound - 5e-7) / self._limits.step)) * self._limits.step
        return Solution(
            self._tour,
            self._upper,
            min(bound, self._upper),
            self._proof,
            self._forced,
            self._forced_limit,
            memory,
        )

    @property
    def _cutoff(self) -> float:
        """Orders at or above this are of no use."""
        return self._upper - (self._limits.step - 1e-6 if self._limits.step else self._limits.tolerance / 2)

    @property
    def _is_proven(self) -> bool:
        return self._lower >= self._cutoff

    def _report(self, stage: str) -> None:
        if self._progress is not None:
            gap = self._upper - self._lower
            known = np.isfinite(self._lower)
            text = (
                f"{stage}: cost {self._upper:.6g}, bound {self._lower:.6g}, gap {gap:.3g}" if known else stage
            )
            done = (
                0 if not np.isfinite(gap) else round(1000 * (1 - min(1.0, gap / max(abs(self._upper), 1e-9))))
            )
            self._progress(text, done, 1000)

    def _check_time(self) -> None:
        if time.monotonic() > self._limits.deadline:
            raise TimeUp

    def _offer(self, tour: Tour | None) -> float:
        """Keep the tour if it is the best so far and obeys the groups; returns its cost."""
        if tour is None:
            return np.inf
        cost = tour_cost(self._costs, tour)
        if (
            not np.isfinite(cost)
            or not self._costs.pages.least <= len(tour) - self._costs.n <= self._costs.pages.most
        ):
            return np.inf
        if self._groups and not self._groups.allow(self._page_of(tour)):
            return np.inf
        if cost < self._upper - 1e-12:
            self._upper, self._tour = cost, tour.copy()
        return cost

    def _page_of(self, tour: Tour) -> Ints:
        page_of = np.empty(self._costs.n, np.int64)
        pages = pages_of(tour, self._costs.n)
        if any(len(page) == 0 for page in pages):
            return np.full(self._costs.n, 0)
        for k, page in enumerate(pages):
            page_of[page] = k
        return page_of

    def _likely_pages(self) -> int:
        """A number of pages to begin with where it is open."""
        pages = self._costs.pages
        if pages.is_fixed:
            return pages.least
        guess = round(self._costs.n / 23)
        return int(np.clip(guess, pages.least, pages.most))

    # -- the root

    def _relax(self) -> None:
        n_pages = self._likely_pages()
        assignment = assign(self._costs, n_pages)
        self._offer(close(self._costs, assignment.right, n_pages))
        duals = Duals(assignment.out_duals, assignment.in_duals, np.zeros(0))
        self._shift = duals.of_shreds(self._costs.n)
        self._prove(duals, ())
        self._report("assignment")

    def _prove(self, duals: Duals, cuts: tuple[Cut, ...]) -> Arcs:
        """Turn duals into a bound; returns the arcs that weaken it."""
        proof, weak = prove(self._costs, self._degrees, duals, cuts)
        if self._proof is None or proof.bound > self._proof.bound:
            self._proof = proof
        self._lower = max(self._lower, min(proof.bound, self._upper))
        return weak

    def _start_program(self) -> None:
        if self._memory is not None:
            self._resume(self._memory)
            return
        costs, proof = self._costs, self._proof
        assert proof is not None
        if costs.hub is not None:
            threshold = float(np.finfo(float).max)  # the candidates are few: take them all
        else:
            threshold = min(threshold_for(costs, proof.duals, _ROOT_ARCS), self._upper - proof.bound)
        arcs = arcs_below(self._costs, proof, max(threshold, 1e-9))
        most = 30 * costs.n_nodes
        if len(arcs) > most:
            arcs = arcs.take(np.argpartition(arcs.reduced, most)[:most])
        self._program = ArcProgram(self._degrees, self._penalty, self._limits.deadline)
        self._add_arcs(arcs.tails, arcs.heads)
        if self._tour is not None:
            self._add_tour(self._tour)

    def _resume(self, memory: Memory) -> None:
        """Carry on with the LP of an earlier solve: other bounds, same rows."""
        self._program, self._shift = memory.program, memory.shift
        program = self._program
        program.deadline = self._limits.deadline
        program.drop_conditional_cuts()
        possible = np.isfinite(self._costs.at(program.tails, program.heads))
        program.set_upper(possible.astype(float))
        fixings = self._costs.fixings
        assert fixings is not None
        self._add_arcs(fixings.required[:, 0], fixings.required[:, 1])
        program.set_penalty(self._penalty)
        if memory.tour is not None:
            self._replace_lost(memory.tour, self._still_valid(memory.tour))

    def _replace_lost(self, tour: Tour, right: Ints) -> None:
        """Give shreds that lost a neighbor of the old tour their next best ones, and close the tour again."""
        n = self._costs.n
        lost = np.flatnonzero((right < 0) & (tour[:n] < n))
        lost_right = tour[lost]
        for i in lost.tolist()[:_REPLACED]:
            self._add_cheapest(np.full(n + 1, i), np.arange(n + 1), self._costs.row(i))
        for j in lost_right.tolist()[:_REPLACED]:
            self._add_cheapest(np.arange(n + 1), np.full(n + 1, j), self._costs.column(j))
        self._offer(close(self._costs, right, len(tour) - n))
        if self._tour is not None:
            self._add_tour(self._tour)

    def _add_cheapest(self, tails: Ints, heads: Ints, costs: Floats) -> None:
        reduced = costs - self._shift.out[tails] - self._shift.into[heads]
        if self._costs.hub is not None:
            reduced[(costs >= self._costs.dearest) & (tails < self._costs.n) & (heads < self._costs.n)] = (
                np.inf
            )
        best = np.argsort(reduced, kind="stable")[:_REPLACEMENTS]
        self._add_arcs(tails[best], heads[best])

    def _still_valid(self, tour: Tour) -> Ints:
        """The joins of an old tour that the constraints allow, with those they require."""
        n, fixings = self._costs.n, self._costs.fixings
        assert fixings is not None
        right = np.where(tour[:n] < n, tour[:n], -1)
        right[~np.isfinite(self._costs.at(np.arange(n), np.where(right < 0, np.arange(n), right)))] = -1
        right[fixings.required[:, 0]] = fixings.required[:, 1]
        return right

    def _shifted(self, tails: Ints, heads: Ints) -> Floats:
        """Costs minus the first duals: small numbers, which the LP likes."""
        return self._costs.at(tails, heads) - self._shift.out[tails] - self._shift.into[heads]

    def _add_arcs(self, tails: Ints, heads: Ints) -> int:
        program, width = self._program, self._costs.n_nodes
        assert program is not None
        keys = np.setdiff1d(tails * width + heads, program.tails * width + program.heads)
        tails, heads = np.divmod(keys, width)
        shifted = self._shifted(tails, heads)
        possible = np.isfinite(shifted)
        program.add_arcs(tails[possible], heads[possible], shifted[possible])
        return int(possible.sum())

    def _add_tour(self, tour: Tour) -> None:
        tails = np.minimum(np.arange(len(tour)), self._costs.n)
        heads = np.minimum(tour, self._costs.n)
        if self._costs.hub is not None:
            listed = self._costs.at(tails, heads) < self._costs.dearest
            tails, heads = tails[listed], heads[listed]
        self._add_arcs(tails, heads)

    def _close_root(self) -> None:
        """Cut and price until the LP over all arcs is solved."""
        program, width = self._program, self._costs.n_nodes
        assert program is not None
        rounds = 0
        while True:
            self._check_time()
            rounds += 1
            program.solve()
            support = program.support
            duals = program.duals
            full = Duals(duals.out + self._shift.out, duals.into + self._shift.into, duals.cuts)
            cuts = tuple(program.cuts)
            if program.add_cuts(violated(support, self._degrees, self._groups)):
                if rounds % _REPORT_ROUNDS == 0:  # a bound to show for it if time runs out
                    self._prove(full, cuts)
                    self._report("relaxation")
                continue
            weak = self._prove(full, cuts)
            self._link(support)
            self._report("relaxation")
            present = np.isin(weak.tails * width + weak.heads, program.tails * width + program.heads)
            new = weak.take(~present & (weak.reduced < -1e-9))
            if self._is_proven:
                return
            if not len(new):
                if program.shortfall > 1e-6:
                    self._raise_penalty(program)
                    continue
                return
            order = np.lexsort((new.reduced, new.tails))
            tails, heads = new.tails[order], new.heads[order]
            rank = np.arange(len(tails)) - np.searchsorted(tails, tails)
            self._add_arcs(tails[rank < 5], heads[rank < 5])

    def _raise_penalty(self, program: ArcProgram) -> None:
        """No arc left to add and yet nodes uncovered: dearer penalties, up to the proof that it cannot be."""
        if self._lower > self._ceiling:
            raise InfeasibleError("no order obeys all constraints.")
        self._penalty *= 10
        program.set_penalty(self._penalty)

    def _link(self, support: Support) -> None:
        n_pages = self._n_pages(support)
        self._offer(link(self._costs, support, n_pages))

    def _n_pages(self, support: Support) -> int:
        pages = self._costs.pages
        used = float(support.values[support.tails == self._costs.depot].sum())
        return int(np.clip(round(used), pages.least, pages.most))

    # -- rounding

    def _round(self) -> None:
        """Keep what the LP is sure of as chains and solve the small rest exactly."""
        program, n = self._program, self._costs.n
        assert program is not None
        values = program.values
        sure = (values > 1 - 1e-6) & (program.tails < n) & (program.heads < n)
        chains = chain_up(self._costs, program.tails[sure], program.heads[sure])
        size = chains.n_chains
        if not 3 <= size <= min(_SMALL, 0.6 * n):
            return
        tour = self._solve_chains(chains)
        if tour is not None:
            self._offer(tour)
        self._report("rounding")

    def _solve_chains(self, chains: Contraction) -> Tour | None:
        costs, size = self._costs, chains.n_chains
        firsts, lasts = chain_ends(chains)
        groups = self._groups.mapped(chains.chain_of)
        if any(len(np.unique(group)) < len(group) for group in groups.apart):
            return None
        joins = costs.at(np.repeat(lasts, size), np.tile(firsts, size)).reshape(size, size)
        outside = np.full(size, costs.depot)
        ends = PageEnds(costs.at(outside, firsts), costs.at(lasts, outside))
        np.fill_diagonal(joins, np.inf)
        dearest = float(joins.max(initial=0.0, where=np.isfinite(joins)))
        small = DenseCosts(-joins, ends, costs.pages, ScoreRange(0.0, -dearest))
        none = np.zeros((0, 2), np.int64)
        free = np.full(size, -1, np.int64)
        fixings = Fixings(
            none, none, free, free, tuple(g for g in groups.together if len(g) > 1), groups.apart
        )
        limits = replace(self._limits, node_limit=100)
        if np.isfinite(limits.deadline):
            limits = replace(limits, deadline=0.7 * time.monotonic() + 0.3 * limits.deadline)
        if costs.pages.most > size and not costs.pages.is_fixed:
            small.pages = replace(costs.pages, most=max(costs.pages.least, size))
        try:
            solution = ExactSolver(small, fixings, limits).solve()
        except InfeasibleError:
            return None
        pages = []
        for page in pages_of(solution.tour, size):
            shreds = []
            for chain in page.tolist():
                at = int(firsts[chain])
                while at >= 0:
                    shreds.append(at)
                    at = int(chains.right[at])
            pages.append(np.array(shreds, np.int64))
        return tour_of(pages, costs.n)

    def _improve(self, n_kicks: int) -> None:
        """Local search where the bound is far below: scores that look alike both ways round."""
        if self._tour is None or self._groups or not isinstance(self._costs, DenseCosts):
            return
        if not _BRANCHED < self._costs.n <= _SEARCHED or self._upper - self._lower < _ALIKE * abs(
            self._upper
        ):
            return
        search = LocalSearch(Matrix.of(self._costs), self._tour, self._costs.n)
        search.run(self._limits.deadline)
        if n_kicks:
            # kicks must leave time for the proof
            half = min(self._limits.deadline, (time.monotonic() + self._limits.deadline) / 2)
            search.shake(n_kicks, half)
        self._offer(search.tour)
        self._report("local search")

    # -- the proof

    def _deepen(self, *, until_any: bool = False) -> None:
        program = self._program
        assert program is not None
        if not np.isfinite(self._upper) and self._costs.n <= _SMALL_PILE:
            self._seek_any_order()
        delta, rounds = 0.0, 0
        while not (self._is_proven or (until_any and self._tour is not None)):
            self._check_time()
            rounds += 1
            if rounds == _PATIENCE:
                self._round()
            proof = self._proof
            assert proof is not None
            gap = self._upper - proof.bound
            delta = min(gap, _GROWTH * delta if delta else self._first_delta(proof))
            arcs = arcs_below(self._costs, proof, delta + 1e-9)
            limit = proof.bound + delta
            new_cuts = self._search(contract(self._costs, arcs), proof, limit)
            if self._lower > self._ceiling:
                raise InfeasibleError("no order obeys all constraints.")
            if program.add_cuts(new_cuts):
                self._close_root()

    def _seek_any_order(self) -> None:
        """Nothing so far obeys all constraints: find an order at any cost, or prove that there is none."""
        costs = self._costs
        none = Duals.zero(costs.n_nodes)
        arcs = costs.arcs_below(none.out, none.into, np.finfo(float).max)
        contraction = contract(costs, Arcs(arcs.tails, arcs.heads, np.zeros(len(arcs))))
        degrees = Degrees.of(contraction.n_chains, costs.pages, costs.hub is not None)
        program = ArcProgram(degrees, 1.0, self._limits.deadline)
        program.add_arcs(contraction.tails, contraction.heads, np.zeros(len(contraction.tails)))

        def offer(support: Support) -> float:
            return 0.0 if np.isfinite(self._offer(self._expand(contraction, support))) else np.inf

        hooks = SearchHooks(
            cutoff=lambda: -1.0 if np.isfinite(self._upper) else 1e-6,
            offer=offer,
            suggest=self._link,
            report=lambda _: self._report("looking for any order"),
        )
        groups = self._groups.mapped(contraction.chain_of)
        limits = self._limits
        search = Search(
            contraction,
            program,
            0.0,
            groups,
            hooks,
            root_bound=0.0,
            node_limit=limits.node_limit,
            deadline=limits.deadline,
        )
        result = search.run()
        if not np.isfinite(self._upper):
            if result.is_complete:
                raise InfeasibleError("no order obeys all constraints.")
            raise TimeUp

    def _first_delta(self, proof: Proof) -> float:
        """Admits a few percent more arcs than the LP has at zero; or what the last solve needed and a bit."""
        n = self._costs.n
        if self._memory is not None:
            return max(1.2 * self._memory.delta, 10 * self._limits.tolerance, self._limits.step)
        threshold = min(self._upper - proof.bound, threshold_for(self._costs, proof.duals, 2.0))
        reduced = np.sort(arcs_below(self._costs, proof, threshold + 1e-9).reduced)
        if not len(reduced):
            return 10 * self._limits.tolerance
        wanted = int((reduced <= 1e-9).sum()) + max(20, int(_FIRST_ARCS * n))
        delta = float(reduced[min(len(reduced) - 1, wanted)])
        return max(delta, 10 * self._limits.tolerance, self._limits.step)

    def _search(self, contraction: Contraction, proof: Proof, limit: float) -> list[Cut]:
        """Branch and cut below the limit; raises the bound, returns the cuts it found."""
        costs = self._costs
        degrees = Degrees.of(contraction.n_chains, costs.pages, costs.hub is not None)
        program = ArcProgram(degrees, self._penalty + 10 * (limit - proof.bound), self._limits.deadline)
        shift = proof.duals.of_shreds(costs.n)
        arcs = contraction.original
        shifted = contraction.costs - shift.out[arcs.tails] - shift.into[arcs.heads]
        firsts, lasts = chain_ends(contraction)
        offset = contraction.base + float(shift.out[lasts].sum() + shift.into[firsts].sum())
        program.add_arcs(contraction.tails, contraction.heads, shifted)
        program.add_cuts(_inherited(proof, contraction, degrees))
        n_inherited = len(program.cuts)

        def cutoff() -> float:
            return min(self._cutoff, limit + 1e-9)

        def offer(support: Support) -> float:
            cost = self._offer(self._expand(contraction, support))
            self._report("search")
            return cost

        def suggest(support: Support) -> None:
            inside = np.flatnonzero(contraction.right >= 0)
            tails, heads = (
                np.append(inside, support.tails),
                np.append(contraction.right[inside], support.heads),
            )
            values = np.append(np.full(len(inside), 2.0), support.values)
            self._link(Support(tails, heads, values))

        def report(bound: float) -> None:
            self._lower = max(self._lower, min(bound, limit, self._upper))
            self._report("search")

        search = Search(
            contraction,
            program,
            offset,
            self._groups.mapped(contraction.chain_of),
            SearchHooks(cutoff, offer, suggest, report),
            root_bound=proof.bound,
            node_limit=self._limits.node_limit,
            deadline=self._limits.deadline,
        )
        result = search.run()
        self._lower = max(self._lower, min(result.bound, limit, self._upper))
        if not result.is_complete:
            raise TimeUp
        self._forced, self._forced_limit = contraction.right, limit
        return [_lifted(cut, contraction) for cut in program.cuts[n_inherited:]]

    def _expand(self, contraction: Contraction, support: Support) -> Tour | None:
        """An order over chains as an order over shreds."""
        n = self._costs.n
        right = contraction.right[:n].copy()
        inner = (support.tails < n) & (support.heads < n) & (support.values > 0.5)
        right[support.tails[inner]] = support.heads[inner]
        if self._costs.hub is not None:
            return close(self._costs, right, self._n_pages(support))
        firsts = support.heads[(support.tails == n) & (support.values > 0.5)]
        pages = []
        for first in firsts.tolist():
            page, at = [], first
            while at >= 0:
                page.append(at)
                at = int(right[at])
            pages.append(np.array(page, np.int64))
        if sum(map(len, pages)) != n:
            return None
        return tour_of(pages, n)

    def _rescue(self) -> None:
        """Time ran out before any order was found: a few seconds more for one."""
        deadline = time.monotonic() + _GRACE
        self._limits = replace(self._limits, deadline=deadline)
        try:
            if self._costs.n <= _SMALL_PILE:
                self._seek_any_order()
            else:
                if self._program is None:
                    self._start_program()
                assert self._program is not None
                self._program.deadline = deadline
                self._close_root()
                self._deepen(until_any=True)
        except TimeUp:
            raise InfeasibleError(
                "no order that obeys all constraints was found within the time limit; allow more time."
            ) from None


def _inherited(proof: Proof, contraction: Contraction, degrees: Degrees) -> list[Cut]:
    """Cuts of the root that are sets of whole chains."""
    cuts = []
    sizes = np.bincount(contraction.chain_of, minlength=degrees.n_nodes)
    for k in np.flatnonzero(proof.duals.cuts < 0):
        cut = proof.cuts[k]
        chains = np.unique(contraction.chain_of[cut.members])
        if sizes[chains].sum() == len(cut.members) and 2 <= len(chains) < degrees.n_nodes - 1:
            cuts.append(replace(cut, members=chains))
    return cuts


def _lifted(cut: Cut, contraction: Contraction) -> Cut:
    """A cut over chains as one over nodes."""
    return replace(cut, members=np.flatnonzero(np.isin(contraction.chain_of, cut.members)))
