"""A quick first look at all joins, to find those that deserve a full comparison.

A sketch is an edge in few numbers. Comparing two takes a fiftieth of what comparing their descriptions takes,
and the true neighbor is nearly always among the best few dozen of either edge (`docs/results.md`, "First
look"). A scorer may look in several ways, at ink and at outlines; a join that stands out in one of them is
listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.contract import Descriptions, Rows
from deshred.executors import Executor, Progress
from deshred.integersets import distinct

_LENGTH = 4000  # of the longest sketch: products stay below 2^24, exact in single precision
_LARGEST = 1 << 20  # of the numbers that are measured: their squares add up without an error
BLOCK = 256  # right-hand edges at a time

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class Look:
    """One way to look: how many joins of an edge are listed, and how many rows up and down are tried."""

    candidates: int
    reach: int


@dataclass(frozen=True, eq=False)
class Sketch(Descriptions):
    """n edges in few whole numbers."""

    values: NDArray[np.int16]  # (n, rows, d)
    scale: NDArray[np.float32]  # (n,): what one of them is worth; 0 where there is nothing to see


@runtime_checkable
class Glancing(Protocol):
    """A scorer that can take a first look: a large pile is compared where it stands out, not everywhere."""

    @property
    def looks(self) -> tuple[Look, ...]:
        """The ways it looks."""

    def sketch(self, descriptions: Any, /) -> tuple[Sketch, ...]:
        """What it sees of some edges, each way; of an edge the same in every company."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The listed joins of a pile, row by row."""

    row_starts: NDArray[np.int64]  # (n + 1,)
    columns: NDArray[np.int32]

    def of_row(self, row: int) -> Rows:
        """The left-hand edges that are listed for a right-hand one."""
        return self.columns[self.row_starts[row] : self.row_starts[row + 1]].astype(np.intp)


def draw_sketch(values: NDArray[np.float64]) -> Sketch:
    """A sketch of n edges; the numbers are whole, and what becomes of an edge depends on it alone."""
    flat = values.reshape(len(values), -1)
    largest = np.maximum(np.abs(flat).max(axis=1, initial=1), 1)
    shrunk = np.rint(flat * np.minimum(1, _LARGEST / largest)[:, None])
    length = np.sqrt(np.square(shrunk).sum(axis=1))
    worth = np.maximum(length, 1) / _LENGTH * np.maximum(1, largest / _LARGEST)
    drawn = np.rint(flat / worth[:, None])
    scale = np.where(length > 0, worth, 0)
    return Sketch(drawn.reshape(values.shape).astype(np.int16), scale.astype(np.float32))


