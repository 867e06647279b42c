"""Large piles on paper of limited width: an order without the limit first, then pages too wide are split.

Without widths a large pile falls apart into pages by itself, and a bound is known that no order is below. A
page that is too wide is split by itself; then pages that are too short are solved again, together with those
that their shreds could go to. What was known stays true: a limit makes no order cheaper.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from deshred.arrangement.exact import ExactSolver, Solution
from deshred.arrangement.heuristics import pages_of, tour_cost, tour_of
from deshred.arrangement.problem.costs import Arcs, Costs, DenseCosts, PageEnds
from deshred.arrangement.problem.fixings import Ints, PageCount, fix
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.problem.scores import ScoreRange
from deshred.arrangement.proof.bounds import arcs_below, threshold_for
from deshred.arrangement.proof.record import Limits, Progress
from deshred.elements import Constraints

_ARCS = 12.0  # per shred, the likeliest, that say which pages are solved together
_SHORT = 0.95  # of the width of the paper: a page with less may be part of another


@dataclass(frozen=True)
class SplittingOptions:
    """How much is solved at once."""

    most: int = 300  # shreds
    rounds: int = 4
    effort: int = 3000  # shreds times nodes of branching


def solve_by_splitting(
    costs: Costs,
    range_: ScoreRange,
    limits: Limits,
    progress: Progress | None = None,
    *,
    options: SplittingOptions | None = None,
) -> Solution:
    """An order within the room of the costs, which know no other rule, and a bound for all such orders."""
    assert costs.room is not None
    free = copy(costs)
    free.room = None
    solution = ExactSolver(free, limits, progress).solve()
    splitting = _Splitting(free, range_, costs.room, limits, options or SplittingOptions())
    pages = splitting.run(solution)
    if not costs.pages.least <= len(pages) <= costs.pages.most:
        return ExactSolver(costs, limits, progress).solve()
    tour = tour_of(pages, costs.n)
    return replace(solution, tour=tour, cost=tour_cost(free, tour), memory=None)


@dataclass(frozen=True, eq=False)
class _Splitting:
    costs: Costs  # without the limit
    range_: ScoreRange
    room: Room
    limits: Limits
    options: SplittingOptions

    def run(self, solution: Solution) -> list[Ints]:
        """The pages of a solution, with those split that are too wide."""
        found = pages_of(solution.tour, self.costs.n)
        if not any(self._is_wide(page) for page in found):
            return found
        pages = [part for page in found for part in (self._solve(page) if self._is_wide(page) else [page])]
        arcs = self._find_likely(solution)
        for _ in range(self.options.rounds):
            pages = self._improve(pages, arcs)
        return pages

    def _improve(self, pages: list[Ints], arcs: Arcs) -> list[Ints]:
        """Short pages solved again with others; what comes out is no dearer."""
        kept: list[Ints] = []
        groups = self._group(pages, arcs)
        for group in groups:
            before = [pages[index] for index in group]
            after = self._solve(np.concatenate(before))
            kept += after if self._measure(after) < self._measure(before) else before
        grouped = {index for group in groups for index in group}
        return kept + [page for index, page in enumerate(pages) if index not in grouped]

    def _is_wide(self, page: Ints) -> bool:
        return float(self.room.widths[page].sum()) > self.room.most

    def _measure(self, pages: list[Ints]) -> float:
        ends, total = self.costs.page_ends, 0.0
        for page in pages:
            total += float(ends.starts[page[0]] + ends.ends[page[-1]])
            total += float(self.costs.at(page[:-1], page[1:]).sum())
        return total

    def _find_likely(self, solution: Solution) -> Arcs:
        """The likeliest joins, the best first."""
        assert solution.proof is not None
        n, duals = self.costs.n, solution.proof.duals
        arcs = arcs_below(self.costs, solution.proof, threshold_for(self.costs, duals, _ARCS))
        arcs = arcs.take((arcs.tails < n) & (arcs.heads < n))
        return arcs.take(np.argsort(arcs.reduced, kind="stable"))

    def _group(self, pages: list[Ints], arcs: Arcs) -> list[list[int]]:
        """Pages that are solved together: short ones with each other, then with others."""
        page_of = np.empty(self.costs.n, np.int64)
        for index, page in enumerate(pages):
            page_of[page] = index
        widths = np.array([self.room.widths[page].sum() for page in pages])
        short = widths < _SHORT * self.room.most
        groups = _Groups([len(page) for page in pages], np.flatnonzero(short).tolist(), self.options.most)
        pairs = np.stack([page_of[arcs.tails], page_of[arcs.heads]], axis=1)
        are_short = short[pairs].all(axis=1)
        for one, other in np.concatenate([pairs[are_short], pairs[~are_short]]).tolist():
            groups.unite(one, other)
        return groups.list_all()

    def _solve(self, page: Ints) -> list[Ints]:
        """The best pages for some shreds within the width."""
        some, size = np.sort(page), len(page)
        tails, heads = np.repeat(some, size), np.tile(some, size)
        scores = (self.costs.highest - self.costs.at(tails, heads)).reshape(size, size)
        ends, room = self.costs.page_ends, Room(self.room.widths[some], self.room.most)
        pages = PageCount(1, size)
        part = DenseCosts(scores, PageEnds(ends.starts[some], ends.ends[some]), pages, self.range_, room)
        names = tuple(map(str, some.tolist()))
        effort = replace(self.limits, node_limit=max(1, self.options.effort // size))
        solution = ExactSolver(part.fix(fix(names, Constraints(), pages)), effort).solve()
        return [some[own] for own in pages_of(solution.tour, size)]


class _Groups:
    """Pages in groups that grow around some of them."""

    def __init__(self, sizes: list[int], seeds: list[int], most: int) -> None:
        self._group_of = {index: index for index in seeds}
        self._members = {index: [index] for index in seeds}
        self._sizes, self._most = sizes, most

    def unite(self, one: int, other: int) -> None:
        """Put two pages into one group, if one is in a group and there is room."""
        first, second = self._group_of.get(one), self._group_of.get(other)
        if first is None:
            one, other, first, second = other, one, second, first
        if first is None or first == second or one == other:
            return
        joining = self._members[second] if second is not None else [other]
        if self._count(self._members[first]) + self._count(joining) > self._most:
            return
        self._members[first] += joining
        for index in joining:
            self._group_of[index] = first
        if second is not None:
            del self._members[second]

    def _count(self, pages: list[int]) -> int:
        return sum(self._sizes[index] for index in pages)

    def list_all(self) -> list[list[int]]:
        """All groups of more than one page."""
        return [members for members in self._members.values() if len(members) > 1]
