"""Scores in, honest probabilities out: how sure is each join of an arrangement.

A join stands against every other join of its two edges: its margin is its score less the log-sum of theirs,
the poorer of both sides. A logistic curve per scorer turns margins into probabilities; it is fitted on
simulated piles (`calibration.py`), never on the documents that results are reported for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Arrangement, Compatibility

_DECIDED = 30.0  # nats; a larger margin says no more about what a scorer may have got wrong


@dataclass(frozen=True)
class Calibration:
    """probability = logistic(slope * margin + intercept)."""

    slope: float
    intercept: float

    def probability(self, margins: NDArray[np.floating]) -> NDArray[np.float64]:
        """Margins in nats to probabilities."""
        log_odds = np.clip(self.slope * np.asarray(margins, np.float64) + self.intercept, -50, 50)
        return 1 / (1 + np.exp(-log_odds))


def rate(
    arrangement: Arrangement, compatibility: Compatibility, calibration: Calibration | None
) -> Arrangement:
    """The arrangement with a probability on every join, where the scorer has a calibration."""
    if calibration is None or not arrangement.joins:
        return arrangement
    index = {shred_id: i for i, shred_id in enumerate(compatibility.ids)}
    pairs = [(index[join.left], index[join.right]) for join in arrangement.joins]
    probabilities = calibration.probability(find_margins(compatibility, pairs))
    joins = tuple(
        replace(join, probability=float(p)) for join, p in zip(arrangement.joins, probabilities, strict=True)
    )
    return replace(arrangement, joins=joins)


def find_margins(
    compatibility: Compatibility, pairs: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:  # (len(pairs),)
    """By how many nats each join beats all other joins of its two edges together."""
    listed = _listed(compatibility)
    by_row, by_column = _Rivals(listed.rows, listed), _Rivals(listed.columns, listed)
    margins = []
    for i, j in pairs:
        own = compatibility.score(i, j)
        forth = own - by_row.log_sum(i, listed.columns, but=j)
        back = own - by_column.log_sum(j, listed.rows, but=i)
        margins.append(-np.logaddexp(-forth, -back) if np.isfinite(own) else -_DECIDED)
    return np.clip(margins, -_DECIDED, _DECIDED)


@dataclass(frozen=True, eq=False)
class _Listed:
    """All joins that can be."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    scores: NDArray[np.float64]


def _listed(compatibility: Compatibility) -> _Listed:
    if compatibility.columns is None or compatibility.row_starts is None:
        rows, columns = np.nonzero(np.isfinite(compatibility.scores))
        return _Listed(rows, columns, compatibility.scores[rows, columns].astype(np.float64))
    rows = np.repeat(np.arange(len(compatibility)), np.diff(compatibility.row_starts))
    return _Listed(rows, compatibility.columns.astype(np.intp), compatibility.scores.astype(np.float64))


class _Rivals:
    """Joins grouped by the edge they share."""

    def __init__(self, edges: NDArray[np.intp], listed: _Listed) -> None:
        self._order = np.argsort(edges, kind="stable")
        self._edges = edges[self._order]
        self._scores = listed.scores

    def log_sum(self, edge: int, partners: NDArray[np.intp], *, but: int) -> float:
        """Log-sum of the scores of an edge with everyone but one; nobody left is as bad as it gets."""
        start, stop = np.searchsorted(self._edges, (edge, edge + 1))
        group = self._order[start:stop]
        rivals = self._scores[group[partners[group] != but]]
        return float(np.logaddexp.reduce(rivals)) if rivals.size else -np.inf
