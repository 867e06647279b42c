"""Scores and constraints in, an `Arrangement` out: the face of this room."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field

import numpy as np

from deshred.arrangement.certificates import certify
from deshred.arrangement.costs import Costs, DenseCosts, SparseCosts, score_range
from deshred.arrangement.exact import ExactSolver, Solution
from deshred.arrangement.fixings import Fixings, PageCount, clash, fix, smallest_clash, split
from deshred.arrangement.heuristics import nearest_neighbor, pages_of, tour_cost
from deshred.arrangement.pages import break_probability, check_margins, count_pages, price_pages, sort_pages
from deshred.arrangement.record import Limits, Progress
from deshred.arrangement.relaxation import Memory
from deshred.elements import Arrangement, Compatibility, Constraints, Join, Margins, PageBreak, Slot
from deshred.errors import InfeasibleError, SettingsError

_EXPLAIN_SHREDS = 400
_ANY_ORDER = 1e300  # a tolerance that every order meets
_EXPLAIN_CONSTRAINTS = 60


@dataclass(frozen=True)
class ArrangementOptions:
    """How to find the order."""

    solver: str = "exact"  # or "greedy": nearest neighbor, the baseline
    pages: int | str = "auto"  # how many; 1 is the paper's single path
    time_limit: float | None = None  # seconds; then the best order so far, with its bound
    page_width_mm: float | None = None  # helps to find the number of pages
    tolerance: float = 1e-6  # an order this close to its bound counts as optimal
    use_margins: bool | None = None  # None: wherever there are any, but not for a single path

    def __post_init__(self) -> None:
        if self.solver not in ("exact", "greedy"):
            raise SettingsError(f"solver is {self.solver!r}; it is exact or greedy.")
        if isinstance(self.pages, bool) or not (
            self.pages == "auto" or (isinstance(self.pages, int) and self.pages >= 1)
        ):
            raise SettingsError(f"pages is {self.pages!r}; it is a number from 1 on, or auto.")
        if self.time_limit is not None and not self.time_limit > 0:
            raise SettingsError(f"time_limit is {self.time_limit!r}; it is a number of seconds above 0.")
        if self.page_width_mm is not None and not 0 < self.page_width_mm < np.inf:
            raise SettingsError(f"page_width_mm is {self.page_width_mm!r}; A4 is 210.")
        if not 0 < self.tolerance < np.inf:
            raise SettingsError(f"tolerance is {self.tolerance!r}; it is a small cost above 0, such as 1e-6.")


@dataclass(eq=False)
class WarmStart:
    """Keep one and pass it to each `arrange` of the same scores: the next solve continues from the last."""

    _costs: Costs | None = field(default=None, repr=False)
    _memory: Memory | None = field(default=None, repr=False)
    _key: tuple[object, ...] = field(default=(), repr=False)

    def _costs_for(self, key: tuple[object, ...]) -> Costs | None:
        """The costs of the last solve, if it was over the same scores and pages."""
        same = len(key) == len(self._key) and all(
            a is b or (isinstance(a, PageCount | bool) and a == b)
            for a, b in zip(key, self._key, strict=True)
        )
        if not same:
            self._costs, self._memory, self._key = None, None, key
        return self._costs


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
    deadline = np.inf if options.time_limit is None else time.monotonic() + options.time_limit
    n = len(compatibility)
    margins = _usable_margins(compatibility, options)
    pages = count_pages(n, options.pages, constraints, margins, options.page_width_mm)
    fixings = fix(compatibility.ids, constraints, pages)
    warm = warm_start if warm_start is not None else WarmStart()
    costs = warm._costs_for((compatibility, margins, pages)) or _costs_of(compatibility, margins, pages)
    if n == 0:
        return Arrangement((), (), (), 0.0, 0.0, options.tolerance)
    limits = Limits(tolerance=options.tolerance, deadline=deadline)
    try:
        if options.solver == "greedy":
            solution = _walk(costs, fixings)
        else:
            solution = ExactSolver(costs, fixings, limits, progress, warm._memory).solve()
            warm._costs, warm._memory = costs, solution.memory
    except InfeasibleError:
        warm._memory = None
        raise _explained(compatibility, constraints, options) from None
    return _arrangement(compatibility, margins, costs, solution, options)


def _usable_margins(compatibility: Compatibility, options: ArrangementOptions) -> Margins | None:
    margins = compatibility.margins
    if margins is None:
        return None
    check_margins(margins, len(compatibility))
    wanted = options.pages != 1 if options.use_margins is None else options.use_margins
    return margins if wanted else None


def _costs_of(compatibility: Compatibility, margins: Margins | None, pages: PageCount) -> Costs:
    scores = score_range(compatibility)
    ends = price_pages(len(compatibility), margins, pages, scores)
    if compatibility.row_starts is None or compatibility.columns is None:
        return DenseCosts(compatibility.scores, ends, pages, scores)
    return SparseCosts(
        compatibility.row_starts, compatibility.columns, compatibility.scores, ends, pages, scores
    )


def _walk(costs: Costs, fixings: Fixings) -> Solution:
    if fixings.has_groups or len(fixings.required) or (fixings.only_left >= 0).any():
        raise SettingsError(
            "the greedy solver only knows forbidden joins; use solver = exact for other constraints."
        )
    costs.fix(fixings)
    tour = nearest_neighbor(costs, costs.pages.least)
    if tour is None:
        raise SettingsError("the greedy walk ends in a join that cannot be; use solver = exact.")
    rows = costs.arcs_below(np.zeros(costs.n_nodes), np.zeros(costs.n_nodes), np.inf)
    cheapest = np.full(costs.n_nodes, np.inf)
    np.minimum.at(cheapest, rows.tails, rows.reduced)
    return Solution(tour, tour_cost(costs, tour), float(cheapest[: costs.n].sum()))


def _explained(
    compatibility: Compatibility, constraints: Constraints, options: ArrangementOptions
) -> InfeasibleError:
    """Find the constraints at odds by taking away one after the other."""
    atoms = split(constraints)
    if not atoms:
        return InfeasibleError(
            f"no order of the {len(compatibility)} shreds exists on {options.pages} pages: too many joins "
            "cannot be (score -inf). Allow more pages."
        )
    if len(compatibility) > _EXPLAIN_SHREDS or len(atoms) > _EXPLAIN_CONSTRAINTS:
        return InfeasibleError(
            f"no order obeys all {len(atoms)} constraints at once. Take back the latest ones until one does."
        )

    def is_feasible(some: Constraints) -> bool:
        margins = _usable_margins(compatibility, options)
        pages = count_pages(len(compatibility), options.pages, constraints, margins, options.page_width_mm)
        try:
            fixings = fix(compatibility.ids, some, pages)
            ExactSolver(
                _costs_of(compatibility, margins, pages), fixings, Limits(tolerance=_ANY_ORDER)
            ).solve()
        except InfeasibleError:
            return False
        return True

    return clash(smallest_clash(constraints, is_feasible), "no order obeys all of these")


def _arrangement(
    compatibility: Compatibility,
    margins: Margins | None,
    costs: Costs,
    solution: Solution,
    options: ArrangementOptions,
) -> Arrangement:
    ids = compatibility.ids
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
            joins.append(Join(ids[i], ids[j], compatibility.score(i, j), step, price=price))
        slots.append(tuple(row))
    breaks = tuple(
        PageBreak(
            ids[i],
            ids[j],
            None if certificates is None else float(certificates.with_join[k]),
            None if margins is None else break_probability(compatibility, margins, i, j),
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
        options.tolerance,
    )
