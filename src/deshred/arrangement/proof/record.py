"""The state of a solve: the best order so far, the best bound so far, and the clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from deshred.arrangement.heuristics import Tour, fold, link, pages_of, tour_cost
from deshred.arrangement.problem.costs import Arcs, Costs
from deshred.arrangement.problem.deadlines import NEVER, Deadline
from deshred.arrangement.problem.rules import PageRules
from deshred.arrangement.proof.assignment import AssignmentOptions
from deshred.arrangement.proof.bounds import Duals, Proof, prove
from deshred.arrangement.proof.cuts import Cut, Degrees, Support
from deshred.arrangement.proof.program import TimeUp

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Limits:
    """When to stop."""

    tolerance: float = 1e-6
    deadline: Deadline = NEVER
    node_limit: int = 10**9
    assignment: AssignmentOptions = field(default_factory=AssignmentOptions)


class Record:
    """All stages of a solve offer their orders and bounds here."""

    def __init__(self, costs: Costs, limits: Limits, progress: Progress | None) -> None:
        fixings = costs.fixings
        assert fixings is not None
        self.costs, self.limits, self._progress = costs, limits, progress
        self.degrees = Degrees.of(costs.n, costs.pages, costs.hub is not None)
        self.rules = PageRules(fixings.together, fixings.apart, costs.room)
        self.tour: Tour | None = None
        self.upper = np.inf
        self.lower = -np.inf
        self.proof: Proof | None = None
        # no order costs more, so a bound above it proves that there is none
        self.ceiling = (costs.n + 2 * costs.pages.most + 1) * (costs.spread + 1.0)

    @property
    def cutoff(self) -> float:
        """Orders at or above this are of no use."""
        return self.upper - (self.costs.step - 1e-6 if self.costs.step else self.limits.tolerance / 2)

    @property
    def is_proven(self) -> bool:
        return self.lower >= self.cutoff

    @property
    def bound(self) -> float:
        """What is proven, rounded up where costs go in steps."""
        step = self.costs.step
        bound = float(np.ceil((self.lower - 5e-7) / step)) * step if step else self.lower
        return min(bound, self.upper)

    def next_limit(self, limit: float) -> float:
        """A limit up to which orders are worth looking for: where costs go in steps, just above one."""
        step = self.costs.step
        return max(float(np.floor(limit / step)) * step, self.bound) + 1e-6 if step else limit

    def check_time(self) -> None:
        """Raise `TimeUp` when the deadline is past."""
        if self.limits.deadline.is_past:
            raise TimeUp

    def report(self, stage: str) -> None:
        """Tell the caller how far the gap is closed, in thousandths of the cost."""
        if self._progress is None:
            return
        gap = self.upper - self.lower
        if not np.isfinite(gap):
            self._progress(stage, 0, 1000)
            return
        done = round(1000 * (1 - min(1.0, gap / max(abs(self.upper), 1e-9))))
        self._progress(f"{stage}: cost {self.upper:.6g}, bound {self.lower:.6g}, gap {gap:.3g}", done, 1000)

    def offer(self, tour: Tour | None, *, is_final: bool = False) -> float:
        """Keep the tour if it is the best so far; returns its cost, infinite if it breaks a constraint.

        One with pages that are too wide is folded anew, unless it is final.
        """
        if tour is None or not self.costs.pages.least <= len(tour) - self.costs.n <= self.costs.pages.most:
            return np.inf
        cost = tour_cost(self.costs, tour)
        if not np.isfinite(cost):
            return np.inf
        if self.rules and not self._obeys_rules(tour):
            if is_final or self.costs.room is None:
                return np.inf
            self.offer(fold(self.costs, tour, self.costs.room), is_final=True)
            return np.inf
        if cost < self.upper - 1e-12:
            self.upper, self.tour = cost, tour.copy()
        return cost

    def _obeys_rules(self, tour: Tour) -> bool:
        page_of = np.empty(self.costs.n, np.int64)
        for k, page in enumerate(pages_of(tour, self.costs.n)):
            page_of[page] = k
        return self.rules.allow(page_of)

    def link(self, support: Support) -> None:
        """Offer what can be made of a fractional solution."""
        self.offer(link(self.costs, support, self.n_pages(support)))

    def n_pages(self, support: Support) -> int:
        """How many pages an LP solution begins."""
        pages = self.costs.pages
        used = float(support.values[support.tails == self.costs.depot].sum())
        return int(np.clip(round(used), pages.least, pages.most))

    def raise_bound(self, bound: float) -> None:
        """Note that no order is cheaper."""
        self.lower = max(self.lower, min(bound, self.upper))

    def prove(self, duals: Duals, cuts: tuple[Cut, ...]) -> Arcs:
        """Turn duals into a bound; returns the arcs that weaken it."""
        proof, weak = prove(self.costs, self.degrees, duals, cuts)
        if self.proof is None or proof.bound > self.proof.bound:
            self.proof = proof
        self.raise_bound(proof.bound)
        return weak
