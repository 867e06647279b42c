"""The linear program over whole pages: every chain lies on one page, and there are as many as allowed.

Penalty columns, a chain left out or covered too often, keep it feasible whatever pages are missing.
"""

from __future__ import annotations

import numpy as np

from deshred.arrangement.problem.deadlines import Deadline
from deshred.arrangement.problem.fixings import Floats, Ints, PageCount
from deshred.arrangement.problem.rules import Mask
from deshred.arrangement.proof.program import LinearProgram


class PageProgram(LinearProgram):
    """A growing LP. Columns: two penalties for each chain, then the pages."""

    def __init__(self, n_chains: int, pages: PageCount, penalty: float, deadline: Deadline) -> None:
        super().__init__(deadline, strategy=4)  # the last solution stays feasible when pages are added
        self._size, self._pages = n_chains, pages
        self.paths: list[Ints] = []
        self.costs = np.zeros(0)
        self._keys: set[bytes] = set()
        sides = np.append(np.ones(n_chains), [pages.least, pages.most]).astype(float)
        starts, none = np.zeros(n_chains + 1, np.int32), np.zeros(0, np.int32)
        lower, upper = sides[:-1], np.delete(sides, -2)
        self._highs.addRows(n_chains + 1, lower, upper, 0, starts, none, np.zeros(0))
        rows = np.tile(np.arange(n_chains, dtype=np.int32), 2)
        signs = np.repeat([1.0, -1.0], n_chains)
        size = 2 * n_chains
        every = np.arange(size, dtype=np.int32)
        self._highs.addCols(
            size, np.full(size, penalty), np.zeros(size), np.full(size, np.inf), size, every, rows, signs
        )

    def set_penalty(self, penalty: float) -> None:
        """Change what a chain left out or covered twice costs."""
        size = 2 * self._size
        self._highs.changeColsCost(size, np.arange(size, dtype=np.int32), np.full(size, penalty))

    def add_pages(self, paths: list[Ints], costs: list[float]) -> int:
        """Add columns for pages that are not there yet; returns how many were new."""
        rows: list[Ints] = []
        weights: list[Floats] = []
        kept = []
        for path, cost in zip(paths, costs, strict=True):
            if path.tobytes() in self._keys:
                continue
            self._keys.add(path.tobytes())
            self.paths.append(path)
            kept.append(cost)
            chains, visits = np.unique(path, return_counts=True)
            rows.append(np.append(chains, self._size))
            weights.append(np.append(visits, 1).astype(float))
        if not kept:
            return 0
        starts = np.cumsum([0, *map(len, rows[:-1])]).astype(np.int32)
        places, values = np.concatenate(rows).astype(np.int32), np.concatenate(weights)
        size = len(kept)
        self._highs.addCols(
            size, np.array(kept), np.zeros(size), np.full(size, np.inf), len(places), starts, places, values
        )
        self.costs = np.append(self.costs, kept)
        return size

    def allow(self, allowed: Mask) -> None:
        """Rule out all pages but these."""
        size = len(allowed)
        places = (2 * self._size + np.arange(size)).astype(np.int32)
        self._highs.changeColsBounds(size, places, np.zeros(size), np.where(allowed, np.inf, 0.0))

    @property
    def values(self) -> Floats:
        """The share of each page."""
        return np.asarray(self._highs.getSolution().col_value, float)[2 * self._size :]

    @property
    def shortfall(self) -> float:
        """How much only penalties cover."""
        return float(np.sum(self._highs.getSolution().col_value[: 2 * self._size]))

    @property
    def prices(self) -> Floats:
        """The dual of each chain; the last one is that of a page."""
        return np.asarray(self._highs.getSolution().row_dual, float)


def page_bound(prices: Floats, pages: PageCount, least_surplus: float) -> float:
    """What any pages cost at least if each costs so much above the prices of its chains: no LP enters."""
    return float(prices.sum()) + min(pages.least * least_surplus, pages.most * least_surplus)
