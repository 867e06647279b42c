"""The root of a solve: the LP over all orders, with cuts, priced on the full matrix.

It starts from the assignment, or carries on with the LP of an earlier solve under other constraints.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deshred.arrangement.heuristics import Tour, close, link
from deshred.arrangement.problem.deadlines import Deadline
from deshred.arrangement.problem.fixings import Floats, Ints
from deshred.arrangement.problem.rules import PageRules
from deshred.arrangement.proof.assignment import assign, seconds_expected
from deshred.arrangement.proof.bounds import Duals, Proof, arcs_below, threshold_for
from deshred.arrangement.proof.cuts import Support, violated
from deshred.arrangement.proof.program import ArcProgram
from deshred.arrangement.proof.record import Record
from deshred.errors import InfeasibleError
from deshred.integersets import are_among, distinct

_ROOT_ARCS = 8  # per node, to begin with
_MOST_ROOT_ARCS = 30
_PRICED_ARCS = 5  # per row and round
_REPORT_ROUNDS = 10
_REPLACED = 100  # neighbors lost to new constraints that are replaced beforehand, not by pricing
_REPLACEMENTS = 20
_NEAR = 3000  # shreds up to which every basis is near enough the next
_SHREDS_PER_PAGE = 23  # a first guess where the number of pages is open


@dataclass(frozen=True, eq=False)
class Memory:
    """What a solve leaves for the next one over the same scores with other constraints."""

    program: ArcProgram
    shift: Duals
    tour: Tour | None
    proof: Proof | None
    delta: float  # how far above the LP bound the optimum lay


class Relaxation:
    """The LP of the root and the duals its costs are shifted by."""

    def __init__(self, record: Record) -> None:
        self._record, self._costs = record, record.costs
        self.shift = Duals.zero(self._costs.n_nodes)
        self.penalty = 4 * self._costs.spread + 1.0
        self._program: ArcProgram | None = None
        self._has_good_order = False  # good but for a few places

    @property
    def program(self) -> ArcProgram:
        assert self._program is not None
        return self._program

    def memory(self, delta: float) -> Memory | None:
        """What the next solve can use."""
        if self._program is None:
            return None
        return Memory(self._program, self.shift, self._record.tour, self._record.proof, delta)

    @property
    def _n_pages(self) -> int:
        pages = self._costs.pages
        return int(np.clip(round(self._costs.n / _SHREDS_PER_PAGE), pages.least, pages.most))

    @property
    def seconds_expected(self) -> float:
        """About how long `assign` takes."""
        return seconds_expected(self._costs, self._n_pages, self._record.limits.assignment)

    def sketch(self, deadline: Deadline) -> None:
        """A first bound and a first order that do not wait for the assignment.

        Prices are the cheapest arcs from each node, then to each node; fragments grow along cheap arcs, once
        at these prices and, before the deadline, once at plain costs.
        """
        costs, record, n = self._costs, self._record, self._costs.n
        own, shreds, outside = np.arange(costs.n_nodes), np.arange(n), np.full(n, costs.depot)
        duals = Duals.zero(costs.n_nodes)
        if not costs.page_ends.differ:  # a page may end anywhere, but not everywhere: left out at first
            duals.out[n:] = duals.into[n:] = -self.penalty
        cheapest = costs.least_reduced(duals.out, duals.into, own).out[:n]
        duals.out[:n] = np.where(cheapest < self.penalty, cheapest, 0.0)
        cheapest = costs.least_reduced(duals.out, duals.into, own).into[:n]
        duals.into[:n] = np.where(cheapest < self.penalty, cheapest, 0.0)
        duals.out[n:] = duals.into[n:] = 0.0
        begin, end = costs.at(outside, shreds) - duals.into[:n], costs.at(shreds, outside) - duals.out[:n]
        duals.out[n] = begin.min(initial=self.penalty, where=np.isfinite(begin))
        duals.into[n] = end.min(initial=self.penalty, where=np.isfinite(end))
        record.prove(duals, ())
        arcs = costs.arcs_below(duals.out, duals.into, threshold_for(costs, duals, _ROOT_ARCS))
        for shares in (-arcs.reduced, np.zeros(len(arcs))):
            if record.tour is None or not deadline.is_past:
                record.offer(link(costs, Support(arcs.tails, arcs.heads, shares), self._n_pages))
        record.report("first order")

    def assign(self) -> None:
        """First bound and first order: the assignment and its circles patched together."""
        n_pages = self._n_pages
        limits = self._record.limits
        assignment = assign(self._costs, n_pages, limits.deadline, options=limits.assignment)
        self._record.offer(close(self._costs, assignment.right, n_pages))
        duals = Duals(assignment.out_duals, assignment.in_duals, np.zeros(0))
        self.shift = duals.of_shreds(self._costs.n)
        self._record.prove(duals, ())
        self._record.report("assignment")

    def start(self) -> None:
        """Begin with the arcs that are cheapest at the prices of the assignment."""
        costs, proof, record = self._costs, self._record.proof, self._record
        assert proof is not None
        is_short = costs.listed is not None and costs.listed <= _MOST_ROOT_ARCS * costs.n_nodes
        if costs.hub is not None or is_short:
            # the candidates are few: take them all, and there is nothing to price, round after round
            threshold = float(np.finfo(float).max)
        else:
            threshold = min(threshold_for(costs, proof.duals, _ROOT_ARCS), record.upper - proof.bound)
        arcs = arcs_below(costs, proof, max(threshold, 1e-9))
        most = _MOST_ROOT_ARCS * costs.n_nodes
        if len(arcs) > most:
            arcs = arcs.take(np.argpartition(arcs.reduced, most)[:most])
        self._program = ArcProgram(record.degrees, self.penalty, record.limits.deadline)
        if costs.n <= _NEAR:
            self._program.expect_near_bases()
        self._add_arcs(arcs.tails, arcs.heads)
        if record.tour is not None:
            self._add_tour(record.tour)

    def resume(self, memory: Memory) -> None:
        """Carry on with the LP of an earlier solve: other bounds, same rows."""
        self._program, self.shift = memory.program, memory.shift
        program, fixings = self._program, self._costs.fixings
        assert fixings is not None
        self._has_good_order = True
        program.deadline = self._record.limits.deadline
        program.expect_near_bases()
        program.drop_conditional_cuts()
        possible = np.isfinite(self._costs.at(program.tails, program.heads))
        program.set_upper(possible.astype(float))
        program.set_penalty(self.penalty)
        self._add_arcs(fixings.required[:, 0], fixings.required[:, 1])
        if memory.tour is not None:
            self._replace_lost(memory.tour, self._still_valid(memory.tour))
        if memory.proof is not None:
            self._prove_again(memory.proof)

    def _prove_again(self, proof: Proof) -> None:
        """A bound at once from the duals of the earlier solve, without cuts from its constraints."""
        always = np.array([cut.holds_always for cut in proof.cuts], bool)
        cuts = np.where(always, proof.duals.cuts, 0.0)
        self._record.prove(replace(proof.duals, cuts=cuts), proof.cuts)
        self._record.report("earlier bound")

    def _still_valid(self, tour: Tour) -> Ints:
        """The joins of an old tour that the constraints allow, with those they require."""
        n, fixings = self._costs.n, self._costs.fixings
        assert fixings is not None
        right = np.where(tour[:n] < n, tour[:n], -1)
        right[~np.isfinite(self._costs.at(np.arange(n), np.where(right < 0, np.arange(n), right)))] = -1
        right[fixings.required[:, 0]] = fixings.required[:, 1]
        return right

    def _replace_lost(self, tour: Tour, right: Ints) -> None:
        """Give shreds that lost a neighbor of the old tour their next best ones, and close the tour again."""
        n = self._costs.n
        lost = np.flatnonzero((right < 0) & (tour[:n] < n))[:_REPLACED]
        every = np.arange(n + 1)
        for i in lost.tolist():
            self._add_cheapest(np.full(n + 1, i), every, self._costs.row(i))
        for j in tour[lost].tolist():
            self._add_cheapest(every, np.full(n + 1, j), self._costs.column(j))
        self._record.offer(close(self._costs, right, len(tour) - n))
        if self._record.tour is not None:
            self._add_tour(self._record.tour)

    def _add_cheapest(self, tails: Ints, heads: Ints, costs: Floats) -> None:
        n = self._costs.n
        reduced = costs - self.shift.out[tails] - self.shift.into[heads]
        if self._costs.hub is not None:  # joins that are not listed go through the hub
            reduced[(costs >= self._costs.dearest) & (tails < n) & (heads < n)] = np.inf
        best = np.argsort(reduced, kind="stable")[:_REPLACEMENTS]
        self._add_arcs(tails[best], heads[best])

    def _add_tour(self, tour: Tour) -> None:
        n = self._costs.n
        tails, heads = np.minimum(np.arange(len(tour)), n), np.minimum(tour, n)
        if self._costs.hub is not None:
            listed = self._costs.at(tails, heads) < self._costs.dearest
            tails, heads = tails[listed], heads[listed]
        self._add_arcs(tails, heads)

    def _add_arcs(self, tails: Ints, heads: Ints) -> None:
        """Add arcs that can be and are not there yet, at costs less the first duals: small numbers."""
        program, width = self.program, self._costs.n_nodes
        keys = distinct([tails * width + heads])
        keys = keys[~are_among(keys, program.tails * width + program.heads)]
        tails, heads = np.divmod(keys, width)
        shifted = self._costs.at(tails, heads) - self.shift.out[tails] - self.shift.into[heads]
        possible = np.isfinite(shifted)
        program.add_arcs(tails[possible], heads[possible], shifted[possible])

    def close(self, rules: PageRules | None = None, most_rounds: float = np.inf) -> None:
        """Cut and price until the LP over all arcs is solved, or the best order is proven.

        Cuts are sought in so many rounds at most, by other rules than the pile's if some are given.
        """
        record, program = self._record, self.program
        rules = record.rules if rules is None else rules
        rounds = 0
        while True:
            record.check_time()
            rounds += 1
            program.solve()
            support, priced = program.support, program.duals
            duals = Duals(priced.out + self.shift.out, priced.into + self.shift.into, priced.cuts)
            cuts = tuple(program.cuts)
            if rounds <= most_rounds and program.add_cuts(violated(support, record.degrees, rules)):
                if rounds % _REPORT_ROUNDS == 0:  # a bound to show for it if time runs out
                    record.prove(duals, cuts)
                    if self._costs.room is not None:  # the first orders had no room
                        record.link(support)
                    record.report("relaxation")
                continue
            weak = record.prove(duals, cuts)
            width = self._costs.n_nodes
            present = are_among(weak.tails * width + weak.heads, program.tails * width + program.heads)
            new = weak.take(~present & (weak.reduced < -1e-9))
            if record.tour is None or not (len(new) or self._has_good_order):
                record.link(support)
            record.report("relaxation")
            if record.is_proven:
                return
            if len(new):
                new = new.lowest(_PRICED_ARCS)
                self._add_arcs(new.tails, new.heads)
            elif program.shortfall > 1e-6:
                self._raise_penalty()
            else:
                return

    def _raise_penalty(self) -> None:
        """No arc left to add and yet nodes uncovered: dearer penalties, up to the proof that it cannot be."""
        if self._record.lower > self._record.ceiling:
            raise InfeasibleError("no order obeys all constraints.")
        self.penalty *= 10
        self.program.set_penalty(self.penalty)
