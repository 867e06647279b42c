"""Scores in, honest probabilities out: how sure is each join and each page break of an arrangement.

An answer stands against every other join of its two edges: its lead is its score less the log-sum of theirs,
the poorer of both sides. The score of a page break is what its two shreds say about ending and beginning a
page. A logistic curve per scorer turns leads into probabilities; it is fitted on simulated piles
(`fitting.py`), never on the documents that results are reported for. Joins that others beat are off the
curve: for them, piles tell how many are true.

Where scores know page ends too, more is asked: whether the neighbor is in the pile at all (`presence.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.presence import BeliefCurve, PresenceCurve, gather_facts
from deshred.elements import Arrangement, Calibration, Compatibility

_DECIDED = 30.0  # nats; a larger lead says no more about what a scorer may have got wrong
_BEATEN = 2.0  # nats; a join that others beat stands where they have better places: by how much says no more


def rate(arrangement: Arrangement, compatibility: Compatibility) -> Arrangement:
    """The arrangement with a probability on every join and page break, where scores are calibrated."""
    if compatibility.calibration is None:
        return arrangement
    index = {shred_id: i for i, shred_id in enumerate(compatibility.ids)}
    joins = [(index[join.left], index[join.right]) for join in arrangement.joins]
    breaks = [(index[one.after], index[one.before]) for one in arrangement.breaks]
    calibrate = compatibility.calibration.probability
    rivals = _Rivals(compatibility)
    leads = rivals.find_leads(joins)
    of_joins = rate_joins(compatibility.calibration, leads)
    margins = compatibility.margins
    if margins is not None and joins and compatibility.calibration.asks_for_fit:
        shares = [join.share for join in arrangement.joins]
        facts = gather_facts(compatibility, margins, joins, leads, [1 if s is None else s for s in shares])
        probable = PresenceCurve().probability(facts)
        of_joins = probable if None not in shares else np.minimum(of_joins, probable)
        if compatibility.beliefs is not None:
            of_joins = BeliefCurve().mix(of_joins, compatibility.take_beliefs(joins))
    of_joins = np.minimum(of_joins, 1 / rivals.count_ties(joins))
    of_breaks: Sequence[float | None] = [None] * len(breaks)
    if margins is not None and breaks:
        after, before = np.array(breaks).T
        own = margins.ends[after].astype(np.float64) + margins.starts[before]
        of_breaks = calibrate(rivals.find_leads(breaks, own)).tolist()
    return replace(
        arrangement,
        joins=tuple(
            replace(join, probability=float(p)) for join, p in zip(arrangement.joins, of_joins, strict=True)
        ),
        breaks=tuple(
            replace(one, probability=p) for one, p in zip(arrangement.breaks, of_breaks, strict=True)
        ),
    )


def rate_joins(calibration: Calibration, leads: NDArray[np.float64]) -> NDArray[np.float64]:  # (m,)
    """The probability of joins with these leads."""
    by_curve = calibration.probability(leads)
    if calibration.beaten is None:
        return by_curve
    return np.where(is_beaten(leads), calibration.beaten, by_curve)


def is_beaten(leads: NDArray[np.float64]) -> NDArray[np.bool_]:  # (m,)
    """Joins that others beat by so much that the lead says no more; not those that cannot be."""
    return (leads <= -_BEATEN) & (leads > -_DECIDED)


def find_leads(
    compatibility: Compatibility, pairs: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:  # (len(pairs),)
    """By how many nats each join beats all other joins of its two edges together."""
    return _Rivals(compatibility).find_leads(pairs)


def count_ties(compatibility: Compatibility, pairs: Sequence[tuple[int, int]]) -> NDArray[np.intp]:  # (m,)
    """How many joins of an edge have the very score of this one, itself included. Nobody can tell them apart.

    Equal files do that: their shreds fit everywhere alike.
    """
    return _Rivals(compatibility).count_ties(pairs)


class _Rivals:
    """All joins that can be, by both of their edges: what an answer stands against."""

    def __init__(self, compatibility: Compatibility) -> None:
        rows, columns = compatibility.list_joins()
        scores = compatibility.scores.ravel()
        can_be = np.isfinite(scores)
        rows, columns, kept = rows[can_be], columns[can_be], scores[can_be].astype(np.float64)
        self._compatibility = compatibility
        self._by_right, self._by_left = _Grouped(rows, columns, kept), _Grouped(columns, rows, kept)

    def find_leads(
        self, pairs: Sequence[tuple[int, int]], breaks: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:  # (len(pairs),)
        """By how many nats each join beats all other joins of its two edges together.

        With `breaks`, the scores of a page break at each pair: by how many it beats all joins there.
        """
        leads = []
        for at, (i, j) in enumerate(pairs):
            own = self._compatibility.score(i, j) if breaks is None else float(breaks[at])
            forth = own - self._by_right.log_sum(i, but=j if breaks is None else -1)
            back = own - self._by_left.log_sum(j, but=i if breaks is None else -1)
            least = -_BEATEN if breaks is None and np.isfinite(own) else -_DECIDED
            leads.append(max(-np.logaddexp(-forth, -back), least) if np.isfinite(own) else least)
        return np.minimum(leads, _DECIDED)

    def count_ties(self, pairs: Sequence[tuple[int, int]]) -> NDArray[np.intp]:  # (m,)
        """As `count_ties` above."""
        own = [self._compatibility.score(i, j) for i, j in pairs]
        ties = [
            max(1, self._by_right.count(i, score), self._by_left.count(j, score))
            for (i, j), score in zip(pairs, own, strict=True)
        ]
        return np.array(ties, np.intp)


class _Grouped:
    """Joins grouped by the edge they share."""

    def __init__(
        self, edges: NDArray[np.intp], partners: NDArray[np.intp], scores: NDArray[np.float64]
    ) -> None:
        order = np.argsort(edges, kind="stable")
        self._edges, self._partners, self._scores = edges[order], partners[order], scores[order]

    def log_sum(self, edge: int, *, but: int) -> float:
        """Log-sum of the scores of an edge with everyone but one; nobody left is as bad as it gets."""
        group = self._find(edge)
        rivals = self._scores[group][self._partners[group] != but]
        return float(np.logaddexp.reduce(rivals)) if rivals.size else -np.inf

    def count(self, edge: int, score: float) -> int:
        """Joins of an edge with exactly this score."""
        return int((self._scores[self._find(edge)] == score).sum())

    def _find(self, edge: int) -> slice:
        start, stop = np.searchsorted(self._edges, (edge, edge + 1))
        return slice(int(start), int(stop))
