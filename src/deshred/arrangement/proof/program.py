"""The linear program over a list of arcs: every node is left and entered as often as its degree says,
and the cuts found so far hold. Solved by HiGHS, warm from solve to solve.

Penalty columns keep it feasible whatever arcs are missing, so "infeasible" shows as a high objective
that the duals prove, not as a status to be believed.
"""

from __future__ import annotations

from collections.abc import Iterable

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from deshred.arrangement.problem.deadlines import NEVER, Deadline
from deshred.arrangement.problem.fixings import Floats, Ints
from deshred.arrangement.proof.bounds import Duals, dual_constant
from deshred.arrangement.proof.cuts import Cut, Degrees, Support, coefficients
from deshred.errors import DeshredError

_STATUS = highspy.HighsModelStatus
_NO_LIMIT = 2**31 - 1
Basis = highspy.HighsBasis


class TimeUp(Exception):
    """The clock ran out: the caller keeps what is proven so far."""


class LinearProgram:
    """HiGHS on one thread, until a deadline. Strategy 1 is the dual, 4 the primal simplex."""

    def __init__(self, deadline: Deadline, strategy: int = 1) -> None:
        self.deadline, self._strategy = deadline, strategy
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        self._highs.silent()
        for option, value in (("threads", 1), ("parallel", "off"), ("presolve", "off"), ("random_seed", 1)):
            self._highs.setOptionValue(option, value)
        self._highs.setOptionValue("simplex_strategy", strategy)

    def expect_near_bases(self) -> None:
        """Few steps per solve: perturbed costs and steepest edges do not pay for that.

        In large programs they do: many equal costs at n = 5,000 take ten times as long without.
        """
        self._highs.setOptionValue("dual_simplex_cost_perturbation_multiplier", 0.0)
        self._highs.setOptionValue("simplex_dual_edge_weight_strategy", 1)

    @property
    def objective(self) -> float:
        return float(self._highs.getObjectiveValue())

    def solve(self) -> None:
        """Solve to optimality; `TimeUp` if the deadline comes first."""
        self._run()
        status = self._highs.getModelStatus()
        if status == _STATUS.kOptimal:
            return
        for option, value, usual in (
            ("simplex_strategy", 5 - self._strategy, self._strategy),
            ("presolve", "on", "off"),
            ("solver", "ipm", "choose"),
        ):
            self._highs.clearSolver()  # numerical trouble: start cold, each time another way
            self._highs.setOptionValue(option, value)
            self._run()
            self._highs.setOptionValue(option, usual)
            if self._highs.getModelStatus() == _STATUS.kOptimal:
                return
        solution = self._highs.getSolution()
        if solution.value_valid and solution.dual_valid:
            return  # bounds are recomputed and orders checked, so a rough solution does no harm
        raise DeshredError(
            f"the LP solver gave up ({self._highs.getModelStatus()}); please report this matrix."
        )

    def _run(self) -> None:
        left = self.deadline.left
        if left <= 0:
            raise TimeUp
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + left)
        self._highs.run()
        if self._highs.getModelStatus() == _STATUS.kTimeLimit:
            raise TimeUp


