"""Scores and page ends in, the share of the likely orders that make each join out; rare joins are ruled out.

Every shred has one neighbor, or the end of a page, on either side. Of all ways to choose them, each as likely
as its scores say, some share makes a given join. The cheapest order can hold joins that hardly any likely
order makes: where nothing fits, it closes a hole with whatever costs least. Such joins are not believed.

Page ends have to be as many as there are pages. Where that number is known, from the width of the paper or
because somebody said so, only orders with about so many pages are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from deshred.elements import Compatibility, Constraints, Margins

Floats = NDArray[np.floating]
Ints = NDArray[np.intp]

_ROUNDS = 200
_CONVERGED = 0.01  # by which the shares of an edge may miss 1
_CIRCLES = 4  # times that joins which close a circle are taken out
_MOST = 0.6  # an edge has one such join at most: those that the likely orders agree on


@dataclass(frozen=True, eq=False)
class Shares:
    """The share of the likely orders that make each join."""

    compatibility: Compatibility  # the joins
    values: NDArray[np.float32]  # in the shape of its scores

    def of(self, i: int, j: int) -> float:
        """The share of i -> j; 0 for a join that is not listed."""
        at = self.compatibility.find_join(i, j)
        return 0.0 if at is None else float(self.values[at])

    def rule_out(self, least: float) -> Compatibility:
        """The same scores, but joins with a smaller share cannot be."""
        scores = np.where(self.values < least, np.float32(-np.inf), self.compatibility.scores)
        return replace(self.compatibility, scores=scores)


@dataclass(frozen=True, eq=False)
class _Listed:
    """All joins that can be, one behind the other."""

    rows: Ints
    columns: Ints
    scores: Floats
    size: int

    @staticmethod
    def of(compatibility: Compatibility) -> _Listed:
        rows, columns = compatibility.list_joins()
        scores = np.where(rows == columns, -np.inf, compatibility.scores.ravel().astype(np.float64))
        return _Listed(rows, columns, scores, len(compatibility))


def allow(believed: Compatibility, compatibility: Compatibility, constraints: Constraints) -> Compatibility:
    """With the joins back that a person speaks about: those required, and all others of an edge whose
    neighbor is known not to be the one that was found."""
    if not constraints:
        return believed
    listed, index = _Listed.of(compatibility), {name: i for i, name in enumerate(believed.ids)}
    lefts = {left for left, _ in constraints.forbidden} | constraints.not_last
    rights = {right for _, right in constraints.forbidden} | constraints.not_first
    back = np.isin(listed.rows, [index[name] for name in lefts])
    back |= np.isin(listed.columns, [index[name] for name in rights])
    required = [index[left] * listed.size + index[right] for left, right in constraints.required]
    back |= np.isin(listed.rows * listed.size + listed.columns, required)
    back = back.reshape(believed.scores.shape) & (believed.scores < compatibility.scores)
    if not back.any():
        return believed
    return replace(believed, scores=np.where(back, compatibility.scores, believed.scores))


def share_joins(compatibility: Compatibility, margins: Margins, pages: float | None) -> Shares:
    """The share of each join: Sinkhorn's scaling of the exponentials of the scores.

    `pages` is how many there are, about; None leaves that to the scores.
    That way of counting knows no circles, but a page is none: where the joins that most orders agree on would
    close one, its weakest join is taken out, and shares are counted again.
    """
    listed = _Listed.of(compatibility)
    starts, ends = (side.astype(np.float64) for side in (margins.starts, margins.ends))
    shares = np.zeros(len(listed.scores), np.float32)
    for _ in range(_CIRCLES if listed.size else 0):
        shares = _scale(listed, starts, ends, pages)
        closing = _find_closing(listed, shares, listed.scores - ends[listed.rows] - starts[listed.columns])
        if not len(closing):
            break
        listed.scores[closing] = -np.inf
    return Shares(compatibility, shares.reshape(compatibility.scores.shape))


def _scale(listed: _Listed, starts: Floats, ends: Floats, pages: float | None) -> NDArray[np.float32]:
    """Weights of rows and columns under which the shares of every edge add up to 1, and those of all page
    starts and of all page ends to the number of pages."""
    highest = ends.copy()
    np.maximum.at(highest, listed.rows, listed.scores)
    scores = listed.scores - highest[listed.rows]
    left = starts.copy()
    np.maximum.at(left, listed.columns, scores)
    kernel = np.exp(scores - left[listed.columns]).astype(np.float32)
    matrix, transposed = _to_matrices(listed, kernel)
    ending, starting = np.exp(ends - highest), np.exp(starts - left)
    by_column = np.ones(listed.size)
    for _ in range(_ROUNDS):
        by_row = 1 / (matrix @ by_column + ending)
        ending *= _rise(float(ending @ by_row), pages)
        sums = transposed @ by_row + starting
        if np.abs(by_column * sums - 1).max() < _CONVERGED:
            break
        by_column = 1 / sums
        starting *= _rise(float(starting @ by_column), pages)
    shares = kernel * by_row[listed.rows] * by_column[listed.columns]
    return np.asarray(shares, np.float32)


def _rise(found: float, pages: float | None) -> float:
    """What page ends are to be multiplied by; slowly, as joins give way to them."""
    return 1.0 if pages is None or found <= 0 else float(np.sqrt(pages / found))


def _to_matrices(listed: _Listed, values: NDArray[np.float32]) -> tuple[Any, Any]:
    """The joins as a matrix, and its transpose: both ready for many products in double precision."""
    doubled = values.astype(np.float64)
    if len(values) == listed.size**2:
        matrix = doubled.reshape(listed.size, listed.size)
        return matrix, matrix.T
    matrix = csr_array((doubled, (listed.rows, listed.columns)), shape=(listed.size, listed.size))
    return matrix, matrix.T.tocsr()


def _find_closing(listed: _Listed, shares: NDArray[np.float32], leads: Floats) -> Ints:
    """The joins that close a circle of agreed ones: from the end of a chain to its start, or the weakest."""
    agreed = np.flatnonzero(shares > _MOST)
    right, by_pair = {}, {}
    for at, i, j in zip(
        agreed.tolist(), listed.rows[agreed].tolist(), listed.columns[agreed].tolist(), strict=True
    ):
        right[i], by_pair[i, j] = j, at
    back: dict[int, int] = {}  # from the last shred of a chain to its first
    closing: list[int] = []
    firsts = set(right) - set(right.values())
    for first in firsts:
        last = first
        while last in right:
            last = right.pop(last)
        back[last] = first
    while right:
        first = next(iter(right))
        circle = [first]
        while (following := right.pop(circle[-1])) != first:
            circle.append(following)
        joins = [by_pair[pair] for pair in zip(circle, [*circle[1:], first], strict=True)]
        closing.append(min(joins, key=lambda at: float(leads[at])))
    targets = np.full(listed.size, -1)
    targets[list(back)] = list(back.values())
    chained = np.flatnonzero((targets[listed.rows] == listed.columns) & np.isfinite(listed.scores))
    return np.concatenate([chained, np.array(closing, np.intp)])
