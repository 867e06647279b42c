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
    rows, columns, scores = _listed(compatibility)
    count = len(compatibility)
    of_row = _log_sum(rows, scores, count)
    of_column = _log_sum(columns, scores, count)
    margins = []
    for i, j in pairs:
        own = compatibility.score(i, j)
        margins.append(-np.logaddexp(-_against(own, of_row[i]), -_against(own, of_column[j])))
    return np.array(margins)


def _against(own: float, total: float) -> float:
    """The log-odds of one candidate against the others, from the log-sum over all of them."""
    share = min(own - total, -1e-12)
    return float(np.clip(share - np.log(-np.expm1(share)), -1e3, 1e3)) if np.isfinite(share) else -1e3


def _listed(
    compatibility: Compatibility,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """All joins that can be: row, column, score."""
    if compatibility.columns is None or compatibility.row_starts is None:
        rows, columns = np.nonzero(np.isfinite(compatibility.scores))
        return rows, columns, compatibility.scores[rows, columns].astype(np.float64)
    rows = np.repeat(np.arange(len(compatibility)), np.diff(compatibility.row_starts))
    return rows, compatibility.columns.astype(np.intp), compatibility.scores.astype(np.float64)


def _log_sum(groups: NDArray[np.intp], scores: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    best = np.full(count, -np.inf)
    np.maximum.at(best, groups, scores)
    total = np.zeros(count)
    np.add.at(total, groups, np.exp(scores - best[groups]))
    with np.errstate(divide="ignore"):
        return best + np.log(total)