class ArcProgram(LinearProgram):
    """A growing LP. Columns: 2 N penalties, one per free degree, then the arcs."""

    def __init__(self, degrees: Degrees, penalty: float, deadline: Deadline = NEVER) -> None:
        super().__init__(deadline)
        self.degrees = degrees
        self.tails = np.zeros(0, np.int64)
        self.heads = np.zeros(0, np.int64)
        self.costs = np.zeros(0)
        self.upper = np.zeros(0)
        self.cuts: list[Cut] = []
        self.is_active: list[bool] = []
        self._weights: list[tuple[Ints, Floats]] = []  # of each cut: arcs and their coefficients
        self._keys: set[bytes] = set()
        n = degrees.n_nodes
        self._first = 2 * n + len(degrees.free)
        highs = self._highs
        sides = np.tile(degrees.fixed, 2)
        empty = np.zeros(0, np.int32)
        highs.addRows(2 * n, sides, sides, 0, np.zeros(2 * n, np.int32), empty, np.zeros(0))
        rows = np.arange(2 * n, dtype=np.int32)
        highs.addCols(
            2 * n,
            np.full(2 * n, penalty),
            np.zeros(2 * n),
            np.full(2 * n, np.inf),
            2 * n,
            rows,
            rows,
            np.ones(2 * n),
        )
        for node in degrees.free:
            both = np.array([node, n + node], np.int32)
            highs.addCol(0.0, float(degrees.least[node]), float(degrees.most[node]), 2, both, -np.ones(2))

    @property
    def support(self) -> Support:
        """The arcs the current solution uses."""
        values = self.values
        used = np.flatnonzero(values > 1e-7)
        return Support(self.tails[used], self.heads[used], values[used])

    @property
    def values(self) -> Floats:
        return np.asarray(self._highs.getSolution().col_value, float)[self._first :]

    @property
    def shortfall(self) -> float:
        """How much of the degrees only penalties cover."""
        return float(np.sum(self._highs.getSolution().col_value[: 2 * self.degrees.n_nodes]))

    @property
    def duals(self) -> Duals:
        duals = np.asarray(self._highs.getSolution().row_dual, float)
        n = self.degrees.n_nodes
        return Duals(duals[:n], duals[n : 2 * n], np.minimum(duals[2 * n :], 0.0) * self.is_active)

    def set_penalty(self, penalty: float) -> None:
        """Change what an uncovered degree costs."""
        size = 2 * self.degrees.n_nodes
        self._highs.changeColsCost(size, np.arange(size, dtype=np.int32), np.full(size, penalty))

    def add_arcs(self, tails: Ints, heads: Ints, costs: Floats) -> None:
        """Add columns for arcs that are not there yet."""
        n, size = self.degrees.n_nodes, len(tails)
        if not size:
            return
        columns = [np.arange(size), np.arange(size)]
        rows = [tails, n + heads]
        weights = [np.ones(size), np.ones(size)]
        for k, cut in enumerate(self.cuts):
            hits, values = coefficients(cut, tails, heads, self.degrees.depot, n)
            if len(hits):
                columns.append(hits)
                rows.append(np.full(len(hits), 2 * n + k))
                weights.append(values)
                old = self._weights[k]
                self._weights[k] = (np.append(old[0], hits + len(self.tails)), np.append(old[1], values))
        entries = (np.concatenate(weights), (np.concatenate(columns), np.concatenate(rows)))
        matrix = csr_matrix(entries, shape=(size, 2 * n + len(self.cuts)))
        starts, places = matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32)
        self._highs.addCols(
            size, costs, np.zeros(size), np.ones(size), matrix.nnz, starts, places, matrix.data
        )
        self.tails, self.heads = np.append(self.tails, tails), np.append(self.heads, heads)
        self.costs = np.append(self.costs, costs)
        self.upper = np.append(self.upper, np.ones(size))

    def add_cuts(self, cuts: Iterable[Cut]) -> int:
        """Add rows for cuts that are not there yet; returns how many were new."""
        places: list[NDArray[np.int32]] = []
        weights: list[Floats] = []
        sides: list[float] = []
        for cut in cuts:
            if cut.key in self._keys:
                continue
            self._keys.add(cut.key)
            hits, values = coefficients(cut, self.tails, self.heads, self.degrees.depot, self.degrees.n_nodes)
            free = np.zeros(0, np.int64)
            if not cut.same_page:
                free = np.flatnonzero(np.isin(self.degrees.free, cut.members))
            columns = np.append(hits + self._first, 2 * self.degrees.n_nodes + free)
            places.append(columns.astype(np.int32))
            weights.append(np.append(values, -np.ones(len(free))))
            sides.append(self.degrees.right_hand_side(cut))
            self.cuts.append(cut)
            self.is_active.append(True)
            self._weights.append((hits, values))
        if sides:  # all at once: HiGHS goes through all its columns each time
            starts = np.cumsum([0, *map(len, places[:-1])]).astype(np.int32)
            flat, values = np.concatenate(places), np.concatenate(weights)
            lower, size = np.full(len(sides), -np.inf), len(sides)
            self._highs.addRows(size, lower, np.array(sides), len(flat), starts, flat, values)
        return len(sides)

    def drop_conditional_cuts(self) -> None:
        """Switch off the cuts that came from constraints."""
        for k, cut in enumerate(self.cuts):
            if self.is_active[k] and not cut.holds_always:
                self._highs.changeRowBounds(2 * self.degrees.n_nodes + k, -np.inf, np.inf)
                self.is_active[k] = False
                self._keys.discard(cut.key)

    def set_upper(self, upper: Floats) -> None:
        """Bound the share of each arc from above."""
        changed = np.flatnonzero(upper != self.upper)
        if len(changed):
            places = (changed + self._first).astype(np.int32)
            self._highs.changeColsBounds(len(changed), places, np.zeros(len(changed)), upper[changed])
            self.upper[changed] = upper[changed]

    def probe(self, iterations: int) -> float | None:
        """The objective after a few simplex steps, a lower estimate; None where it came to no result."""
        self._highs.setOptionValue("simplex_iteration_limit", iterations)
        self._run()
        self._highs.setOptionValue("simplex_iteration_limit", _NO_LIMIT)
        status = self._highs.getModelStatus()
        return self.objective if status in (_STATUS.kOptimal, _STATUS.kIterationLimit) else None

    def basis(self) -> Basis:
        """The current basis, to return to."""
        return self._highs.getBasis()

    def restore(self, basis: Basis) -> None:
        """Return to a basis; cuts added since then start slack."""
        missing = self._highs.getNumRow() - len(basis.row_status)
        if missing:
            basis.row_status = [*basis.row_status, *[highspy.HighsBasisStatus.kBasic] * missing]
        self._highs.setBasis(basis)

    def safe_bound(self) -> float:
        """A lower bound for orders over these arcs from the duals alone: no tolerance enters."""
        duals = self.duals
        reduced = self.costs - duals.out[self.tails] - duals.into[self.heads]
        for k in np.flatnonzero(duals.cuts < 0):
            hits, values = self._weights[k]
            reduced[hits] -= duals.cuts[k] * values
        return dual_constant(self.degrees, tuple(self.cuts), duals) + float(
            (np.minimum(reduced, 0.0) * self.upper).sum()
        )
