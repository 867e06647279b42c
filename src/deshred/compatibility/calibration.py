"""Scores in, honest probabilities out: how sure is each join and each page break of an arrangement.

An answer stands against every other join of its two edges: its lead is its score less the log-sum of theirs,
the poorer of both sides. The score of a page break is what its two shreds say about ending and beginning a
page. A logistic curve per scorer turns leads into probabilities; it is fitted on simulated piles
(`fitting.py`), never on the documents that results are reported for.

A lead says who fits best, not whether anybody fits: where the true neighbor is gone, the best of the rest
leads too. But the more is written along two edges, the more a true join beats a page break there. A second
curve knows that; a join is as probable as the poorer of both says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from deshred.elements import Arrangement, Compatibility, Margins

_DECIDED = 30.0  # nats; a larger lead says no more about what a scorer may have got wrong
# log-odds of a join: fitted on simulated piles of which nothing, a tenth and three tenths are missing
_FIT_INTERCEPT, _FIT_LEAD, _FIT_ADVANTAGE, _FIT_INK = 1.29, 0.408, 0.0836, -0.262
_BLANK = 99  # percentile of page ends in a pile: edges with nothing on them
_BEATEN = 2.0  # nats; a join that others beat stands where they have better places: by how much says no more


def rate(arrangement: Arrangement, compatibility: Compatibility) -> Arrangement:
    """The arrangement with a probability on every join and page break, where scores are calibrated."""
    if compatibility.calibration is None:
        return arrangement
    index = {shred_id: i for i, shred_id in enumerate(compatibility.ids)}
    joins = [(index[join.left], index[join.right]) for join in arrangement.joins]
    breaks = [(index[one.after], index[one.before]) for one in arrangement.breaks]
    calibrate = compatibility.calibration.probability
    leads = find_leads(compatibility, joins)
    of_joins = calibrate(leads)
    margins = compatibility.margins
    if margins is not None and joins and compatibility.calibration.asks_for_fit:
        of_joins = np.minimum(of_joins, _judge_fits(compatibility, margins, joins, leads))
    of_breaks: Sequence[float | None] = [None] * len(breaks)
    if margins is not None and breaks:
        after, before = np.array(breaks).T
        own = margins.ends[after].astype(np.float64) + margins.starts[before]
        of_breaks = calibrate(find_leads(compatibility, breaks, own)).tolist()
    return replace(
        arrangement,
        joins=tuple(
            replace(join, probability=float(p)) for join, p in zip(arrangement.joins, of_joins, strict=True)
        ),
        breaks=tuple(
            replace(one, probability=p) for one, p in zip(arrangement.breaks, of_breaks, strict=True)
        ),
    )


def find_leads(
    compatibility: Compatibility,
    pairs: Sequence[tuple[int, int]],
    breaks: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:  # (len(pairs),)
    """By how many nats each join beats all other joins of its two edges together.

    With `breaks`, the scores of a page break at each pair: by how many it beats all joins of the two edges.
    """
    listed = _listed(compatibility)
    by_row, by_column = _Rivals(listed.rows, listed), _Rivals(listed.columns, listed)
    leads = []
    for at, (i, j) in enumerate(pairs):
        own = compatibility.score(i, j) if breaks is None else float(breaks[at])
        forth = own - by_row.log_sum(i, listed.columns, but=j if breaks is None else -1)
        back = own - by_column.log_sum(j, listed.rows, but=i if breaks is None else -1)
        least = -_BEATEN if breaks is None and np.isfinite(own) else -_DECIDED
        leads.append(max(-np.logaddexp(-forth, -back), least) if np.isfinite(own) else least)
    return np.minimum(leads, _DECIDED)


def _judge_fits(
    compatibility: Compatibility,
    margins: Margins,
    joins: Sequence[tuple[int, int]],
    leads: NDArray[np.float64],
) -> NDArray[np.float64]:  # (len(joins),)
    """The probability of each join by how far it beats a page break there, given how much ink there is."""
    lefts, rights = np.array(joins, np.intp).T
    ends, starts = (side.astype(np.float64) for side in (margins.ends[lefts], margins.starts[rights]))
    advantage = np.array([compatibility.score(i, j) for i, j in joins]) - ends - starts
    blank = np.percentile(np.concatenate([margins.starts, margins.ends]), _BLANK)
    ink = np.sqrt(np.maximum(blank - ends, 0) * np.maximum(blank - starts, 0))
    log_odds = _FIT_INTERCEPT + _FIT_LEAD * leads + _FIT_ADVANTAGE * advantage + _FIT_INK * ink
    return expit(log_odds)  # type: ignore[no-any-return]


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
