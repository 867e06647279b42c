"""Scores and constraints in, an `Arrangement` out: the entry point of this room."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from threadpoolctl import threadpool_limits

from deshred.arrangement.exact import ExactSolver, Solution
from deshred.arrangement.heuristics import nearest_neighbor, pages_of, tour_cost
from deshred.arrangement.problem.costs import Costs, DenseCosts, SparseCosts
from deshred.arrangement.problem.deadlines import Deadline
from deshred.arrangement.problem.fixings import (
    PageCount,
    check_constraints,
    clash,
    fix,
    smallest_clash,
    split,
)
from deshred.arrangement.problem.pages import (
    check_margins,
    count_pages,
    expect_pages,
    find_room,
    paper_width,
    price_pages,
    sort_pages,
)
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.problem.scores import complete, in_decimals, score_range
from deshred.arrangement.problem.shares import Shares, allow, share_joins
from deshred.arrangement.proof.certificates import certify
from deshred.arrangement.proof.record import Limits, Progress
from deshred.arrangement.proof.relaxation import Memory
from deshred.arrangement.splitting import solve_by_splitting
from deshred.elements import Arrangement, Compatibility, Constraints, Join, Margins, PageBreak, Slot
from deshred.errors import InfeasibleError, SettingsError
from deshred.options import option

Solver = Literal["exact", "greedy"]

# seconds: where shreds are missing, some orders are not proven in ten minutes either
_LIMIT, _LIMIT_PER_SHRED = 60.0, 0.01
_EXPLAIN_SHREDS = 400
_ANY_ORDER = 1e300  # a tolerance that every order meets
_EXPLAIN_CONSTRAINTS = 60
_COMPLETED = 4000  # shreds up to which sparse scores under constraints are made a full matrix
_PACKED = 10_000  # shreds; beyond, widths are looked at page by page
_ANSWERS = 32  # that a warm start remembers
_WIDTH_EFFORT = 3000  # shreds times nodes of branching: filling pages to the last mm can take hours to prove


@dataclass(frozen=True)
class ArrangementOptions:
    """How to find the order."""

    solver: Solver = option("exact", "How the order is found; greedy is the baseline.")
    pages: int | Literal["auto"] = option(
        "auto", "How many pages there are.", metavar="auto|N", parse=lambda text: parse_pages(text)
    )
    time_limit: float | None = option(
        None,
        "Seconds to search for the order; after that, the best one so far is taken.",
        shown=f"{_LIMIT:g}, or {1000 * _LIMIT_PER_SHRED:g} ms a shred if that is more",
    )
    page_width_mm: float | None = None  # helps to find the number of pages
    tolerance: float = 1e-6  # an order this close to its bound counts as optimal
    # rarer joins among the likely orders are not made, where the number of pages is open
    least_share: float = 0.05
    # page ends cost nothing, whatever the margins say
    free_ends: bool = option(
        False, "Give no weight to where pages begin and end, as in the published protocol."
    )

    def __post_init__(self) -> None:
        if self.solver not in ("exact", "greedy"):
            raise SettingsError(f"solver is {self.solver!r}; it must be exact or greedy.")
        if isinstance(self.pages, bool) or not (
            self.pages == "auto" or (isinstance(self.pages, int) and self.pages >= 1)
        ):
            raise SettingsError(f"pages is {self.pages!r}; it must be a number from 1 up, or auto.")
        if self.time_limit is not None and not self.time_limit > 0:
            raise SettingsError(f"time_limit is {self.time_limit!r}; it must be a number of seconds above 0.")
        if self.page_width_mm is not None and not 0 < self.page_width_mm < np.inf:
            raise SettingsError(
                f"page_width_mm is {self.page_width_mm!r}; it must be above 0, such as 210 for A4."
            )
        if not 0 <= self.least_share < 0.5:
            raise SettingsError(f"least_share is {self.least_share!r}; it must be at least 0 and below 0.5.")
        if not 0 < self.tolerance < np.inf:
            raise SettingsError(
                f"tolerance is {self.tolerance!r}; it must be a small cost above 0, such as 1e-6."
            )

    def limit_for(self, shreds: int) -> float:
        """Seconds to search for the order of so many shreds."""
        return max(_LIMIT, _LIMIT_PER_SHRED * shreds) if self.time_limit is None else self.time_limit


def parse_pages(text: str) -> int | str:
    """A number, or the text as it is: auto, or something that is refused."""
    return int(text) if text.isdecimal() else text


@dataclass(frozen=True, eq=False)
class Believed:
    """The scores that are solved, and how many of the likely orders make each join, where that was asked."""

    compatibility: Compatibility
    shares: Shares | None = None

    def share(self, i: int, j: int) -> float | None:
        """The share of i -> j; None where shares were not counted."""
        return None if self.shares is None else self.shares.of(i, j)


@dataclass(frozen=True, eq=False)
class _Answered:
    """Scores, what was asked about them, and what is believed of them."""

    compatibility: Compatibility
    question: tuple[object, ...]
    believed: Believed


@dataclass(eq=False)
class WarmStart:
    """Keep one and pass it to each `arrange` of the same scores: the next solve continues from the last."""

    _costs: Costs | None = field(default=None, repr=False)
    _memory: Memory | None = field(default=None, repr=False)
    _key: tuple[object, ...] = field(default=(), repr=False)
    _answers: dict[tuple[Constraints, ArrangementOptions], Arrangement] = field(
        default_factory=dict, repr=False
    )
    _answered: _Answered | None = field(default=None, repr=False)

    def _costs_for(self, key: tuple[object, ...]) -> Costs | None:
        """The costs of the last solve, if it was over the same scores and pages."""
        same = len(key) == len(self._key) and all(
            a is b or (isinstance(a, PageCount | float | bool) and a == b)
            for a, b in zip(key, self._key, strict=True)
        )
        if not same:
            self._costs, self._memory, self._key = None, None, key
            self._answers.clear()
        return self._costs

    def believed_of(
        self,
        compatibility: Compatibility,
        options: ArrangementOptions,
        margins: Margins | None,
        page_width_mm: float | None,
    ) -> Believed:
        """What is believed of these scores, looked for once."""
        question = (options.pages, options.solver, options.least_share, options.free_ends, page_width_mm)
        known = self._answered
        if known is None or known.compatibility is not compatibility or known.question != question:
            believed = believe(compatibility, options, margins, page_width_mm)
            self._answered = known = _Answered(compatibility, question, believed)
        return known.believed

    def _keep(self, constraints: Constraints, options: ArrangementOptions, answer: Arrangement) -> None:
        """Remember a proven answer: a constraint that is taken back needs no solve at all."""
        if answer.is_optimal:
            self._answers[constraints, options] = answer
        if len(self._answers) > _ANSWERS:
            del self._answers[next(iter(self._answers))]


def arrange(
    compatibility: Compatibility,
    constraints: Constraints = Constraints(),  # noqa: B008 - frozen
    *,
    options: ArrangementOptions = ArrangementOptions(),  # noqa: B008 - frozen
    progress: Progress | None = None,
    warm_start: WarmStart | None = None,
) -> Arrangement:
    """Find the pages: the cheapest order of all shreds that obeys the constraints.

    A join costs max(C) - C. With margins, a page costs max(C) - start - end on top; without, nothing.
    """
    deadline = Deadline.after(options.limit_for(len(compatibility)))
    margins = _usable_margins(compatibility, options)
    width = options.page_width_mm or paper_width(margins)
    warm = warm_start if warm_start is not None else WarmStart()
    check_constraints(compatibility.ids, constraints)
    with threadpool_limits(1, "blas"):  # threads for products this small only wait for each other
        believed = warm.believed_of(compatibility, options, margins, width)
    allowed = allow(believed.compatibility, compatibility, constraints)
    # what a person says about joins and pages counts more than what is believed, or the width of the paper
    attempts = [(allowed, width), (compatibility, width), (compatibility, None)]
    if allowed is compatibility:
        del attempts[0]
    if width is None:
        del attempts[-1]

    def job(some: Compatibility, most: float | None) -> _Job:
        return _Job(compatibility, replace(believed, compatibility=some), constraints, options, margins, most)

    for some, most in attempts[:-1]:
        try:
            return job(some, most).run(warm, deadline, progress)
        except InfeasibleError:
            continue
    return job(*attempts[-1]).run(warm, deadline, progress)


def believe(
    compatibility: Compatibility,
    options: ArrangementOptions,
    margins: Margins | None,
    page_width_mm: float | None,
) -> Believed:
    """The scores that are solved: without joins that the likely orders do not make.

    With a given number of pages, holes have to be closed somehow.
    """
    if margins is None or options.solver != "exact" or not options.least_share:
        return Believed(compatibility)
    score_range(compatibility)  # refuses scores that are no numbers
    if options.pages != "auto":
        return Believed(compatibility, share_joins(compatibility, margins, float(options.pages)))
    shares = share_joins(compatibility, margins, expect_pages(margins, page_width_mm))
    return Believed(shares.rule_out(options.least_share), shares)


def check_question(ids: Sequence[str], constraints: Constraints, options: ArrangementOptions) -> None:
    """Raise what can be known to be wrong before anything is scored: unknown shreds, too many pages."""
    pages = count_pages(len(ids), options.pages, constraints, None, None)
    fix(tuple(ids), constraints, pages)


@dataclass(frozen=True, eq=False)
class _Job:
    """All that a solve starts from."""

    compatibility: Compatibility
    believed: Believed  # the same without joins that are ruled out
    constraints: Constraints
    options: ArrangementOptions
    margins: Margins | None
    page_width_mm: float | None

    def run(self, warm: WarmStart, deadline: Deadline, progress: Progress | None) -> Arrangement:
        pages = self._count_pages()
        room = find_room(self.margins, self.page_width_mm, pages)
        fixings = fix(self.compatibility.ids, self.constraints, pages)
        if not len(self.compatibility):
            return Arrangement((), (), (), 0.0, 0.0, self.options.tolerance)
        key = (self.believed.compatibility, self.margins, pages, room and room.most, self._is_completed(room))
        costs = warm._costs_for(key) or self._costs(pages, room)
        if (self.constraints, self.options) in warm._answers:
            return warm._answers[self.constraints, self.options]
        fixed = costs.fix(fixings)
        limits = Limits(tolerance=self.options.tolerance, deadline=deadline)
        if room is not None:
            limits = replace(limits, node_limit=max(1, _WIDTH_EFFORT // len(self.compatibility)))
        try:
            if self.options.solver == "greedy":
                solution = _walk(fixed)
            elif room is not None and not self.constraints and _is_large(fixed):
                _, range_ = in_decimals(self.compatibility.scores, score_range(self.compatibility))
                solution = solve_by_splitting(fixed, range_, limits, progress)
                warm._costs, warm._memory = costs, None
            else:
                solution = ExactSolver(fixed, limits, progress, warm._memory).solve()
                warm._costs, warm._memory = costs, solution.memory
        except InfeasibleError as error:
            warm._memory = None
            raise (error if room is not None else self._explained(pages)) from None
        answer = self._to_arrangement(fixed, solution)
        warm._keep(self.constraints, self.options, answer)
        return answer

    def _to_arrangement(self, costs: Costs, solution: Solution) -> Arrangement:
        ids, compatibility = self.compatibility.ids, self.compatibility
        pages = [page.tolist() for page in sort_pages(pages_of(solution.tour, costs.n))]
        seams = [(a[-1], b[0]) for a, b in itertools.pairwise(pages)]
        certificates = certify(costs, solution, seams) if solution.proof is not None else None
        joins, slots = [], []
        for page in pages:
            offset = 0
            row = [Slot(ids[page[0]], 0)]
            for i, j in itertools.pairwise(page):
                step = compatibility.offset(i, j)
                offset += step
                row.append(Slot(ids[j], offset))
                price = None if certificates is None else float(certificates.without_right[i])
                share = self.believed.share(i, j)
                said = (ids[i], ids[j]) in self.constraints.required
                joins.append(Join(ids[i], ids[j], compatibility.score(i, j), step, None, price, share, said))
            slots.append(tuple(row))
        breaks = tuple(
            PageBreak(
                ids[i],
                ids[j],
                None if certificates is None else float(certificates.with_join[k]),
            )
            for k, (i, j) in enumerate(seams)
        )
        constant = costs.page_ends.constant
        return Arrangement(
            tuple(slots),
            tuple(joins),
            breaks,
            solution.cost + constant,
            solution.bound + constant,
            self.options.tolerance,
        )

    def _count_pages(self) -> PageCount:
        n, wanted = len(self.compatibility), self.options.pages
        return count_pages(n, wanted, self.constraints, self.margins, self.page_width_mm)

    def _costs(self, pages: PageCount, room: Room | None) -> Costs:
        pile = self.believed.compatibility
        scores, range_ = in_decimals(pile.scores, score_range(self.compatibility))
        ends = price_pages(len(pile), self.margins, pages, range_, room)
        if pile.row_starts is None or pile.columns is None:
            return DenseCosts(scores, ends, pages, range_, room)
        if self._is_completed(room):
            return DenseCosts(complete(pile, scores, range_), ends, pages, range_, room)
        is_final = self._is_choosy
        return SparseCosts(
            pile.row_starts, pile.columns, scores, ends, pages, range_, room, is_final=is_final
        )

    def _is_completed(self, room: Room | None) -> bool:
        """The hub does not know who joins whom through it: rules are proven on the full matrix, if small."""
        has_rules = (bool(self.constraints) or room is not None) and not self._is_choosy
        return has_rules and self.compatibility.is_sparse and len(self.compatibility) <= _COMPLETED

    @property
    def _is_choosy(self) -> bool:
        """Whether unlikely joins cannot be: then neither can those that were not even listed."""
        return self.believed.compatibility is not self.compatibility

    def _explained(self, pages: PageCount) -> InfeasibleError:
        """Find the constraints at odds by taking away one after the other."""
        atoms, n = split(self.constraints), len(self.compatibility)
        if not atoms:
            return InfeasibleError(
                f"no order of the {n} shreds exists on {self.options.pages} pages: too many joins "
                "are impossible (score -inf). Allow more pages."
            )
        if self.compatibility.is_sparse and n > _COMPLETED:
            return InfeasibleError(
                f"no order that obeys all {len(atoms)} constraints was found over the candidates listed. "
                "Remove the latest ones, or keep more candidates."
            )
        if n > _EXPLAIN_SHREDS or len(atoms) > _EXPLAIN_CONSTRAINTS:
            return InfeasibleError(
                f"no order obeys all {len(atoms)} constraints at once. Remove the latest ones until one does."
            )

        def is_feasible(some: Constraints) -> bool:
            try:
                fixings = fix(self.compatibility.ids, some, pages)
                ExactSolver(self._costs(pages, None).fix(fixings), Limits(tolerance=_ANY_ORDER)).solve()
            except InfeasibleError:
                return False
            return True

        return clash(smallest_clash(self.constraints, is_feasible), "no order obeys all of these")


def _usable_margins(compatibility: Compatibility, options: ArrangementOptions) -> Margins | None:
    margins = compatibility.margins
    if margins is None:
        return None
    check_margins(margins, len(compatibility))
    return None if options.free_ends else margins


def _is_large(costs: Costs) -> bool:
    """Whether widths are looked at page by page, after an order that does not know them."""
    return costs.hub is not None or costs.n > _PACKED


def _walk(costs: Costs) -> Solution:
    fixings = costs.fixings
    assert fixings is not None
    if fixings.has_groups or (fixings.only_left >= 0).any() or (fixings.only_right >= 0).any():
        raise SettingsError(
            "the greedy solver obeys forbidden joins only; use solver = exact for other constraints."
        )
    tour = nearest_neighbor(costs, costs.pages.least)
    if tour is None:
        raise SettingsError("the greedy solver ended at an impossible join; use solver = exact.")
    rows = costs.arcs_below(np.zeros(costs.n_nodes), np.zeros(costs.n_nodes), np.inf)
    cheapest = np.full(costs.n_nodes, np.inf)
    np.minimum.at(cheapest, rows.tails, rows.reduced)
    return Solution(tour, tour_cost(costs, tour), float(cheapest[: costs.n].sum()))
