"""Costs -> the cheapest order with a proof, or the best found with a bound, whatever the time allows.

First the relaxation (see there). What is left is closed by deepening: all arcs whose reduced cost is at
most delta are searched by branch and cut; an order that uses any other arc costs more than the bound
plus delta, so either the best order found is proven, or the bound rises by delta and delta doubles.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from deshred.arrangement.heuristics import LocalSearch, Matrix, Tour, close, follow, pages_of, tour_of
from deshred.arrangement.packing.widths import pack
from deshred.arrangement.problem.costs import Arcs, Costs, DenseCosts, PageEnds
from deshred.arrangement.problem.deadlines import NEVER, Deadline
from deshred.arrangement.problem.fixings import Fixings, Floats, Ints
from deshred.arrangement.problem.rules import PageRules
from deshred.arrangement.problem.scores import ScoreRange
from deshred.arrangement.proof.bounds import Duals, Proof, arcs_below, threshold_for
from deshred.arrangement.proof.branching import Search, SearchHooks, SearchResult
from deshred.arrangement.proof.contraction import Contraction, chain_ends, chain_up, contract, contract_within
from deshred.arrangement.proof.cuts import Cut, Degrees, Support
from deshred.arrangement.proof.program import ArcProgram, TimeUp
from deshred.arrangement.proof.record import Limits, Progress, Record
from deshred.arrangement.proof.relaxation import Memory, Relaxation
from deshred.errors import InfeasibleError

_HURRY = 3.0  # times what an assignment takes: if less is left, a first order comes before
_GRACE = 3.0  # seconds over the limit, where there is no order at all yet
_ALIKE = 0.01  # gap of the relaxation beyond which scores look alike both ways round
_KICKS = 3000
_KICKS_PER_SHRED = 6
_GROWTH = 2.0  # of delta from round to round
_SAMPLED_ARCS = 10.0  # per shred, cuts aside: with cuts, far fewer are below the same reduced cost
_FIRST_SHARE, _MOST_ARCS = 0.25, 1.0  # of the gap, and of n, where the width of pages is limited
_WIDTH_ROUNDS, _WIDTH_SHARE = 4, 0.25  # of cuts for widths, and of the gap; then whole pages take over
_FIRST_ARCS = 0.1  # share of n: arcs beyond those the LP uses in the first round
_MOST_FIRST_ARCS = 0.3  # the same, where an earlier solve suggests more
_LIKE_LAST = 2.0  # of the gap that the earlier solve had to close
_PATIENCE = 4  # rounds of deepening before a good order is sought, where none was known
_SMALL_PILE = 300  # shreds; below, all arcs at once are no problem, nor is local search to its end
_BRANCHED = 60  # shreds up to which branching is quicker than searching around
_MATRIX_SECONDS = 5e-8  # times the square of the shreds, to get ready for local search
_SEARCHED = 6000  # shreds that local search takes on: it needs the full matrix of costs
_ROUNDED = 3000  # chains that rounding takes on
_ROUNDING_NODES = 100


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
    """One problem, solved once; its costs know the fixings."""

    def __init__(
        self,
        costs: Costs,
        limits: Limits,
        progress: Progress | None = None,
        memory: Memory | None = None,
    ) -> None:
        self._costs = costs
        self._record = Record(costs, limits, progress)
        # one change can make a page too wide: what is left of the old pages is worth less than a fresh start
        self._memory = None if self._is_packed else memory
        self._root = Relaxation(self._record)
        self._forced = np.full(costs.n_nodes, -1, np.int64)
        self._forced_limit = -np.inf
        self._first_bound = np.inf  # of the relaxation, before any search

    def solve(self) -> Solution:
        """Run all stages that the limits allow."""
        record, root = self._record, self._root
        try:
            if self._memory is None:
                self._assign()
            if not record.is_proven:
                self._relax()
            if not record.is_proven and self._is_packed and record.tour is not None:
                pack(record)
            if not record.is_proven and (not self._is_packed or self._costs.n <= _SMALL_PILE):
                self._deepen()
        except TimeUp:
            record.report("time is up")
        if record.tour is None:
            self._rescue()
        if record.proof is None:
            record.prove(Duals.zero(self._costs.n_nodes), ())
        assert record.tour is not None
        memory = root.memory(max(record.upper - self._first_bound, 0.0))
        return Solution(
            record.tour, record.upper, record.bound, record.proof, self._forced, self._forced_limit, memory
        )

    def _assign(self) -> None:
        """The assignment cannot be interrupted: where time is short, there is an order before it."""
        record, expected = self._record, self._root.seconds_expected
        if record.limits.deadline.left < _HURRY * expected:
            self._root.sketch(self._soft_deadline)
            if self._costs.n > _SMALL_PILE:
                record.check_time()
            if record.limits.deadline.left < expected:
                self._improve(0)
                raise TimeUp
        self._root.assign()

    def _relax(self) -> None:
        self._improve(0)
        if self._memory is None:
            self._root.start()
        else:
            self._root.resume(self._memory)
        if self._is_packed:
            self._root.close(PageRules())
            self._cut_widths()
        else:
            self._root.close()
        self._first_bound = self._record.lower

    def _cut_widths(self) -> None:
        """Cuts for widths, a few rounds at a time, as long as they close much of the gap."""
        record, share = self._record, 1.0
        while not record.is_proven and share > _WIDTH_SHARE:
            gap, lower = record.upper - record.lower, record.lower
            self._root.close(most_rounds=_WIDTH_ROUNDS)
            share = (record.lower - lower) / gap

    @property
    def _is_packed(self) -> bool:
        """Whether limited widths are the only rule: then whole pages are quicker to prove than cuts."""
        rules = self._record.rules
        has_groups = bool(rules.together or rules.apart)
        return rules.room is not None and not has_groups and self._costs.hub is None

    @property
    def _soft_deadline(self) -> Deadline:
        """For what small piles may finish in any case."""
        return self._record.limits.deadline if self._costs.n > _SMALL_PILE else NEVER

    def _improve(self, n_kicks: int) -> None:
        """Local search where the bound is far below: scores that look alike both ways round."""
        record, costs = self._record, self._costs
        if record.tour is None or record.rules or not isinstance(costs, DenseCosts):
            return
        is_close = record.upper - record.lower < _ALIKE * abs(record.upper)
        if is_close or not _BRANCHED < costs.n <= _SEARCHED:
            return
        if self._soft_deadline.left < _MATRIX_SECONDS * costs.n**2:
            return
        search = LocalSearch(Matrix.of(costs), record.tour, costs.n)
        search.run(self._soft_deadline)
        search.shake(n_kicks, record.limits.deadline.share(0.5))  # leave time for the proof
        record.offer(search.tour)
        record.report("local search")

    def _deepen(self, *, until_any: bool = False) -> None:
        record = self._record
        if record.tour is None and self._costs.n <= _SMALL_PILE:
            self._seek_any_order()
        delta, rounds = 0.0, 0
        while not (record.is_proven or (until_any and record.tour is not None)):
            record.check_time()
            rounds += 1
            if record.rules.room is None:
                if rounds == self._patience:
                    self._round()
                if rounds == _PATIENCE:
                    self._improve(min(_KICKS, _KICKS_PER_SHRED * self._costs.n))
            proof = record.proof
            assert proof is not None
            delta = _GROWTH * delta or self._first_delta(proof)
            limit = min(record.upper, record.next_limit(proof.bound + delta))
            slack = limit - proof.bound + 1e-9
            contraction = contract_within(self._costs, arcs_below(self._costs, proof, slack), slack)
            new_cuts = self._search(contraction, proof, limit)
            if record.lower > record.ceiling:
                raise InfeasibleError("no order obeys all constraints.")
            if self._root.program.add_cuts(new_cuts) and not record.is_proven:
                self._root.close()

    @property
    def _patience(self) -> int:
        """Rounds of deepening before a good order is sought for its own sake; at once if time is short."""
        if self._memory is None:
            return _PATIENCE
        return 2 if self._record.limits.deadline.is_never else 1

    def _first_delta(self, proof: Proof) -> float:
        """Admits some more arcs than the LP has at zero; about what the last solve needed, if any."""
        record, costs = self._record, self._costs
        least = 10 * record.limits.tolerance
        threshold = min(record.upper - proof.bound, threshold_for(costs, proof.duals, _SAMPLED_ARCS))
        reduced = np.sort(arcs_below(costs, proof, threshold + 1e-9).reduced)
        if not len(reduced):
            return least
        used = int((reduced <= 1e-9).sum())

        def admitting(share: float) -> float:
            return float(reduced[min(len(reduced) - 1, used + max(20, int(share * costs.n)))])

        if record.rules.room is not None:  # rules bind late: small steps would prove next to nothing
            least = max(least, min(_FIRST_SHARE * (record.upper - proof.bound), admitting(_MOST_ARCS)))
        if self._memory is None:
            return max(admitting(_FIRST_ARCS), least)
        return max(min(_LIKE_LAST * self._memory.delta, admitting(_MOST_FIRST_ARCS)), least)

    def _search(self, contraction: Contraction, proof: Proof, limit: float) -> list[Cut]:
        """Branch and cut below the limit; raises the bound, returns the cuts it found."""
        record, costs = self._record, self._costs
        overfull = record.rules.mapped(contraction.chain_of).overfull()
        if len(overfull):
            record.raise_bound(limit)
            return [self._barring(contraction, chain) for chain in overfull.tolist()]
        shift = proof.duals.of_shreds(costs.n)
        arcs = contraction.original
        shifted = contraction.costs - shift.out[arcs.tails] - shift.into[arcs.heads]
        firsts, lasts = chain_ends(contraction)
        offset = contraction.base + float(shift.out[lasts].sum() + shift.into[firsts].sum())
        program = self._program_over(contraction, shifted, self._root.penalty + 10 * (limit - proof.bound))
        program.add_cuts(_inherited(proof, contraction, program.degrees))
        n_inherited = len(program.cuts)

        def offer(support: Support) -> float:
            cost = record.offer(self._expand(contraction, support))
            record.report("search")
            return cost

        def suggest(support: Support) -> None:
            inside = np.flatnonzero(contraction.right >= 0)
            tails, heads = (
                np.append(inside, support.tails),
                np.append(contraction.right[inside], support.heads),
            )
            record.link(Support(tails, heads, np.append(np.full(len(inside), 2.0), support.values)))

        def report(bound: float) -> None:
            record.raise_bound(min(bound, limit))
            record.report("search")

        hooks = SearchHooks(lambda: min(record.cutoff, limit + 1e-9), offer, suggest, report)
        result = self._branch(contraction, program, offset, hooks, proof.bound)
        record.raise_bound(min(result.bound, limit))
        if not result.is_complete:
            raise TimeUp
        self._forced, self._forced_limit = contraction.right, limit
        return [_lifted(cut, contraction) for cut in program.cuts[n_inherited:]]

    def _barring(self, contraction: Contraction, chain: int) -> Cut:
        """No page holds all of this chain."""
        inside = contraction.chain_of == chain
        rules = self._record.rules
        rank, filled = rules.pages_needed(inside), rules.pages_filled(inside)
        return Cut(np.flatnonzero(inside), rank, holds_always=rank == filled)

    def _seek_any_order(self) -> None:
        """Nothing so far obeys all constraints: find an order at any cost, or prove that there is none."""
        record, costs = self._record, self._costs
        none = Duals.zero(costs.n_nodes)
        arcs = costs.arcs_below(none.out, none.into, float(np.finfo(float).max))
        free = np.zeros(len(arcs))
        contraction = contract(costs, Arcs(arcs.tails, arcs.heads, free))
        if len(record.rules.mapped(contraction.chain_of).overfull()):
            raise InfeasibleError("no order obeys all constraints.")
        program = self._program_over(contraction, np.zeros(len(contraction.tails)), 1.0)

        def offer(support: Support) -> float:
            return 0.0 if np.isfinite(record.offer(self._expand(contraction, support))) else np.inf

        hooks = SearchHooks(
            cutoff=lambda: 1e-6 if record.tour is None else -1.0,
            offer=offer,
            suggest=record.link,
            report=lambda _: record.report("looking for any order"),
        )
        result = self._branch(contraction, program, 0.0, hooks, 0.0)
        if record.tour is None:
            if result.is_complete:
                raise InfeasibleError("no order obeys all constraints.")
            raise TimeUp

    def _program_over(self, contraction: Contraction, costs: Floats, penalty: float) -> ArcProgram:
        degrees = Degrees.of(contraction.n_chains, self._costs.pages, self._costs.hub is not None)
        program = ArcProgram(degrees, penalty, self._record.limits.deadline)
        program.expect_near_bases()
        program.add_arcs(contraction.tails, contraction.heads, costs)
        return program

    def _branch(
        self,
        contraction: Contraction,
        program: ArcProgram,
        offset: float,
        hooks: SearchHooks,
        root_bound: float,
    ) -> SearchResult:
        limits = self._record.limits
        rules = self._record.rules.mapped(contraction.chain_of)
        search = Search(
            contraction,
            program,
            offset,
            rules,
            hooks,
            root_bound=root_bound,
            node_limit=limits.node_limit,
            deadline=limits.deadline,
        )
        return search.run()

    def _expand(self, contraction: Contraction, support: Support) -> Tour | None:
        """An order over chains as an order over shreds."""
        n = self._costs.n
        chosen = support.values > 0.5
        right = contraction.right[:n].copy()
        inner = chosen & (support.tails < n) & (support.heads < n)
        right[support.tails[inner]] = support.heads[inner]
        if self._costs.hub is not None:
            return close(self._costs, right, self._record.n_pages(support))
        pages = [follow(right, first) for first in support.heads[chosen & (support.tails == n)].tolist()]
        return tour_of(pages, n) if sum(map(len, pages)) == n else None

    def _round(self) -> None:
        """Keep what the LP is sure of as chains and solve the small rest on its own."""
        record, program, n = self._record, self._root.program, self._costs.n
        sure = (program.values > 1 - 1e-6) & (program.tails < n) & (program.heads < n)
        chains = chain_up(self._costs, program.tails[sure], program.heads[sure])
        if 3 <= chains.n_chains <= min(_ROUNDED, 0.6 * n):
            record.offer(self._solve_chains(chains))
            record.report("rounding")

    def _solve_chains(self, chains: Contraction) -> Tour | None:
        costs, size = self._costs, chains.n_chains
        firsts, lasts = chain_ends(chains)
        rules = self._record.rules.mapped(chains.chain_of[: costs.n])
        if len(rules.overfull()):
            return None
        joins = costs.at(np.repeat(lasts, size), np.tile(firsts, size)).reshape(size, size)
        np.fill_diagonal(joins, np.inf)
        dearest = float(joins.max(initial=0.0, where=np.isfinite(joins)))
        outside = np.full(size, costs.depot)
        ends = PageEnds(costs.at(outside, firsts), costs.at(lasts, outside))
        pages = replace(costs.pages, most=max(costs.pages.least, min(costs.pages.most, size)))
        small = DenseCosts(-joins, ends, pages, ScoreRange(0.0, -dearest, costs.step), rules.room)
        none, free = np.zeros((0, 2), np.int64), np.full(size, -1, np.int64)
        together = tuple(group for group in rules.together if len(group) > 1)
        limits = replace(self._record.limits, node_limit=_ROUNDING_NODES)
        limits = replace(limits, deadline=limits.deadline.share(0.3))
        try:
            fixings = Fixings(none, none, free, free, together, rules.apart)
            solution = ExactSolver(small.fix(fixings), limits).solve()
        except InfeasibleError:
            return None
        walks = [
            np.concatenate([follow(chains.right, int(firsts[chain])) for chain in page])
            for page in pages_of(solution.tour, size)
        ]
        return tour_of(walks, costs.n)

    def _rescue(self) -> None:
        """Time ran out before any order was found: a few seconds more for one."""
        record = self._record
        record.limits = replace(record.limits, deadline=record.limits.deadline.extend(_GRACE))
        try:
            if self._costs.n <= _SMALL_PILE:
                self._seek_any_order()
                return
            if self._memory is None:
                self._root.start()
            else:
                self._root.resume(self._memory)
            self._root.close()
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