def pool_rows(values: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """Sums of so many rows each; what is left over at the end is not looked at."""
    count, height, depth = values.shape
    whole = height // rows * rows
    pooled: NDArray[np.float64] = values[:, :whole].reshape(count, -1, rows, depth).sum(axis=2)
    return pooled


@dataclass(frozen=True, eq=False)
class Sight:
    """The left-hand edges that others are compared with, ready to be multiplied at every shift."""

    flat: NDArray[np.float32]  # (n, (rows + 2 * reach) * d)
    scale: NDArray[np.float32]  # (n,)
    depth: int
    reach: int

    def __len__(self) -> int:
        return len(self.flat)


def set_sight(lefts: Sketch, reach: int) -> Sight:
    """Made once for a pile, and not for every block of it."""
    count, rows, depth = lefts.values.shape
    padded = np.zeros((count, rows + 2 * reach, depth), np.float32)
    padded[:, reach : reach + rows] = lefts.values
    return Sight(padded.reshape(count, -1), lefts.scale, depth, reach)


def glance(rights: Sketch, lefts: Sight) -> NDArray[np.float32]:  # (a, b)
    """How well edges fit at their best shift, as far as sketches tell; -inf where there is nothing to see."""
    upper = rights.values.reshape(len(rights), -1).astype(np.float32)
    size, depth = upper.shape[1], lefts.depth
    best = upper @ lefts.flat[:, :size].T
    for k in range(1, 2 * lefts.reach + 1):
        np.maximum(best, upper @ lefts.flat[:, k * depth : k * depth + size].T, out=best)
    best *= rights.scale[:, None]
    best *= lefts.scale
    best[rights.scale == 0] = -np.inf
    best[:, lefts.scale == 0] = -np.inf
    return best


def find_candidates(
    looks: Sequence[Look],
    rights: Sequence[Sketch],
    lefts: Sequence[Sketch],
    *,
    executor: Executor,
    progress: Progress | None = None,
) -> Candidates:
    """Look at all joins of a pile, whose edges come in its order."""
    count = len(rights[0])
    found = []
    for look, own, other in zip(looks, rights, lefts, strict=True):
        starts = range(0, count, BLOCK)
        sight = set_sight(other, look.reach)
        looked = executor.stream(partial(_look_at_block, look=look, rights=own, lefts=sight), starts)
        found.append(gather_looks(look, count, _report(looked, len(starts), progress)))
    return list_candidates(found, count)


def _report(looked: Iterable[Looked], total: int, progress: Progress | None) -> Iterator[Looked]:
    for done, block in enumerate(looked, 1):
        yield block
        if progress:
            progress("looking", done, total)


def list_candidates(found: Sequence[NDArray[np.int64]], count: int) -> Candidates:
    """The joins that each way to look has found, as row * n + column."""
    rows, columns = np.divmod(distinct(found), count)
    return Candidates(np.searchsorted(rows, np.arange(count + 1)), columns.astype(np.int32))


def gather_looks(look: Look, count: int, looked: Iterable[Looked]) -> NDArray[np.int64]:
    """The joins that are among the best of their row or of their column; parts come in the pile's order."""
    whole = _merge(look, count, looked)
    columns = np.broadcast_to(np.arange(count)[:, None], whole.best.rows.shape)
    is_there = np.isfinite(whole.best.scores)
    return np.concatenate([whole.joins, whole.best.rows[is_there] * count + columns[is_there]])


def look_at_part(start: int, stop: int, *, look: Look, rights: Sketch, lefts: Sketch) -> Looked:
    """The look of some right-hand edges, as many as fit a task, at all left-hand ones."""
    see = partial(_look_at_block, look=look, rights=rights, lefts=set_sight(lefts, look.reach))
    return _merge(look, len(lefts), map(see, range(start, min(stop, len(rights)), BLOCK)))


def _merge(look: Look, count: int, looked: Iterable[Looked]) -> Looked:
    joins = [np.zeros(0, np.int64)]
    best = Best(np.empty((count, 0), np.float32), np.empty((count, 0), np.int64))
    for block in looked:
        joins.append(block.joins)
        best = best.merge(block.best, look.candidates)
    return Looked(np.concatenate(joins), best)


@dataclass(frozen=True, eq=False)
class Best:
    """The best right-hand edges of every left-hand one so far, in the order of the pile."""

    scores: NDArray[np.float32]  # (n, k)
    rows: NDArray[np.int64]

    def merge(self, others: Best, count: int) -> Best:
        scores = np.concatenate([self.scores, others.scores], axis=1)
        rows = np.concatenate([self.rows, others.rows], axis=1)
        kept = mark_best(scores, count)
        shape = len(scores), -1
        return Best(scores[kept].reshape(shape), rows[kept].reshape(shape))


@dataclass(frozen=True, eq=False)
class Looked:
    """What a look at some rows has found: the best of each, as row * n + column, and of every column."""

    joins: NDArray[np.int64]
    best: Best


def _look_at_block(start: int, *, look: Look, rights: Sketch, lefts: Sight) -> Looked:
    own = rights[slice(start, start + BLOCK)]
    scores = glance(own, lefts)
    rows = np.arange(start, start + len(own))
    scores[np.arange(len(own)), rows] = -np.inf  # no shred stands beside itself
    places, columns = np.nonzero(mark_best(scores, look.candidates) & np.isfinite(scores))
    across = np.ascontiguousarray(scores.T)
    kept = mark_best(across, look.candidates)
    shape = len(across), -1
    best = Best(across[kept].reshape(shape), np.broadcast_to(rows, across.shape)[kept].reshape(shape))
    return Looked(rows[places] * len(lefts) + columns, best)


def mark_best(scores: NDArray[np.float32], count: int) -> Marks:  # (a, b) -> (a, b)
    """The best `count` of every row; of equals the first."""
    width = scores.shape[1]
    if width <= count:
        return np.ones(scores.shape, np.bool_)
    least = np.partition(scores, width - count, axis=1)[:, width - count, None]
    marks: Marks = scores >= least
    crowded = np.flatnonzero(marks.sum(axis=1) > count)
    if len(crowded):
        equal = scores[crowded] == least[crowded]
        room = count - (scores[crowded] > least[crowded]).sum(axis=1, keepdims=True)
        marks[crowded] &= ~equal | (np.cumsum(equal, axis=1) <= room)
    return marks


def rank_joins(edges: Rows, scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """The place of every join among those of its edge, the best first."""
    order = np.lexsort((-scores, edges))
    starts = np.searchsorted(edges[order], edges[order], "left")
    ranks = np.empty(len(edges), np.int64)
    ranks[order] = np.arange(len(edges)) - starts
    return ranks
