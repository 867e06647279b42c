"""Scores and fixings -> costs of arcs, down is good.

Nodes 0 .. n-1 are shreds; node n is the outside: an arc from it begins a page, an arc to it ends one.
A join costs max(C) - C as in the paper. The matrix of costs is never built: scores stay as they came
(dense float32, or CSR) and costs are made in blocks of rows.

In sparse input a join that is not listed scores as low as the lowest one listed. Those n^2 joins of
equal cost are one extra node, the hub (n + 1): i -> hub -> j, half the price each.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from deshred.arrangement.problem.fixings import Fixings, Floats, Ints, PageCount
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.problem.scores import ScoreRange
from deshred.integersets import distinct

_BLOCK = 1 << 21  # entries of the full matrix looked at in one go: 16 MB
_SCANNED = 1 << 18  # the same where a quick look is enough: they stay in the processor's cache
_MANY = 0.1  # share of arcs
_HUGE = 1e30
_ALIKE = 1e-6  # of the largest: costs this near each other are equal where only a few arcs are chosen


@dataclass(frozen=True, eq=False)
class Arcs:
    """Ordered pairs of nodes, sorted by tail, with their reduced costs."""

    tails: Ints
    heads: Ints
    reduced: Floats

    def __len__(self) -> int:
        return len(self.tails)

    def take(self, chosen: NDArray[np.bool_] | Ints) -> Arcs:
        """The chosen arcs."""
        return Arcs(self.tails[chosen], self.heads[chosen], self.reduced[chosen])

    def lowest(self, per_tail: int) -> Arcs:
        """So many arcs from each node, those of the lowest reduced cost; of equal ones, some by chance."""
        chance = np.random.default_rng(0).random(len(self)) * (_ALIKE * np.abs(self.reduced).max(initial=0.0))
        order = np.lexsort((self.reduced + chance, self.tails))
        tails = self.tails[order]
        rank = np.arange(len(self)) - np.searchsorted(tails, tails)
        return self.take(order[rank < per_tail])


@dataclass(frozen=True, eq=False)
class PageEnds:
    """What it costs to begin a page with a shred and to end it with one."""

    starts: Floats  # (n,)
    ends: Floats  # (n,)
    constant: float = 0.0  # on top of the cost of all arcs

    @property
    def differ(self) -> bool:
        """Whether they say anything about where pages end."""
        return bool(np.ptp(self.starts) > 0 or np.ptp(self.ends) > 0)

    def are_multiples_of(self, step: float) -> bool:
        """Whether all that can be are."""
        both = np.concatenate([self.starts, self.ends])
        units = both[np.isfinite(both)] / (step or np.inf)
        return bool((np.abs(units - np.round(units)) < 1e-6).all())


@dataclass(frozen=True, eq=False)
class LeastCosts:
    """The least reduced costs of arcs from and to each node."""

    out: Floats  # (N,)
    into: Floats  # (N,)


class Costs(ABC):
    """Costs of all arcs, under fixings."""

    def __init__(
        self, n: int, range_: ScoreRange, ends: PageEnds, pages: PageCount, room: Room | None
    ) -> None:
        self.n = n
        # the cost of every order is a multiple of it; 0 if not
        self.step = range_.step if ends.are_multiples_of(range_.step) else 0.0
        self.depot = n
        self.highest = range_.highest  # score
        self.dearest = range_.highest - range_.lowest  # cost of the worst join that can be
        self.page_ends = ends
        self.pages = pages
        self.room = room
        self.fixings: Fixings | None = None
        self._pinned = False

    @property
    @abstractmethod
    def hub(self) -> int | None:
        """The node that stands for all joins not listed; None in dense input."""

    @property
    def listed(self) -> int | None:
        """How many arcs can be, where they are listed one by one."""
        return None

    @property
    def n_nodes(self) -> int:
        return self.n + 1 + (self.hub is not None)

    @cached_property
    def spread(self) -> float:
        """An upper bound on the difference between the costs of any two arcs."""
        edges = np.concatenate([self.page_ends.starts, self.page_ends.ends])
        edges = edges[np.isfinite(edges)]
        low, high = (float(edges.min()), float(edges.max())) if edges.size else (0.0, 0.0)
        return max(self.dearest, high) - min(0.0, low)

    def fix(self, fixings: Fixings) -> Self:
        """The same costs, but arcs that the fixings rule out cost infinity."""
        fixed = copy(self)
        fixed.fixings = fixings
        fixed._pinned = bool((fixings.only_right >= 0).any() or (fixings.only_left >= 0).any())
        return fixed

    @abstractmethod
    def _joins(self, tails: Ints, heads: Ints) -> Floats:
        """Costs of joins between shreds, fixings aside."""

    def at(self, tails: Ints, heads: Ints) -> Floats:
        """Costs of single arcs; joins that sparse input does not list included."""
        n = self.n
        costs = np.full(len(tails), np.inf)
        inner = (tails < n) & (heads < n) & (tails != heads)
        costs[inner] = self._joins(tails[inner], heads[inner])
        begin = (tails == n) & (heads < n)
        costs[begin] = self.page_ends.starts[heads[begin]]
        end = (tails < n) & (heads == n)
        costs[end] = self.page_ends.ends[tails[end]]
        if self.hub is not None:
            costs[(tails == self.hub) & (heads < n)] = self.dearest / 2
            costs[(heads == self.hub) & (tails < n)] = self.dearest / 2
        return self._fixed(tails, heads, costs)

    @property
    def _has_exceptions(self) -> bool:
        """Whether fixings rule joins out or in."""
        return self.fixings is not None and (self._pinned or len(self.fixings.forbidden) > 0)

    def _fixed(self, tails: Ints, heads: Ints, costs: Floats) -> Floats:
        if self.fixings is None or not self._has_exceptions:
            return costs
        right = np.append(self.fixings.only_right, (-1, -1))[tails]
        left = np.append(self.fixings.only_left, (-1, -1))[heads]
        out = ((right >= 0) & (right != heads)) | ((left >= 0) & (left != tails))
        if len(self.fixings.forbidden):
            out |= np.isin(tails * (self.n + 2) + heads, self._keys(self.fixings.forbidden))
        # a person who requires a join overrules a scorer that rules it out
        pinned = ((right >= 0) | (left >= 0)) & ~out & ~np.isfinite(costs)
        return np.where(out, np.inf, np.where(pinned, self.dearest, costs))

    def _keys(self, pairs: Ints) -> Ints:
        return pairs[:, 0] * (self.n + 2) + pairs[:, 1]

    def row(self, tail: int) -> Floats:
        """Costs of the arcs from one node to 0 .. n."""
        heads = np.arange(self.n + 1)
        return self.at(np.full(self.n + 1, tail), heads)

    def column(self, head: int) -> Floats:
        """Costs of the arcs from 0 .. n to one node."""
        tails = np.arange(self.n + 1)
        return self.at(tails, np.full(self.n + 1, head))

    @abstractmethod
    def arcs_below(self, out_duals: Floats, in_duals: Floats, threshold: float) -> Arcs:
        """All arcs (to the hub rather than not listed) with cost - out_dual - in_dual <= threshold."""

    @abstractmethod
    def least_reduced(self, out_duals: Floats, in_duals: Floats, right: Ints) -> LeastCosts:
        """The least cost - out_dual - in_dual from and to each node, but for arcs i -> right[i] of shreds."""

    @abstractmethod
    def candidates(self, per_node: int) -> Arcs:
        """About the cheapest arcs of each row and column, at plain costs; of equal ones, some by chance."""


class DenseCosts(Costs):
    """Costs from a full matrix of scores."""

    def __init__(
        self,
        scores: NDArray[np.floating],
        ends: PageEnds,
        pages: PageCount,
        range_: ScoreRange,
        room: Room | None = None,
    ) -> None:
        self.scores = scores
        super().__init__(len(scores), range_, ends, pages, room)

    @property
    def hub(self) -> int | None:
        return None

    def _joins(self, tails: Ints, heads: Ints) -> Floats:
        return self.highest - self.scores[tails, heads].astype(np.float64)

    def rows(self, start: int, stop: int) -> Floats:
        """Costs of the arcs from nodes start .. stop-1 to all nodes: (stop - start, n + 1)."""
        n = self.n
        block = np.empty((stop - start, n + 1))
        inner = min(stop, n) - start
        np.subtract(self.highest, self.scores[start : start + inner], out=block[:inner, :n], dtype=np.float64)
        block[:inner, n] = self.page_ends.ends[start : start + inner]
        if stop > n:
            block[-1, :n] = self.page_ends.starts
        at = np.arange(start, stop)
        block[at - start, at] = np.inf
        self._fix_block(block, start, stop)
        return block

    def row(self, tail: int) -> Floats:
        return self.rows(tail, tail + 1).ravel()

    def column(self, head: int) -> Floats:
        if head == self.n:
            return super().column(head)
        column = np.empty(self.n + 1)
        np.subtract(self.highest, self.scores[:, head], out=column[:-1], dtype=np.float64)
        column[-1] = self.page_ends.starts[head]
        column[head] = np.inf
        fixings = self.fixings
        if fixings is None:
            return column
        column[fixings.forbidden[fixings.forbidden[:, 1] == head, 0]] = np.inf
        if self._pinned:
            taken = np.flatnonzero(fixings.only_right >= 0)
            column[taken[fixings.only_right[taken] != head]] = np.inf
            tails = taken[fixings.only_right[taken] == head]
            if fixings.only_left[head] >= 0:
                column[:] = np.inf
                tails = fixings.only_left[[head]]
            column[tails] = self.at(tails, np.full(len(tails), head))
        return column

    def _fix_block(self, block: Floats, start: int, stop: int) -> None:
        fixings = self.fixings
        if fixings is None:
            return
        rows = fixings.forbidden[:, 0]
        if len(rows):
            here = (rows >= start) & (rows < stop)
            block[rows[here] - start, fixings.forbidden[here, 1]] = np.inf
        if not self._pinned:
            return
        lefts = np.flatnonzero(fixings.only_right >= 0)
        tails = np.concatenate([lefts, fixings.only_left[fixings.only_left >= 0]])
        heads = np.concatenate([fixings.only_right[lefts], np.flatnonzero(fixings.only_left >= 0)])
        here = (tails >= start) & (tails < stop)
        kept = self.at(tails[here], heads[here])
        block[lefts[(lefts >= start) & (lefts < stop)] - start] = np.inf
        block[:, np.flatnonzero(fixings.only_left >= 0)] = np.inf
        block[tails[here] - start, heads[here]] = kept

    def blocks(self) -> list[tuple[int, int]]:
        """Ranges of rows of a size that fits the cache."""
        step = max(1, _BLOCK // (self.n + 1))
        return [(a, min(a + step, self.n + 1)) for a in range(0, self.n + 1, step)]

    def arcs_below(self, out_duals: Floats, in_duals: Floats, threshold: float) -> Arcs:
        """First a quick look at the scores in their own precision; `all_arcs_below` is the slow twin."""
        if not threshold < _HUGE:
            return self.all_arcs_below(out_duals, in_duals, threshold)
        n, fixings, scores = self.n, self.fixings, self.scores
        outside = np.full(n, n)
        keys = [np.arange(n) * (n + 1) + outside, outside * (n + 1) + np.arange(n)]
        if fixings is not None:  # a required join counts even if its score is -inf
            keys.append(fixings.required[:, 0] * (n + 1) + fixings.required[:, 1])
        level, duals = self.highest - threshold, np.concatenate([out_duals, in_duals])
        largest = (
            abs(level) + 2 * np.abs(duals).max() + max(abs(self.highest), abs(self.highest - self.dearest))
        )
        slack = 8 * float(np.finfo(scores.dtype).eps) * float(largest)
        lowest = scores.dtype.type(level - slack)
        by_row, by_column = out_duals[:n].astype(scores.dtype), in_duals[:n].astype(scores.dtype)
        step = max(1, _SCANNED // max(n, 1))
        for start in range(0, n, step):
            block = scores[start : start + step] + by_row[start : start + step, None]
            block += by_column
            hits = np.flatnonzero(block >= lowest)
            if len(hits) > _MANY * block.size + n:  # ties: a second look at each hit would not pay
                return self.all_arcs_below(out_duals, in_duals, threshold)
            rows, columns = np.divmod(hits, n)
            keys.append((rows + start) * (n + 1) + columns)
        tails, heads = np.divmod(distinct(keys), n + 1)
        reduced = self.at(tails, heads) - out_duals[tails] - in_duals[heads]
        kept = reduced <= threshold
        return Arcs(tails[kept], heads[kept], reduced[kept])

    def all_arcs_below(self, out_duals: Floats, in_duals: Floats, threshold: float) -> Arcs:
        """The same in one precision throughout, where most arcs are wanted."""
        tails, heads, reduced = [], [], []
        for start, stop in self.blocks():
            block = self.rows(start, stop)
            block -= out_duals[start:stop, None]
            block -= in_duals[None]
            flat = block.ravel()
            hits = np.flatnonzero(flat <= threshold)
            row, column = np.divmod(hits, self.n + 1)
            tails.append(row + start)
            heads.append(column)
            reduced.append(flat[hits])
        return Arcs(np.concatenate(tails), np.concatenate(heads), np.concatenate(reduced))

    def least_reduced(self, out_duals: Floats, in_duals: Floats, right: Ints) -> LeastCosts:
        out, into = np.full(self.n + 1, np.inf), np.full(self.n + 1, np.inf)
        for start, stop in self.blocks():
            block = self.rows(start, stop)
            block -= out_duals[start:stop, None]
            block -= in_duals[None]
            shreds = np.arange(start, min(stop, self.n))
            block[shreds - start, right[shreds]] = np.inf
            out[start:stop] = block.min(axis=1)
            np.minimum(into, block.min(axis=0), out=into)
        return LeastCosts(out, into)

    def candidates(self, per_node: int) -> Arcs:
        width = self.n + 1
        per_node = min(per_node, width)
        found = []
        best_in = np.full((per_node, width), np.inf)
        best_from = np.zeros((per_node, width), np.int64)
        # if all preferred the same of equal arcs, most would have to be priced in later
        rng = np.random.default_rng(0)
        chance = sliding_window_view(rng.random(2 * width) * (_ALIKE * (self.spread or 1.0)), width)
        for start, stop in self.blocks():
            block = self.rows(start, stop)
            block += chance[rng.integers(0, width, stop - start)]
            heads = np.argpartition(block, per_node - 1, axis=1)[:, :per_node]
            found.append((np.arange(start, stop)[:, None] * width + heads).ravel())
            stack = np.concatenate([best_in, block])
            tails = np.concatenate([best_from, np.broadcast_to(np.arange(start, stop)[:, None], block.shape)])
            keep = np.argpartition(stack, per_node - 1, axis=0)[:per_node]
            best_in, best_from = np.take_along_axis(stack, keep, 0), np.take_along_axis(tails, keep, 0)
        found.append((best_from * width + np.arange(width)).ravel())
        nodes = np.arange(self.n)
        found += [nodes * width + self.n, self.n * width + nodes]
        keys = distinct(found)
        tails, heads = np.divmod(keys, width)
        costs = self.at(tails, heads)
        possible = np.isfinite(costs)
        return Arcs(tails[possible], heads[possible], costs[possible])


@dataclass(frozen=True, eq=False)
class _Lists:
    """What is listed of every node: `starts[k]:starts[k + 1]` of the others and of what they cost."""

    starts: Ints  # (n + 1,)
    others: Ints
    costs: Floats


class SparseCosts(Costs):
    """Costs from lists of candidates: never a full matrix.

    Other joins are as dear as the dearest one listed or, where the list is final, cannot be.
    """

    def __init__(
        self,
        row_starts: Ints,
        columns: NDArray[np.integer],
        scores: NDArray[np.floating],
        ends: PageEnds,
        pages: PageCount,
        range_: ScoreRange,
        room: Room | None = None,
        *,
        is_final: bool = False,
    ) -> None:
        n = len(row_starts) - 1
        super().__init__(n, range_, ends, pages, room)
        self._is_final = is_final
        tails = np.repeat(np.arange(n), np.diff(row_starts))
        inner = tails != columns
        if is_final:
            inner &= np.isfinite(scores)
        keys = tails[inner] * (n + 2) + columns[inner]
        order = np.argsort(keys, kind="stable")
        self._listed_keys = keys[order]
        self._listed_costs = range_.highest - scores[inner][order].astype(np.float64)
        self._tails = self._heads = np.zeros(0, np.int64)
        self._costs = np.zeros(0)

    @property
    def hub(self) -> int | None:
        return None if self._is_final else self.n + 1

    @property
    def listed(self) -> int | None:
        return len(self._tails)

    def fix(self, fixings: Fixings) -> Self:
        fixed = super().fix(fixings)
        n, nodes = self.n, np.arange(self.n)
        keys = [self._listed_keys, self._keys(fixings.required)]
        for node in range(self.n, self.n_nodes):
            keys += [nodes * (n + 2) + node, node * (n + 2) + nodes]
        tails, heads = np.divmod(distinct(keys), n + 2)
        costs = fixed.at(tails, heads)
        possible = np.isfinite(costs)
        fixed._tails, fixed._heads, fixed._costs = tails[possible], heads[possible], costs[possible]
        return fixed

    @property
    def _other(self) -> float:
        """The cost of a join that is not listed."""
        return np.inf if self._is_final else self.dearest

    @cached_property
    def _by_row(self) -> _Lists:
        tails, heads = np.divmod(self._listed_keys, self.n + 2)
        return _Lists(np.searchsorted(tails, np.arange(self.n + 1)), heads, self._listed_costs)

    @cached_property
    def _by_column(self) -> _Lists:
        tails, heads = np.divmod(self._listed_keys, self.n + 2)
        order = np.argsort(heads, kind="stable")
        starts = np.searchsorted(heads[order], np.arange(self.n + 1))
        return _Lists(starts, tails[order], self._listed_costs[order])

    def row(self, tail: int) -> Floats:
        """The costs that are listed among those of all others; `Costs.row` is the slow twin."""
        if tail >= self.n or self._has_exceptions:
            return super().row(tail)
        return self._spread(self._by_row, tail, self.page_ends.ends)

    def column(self, head: int) -> Floats:
        """As `row`."""
        if head >= self.n or self._has_exceptions:
            return super().column(head)
        return self._spread(self._by_column, head, self.page_ends.starts)

    def _spread(self, lists: _Lists, node: int, outside: Floats) -> Floats:
        """One node's list in full."""
        costs = np.full(self.n + 1, self._other)
        own = slice(lists.starts[node], lists.starts[node + 1])
        costs[lists.others[own]] = lists.costs[own]
        costs[node], costs[self.n] = np.inf, outside[node]
        return costs

    def _joins(self, tails: Ints, heads: Ints) -> Floats:
        keys = tails * (self.n + 2) + heads
        other = self._other
        if not len(self._listed_keys):
            return np.full(len(keys), other)
        place = np.minimum(np.searchsorted(self._listed_keys, keys), len(self._listed_keys) - 1)
        return np.where(self._listed_keys[place] == keys, self._listed_costs[place], other)

    def arcs_below(self, out_duals: Floats, in_duals: Floats, threshold: float) -> Arcs:
        reduced = self._costs - out_duals[self._tails] - in_duals[self._heads]
        hits = np.flatnonzero(reduced <= threshold)
        return Arcs(self._tails[hits], self._heads[hits], reduced[hits])

    def least_reduced(self, out_duals: Floats, in_duals: Floats, right: Ints) -> LeastCosts:
        arcs = self.arcs_below(out_duals, in_duals, np.inf)
        own = np.append(right[: self.n], (-1, -1))[arcs.tails]
        others = arcs.take(own != arcs.heads)
        out, into = np.full(self.n_nodes, np.inf), np.full(self.n_nodes, np.inf)
        np.minimum.at(out, others.tails, others.reduced)
        np.minimum.at(into, others.heads, others.reduced)
        return LeastCosts(out, into)

    def candidates(self, per_node: int) -> Arcs:
        del per_node  # the input already is the best few of each edge
        return Arcs(self._tails, self._heads, self._costs)
