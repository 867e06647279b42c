"""Which joins to ask a person about: the strategies of the published study, and deshred's own.

Paixão et al., "A human-in-the-loop recommendation-based framework for reconstruction of mechanically shredded
documents", Pattern Recognition Letters 164 (2022).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Compatibility, Join

Floats = NDArray[np.float64]
_LEAST = 1e-7  # the belief that is left for what cannot be
_SHARPNESS = 100.0  # lambda of the published study


@dataclass(frozen=True, eq=False)
class Question:
    """All that a strategy may look at. No truth."""

    costs: Floats  # (n, n): after all answers so far; infinite cannot be, minus infinite is certain
    pairs: NDArray[np.int64]  # (n - 1, 2): the joins of the present order, left to right
    joins: Sequence[Join]
    beliefs: Floats  # (n, n): how likely j is right of i, before any answer
    asked: frozenset[tuple[int, int]]
    rng: np.random.Generator


Strategy = Callable[[Question], NDArray[np.int64]]  # places in `pairs`, to be asked first comes first


def suspicious_first(question: Question, *, both: bool) -> NDArray[np.int64]:
    """Joins that are not the cheapest of their row (or column), last ones first; then the others in order."""
    i, j = question.pairs.T
    own = question.costs[i, j]
    suspicious = own > question.costs[i].min(axis=1)
    if both:
        suspicious |= own > question.costs[:, j].min(axis=0)
    return np.concatenate([np.flatnonzero(suspicious)[::-1], np.flatnonzero(~suspicious)])


def uncertain_first(question: Question, *, both: bool) -> NDArray[np.int64]:
    """Joins whose row (and column) spreads its belief over many partners."""
    i, j = question.pairs.T
    spread = _entropy(question.costs)[i]
    if both:
        spread = spread + _entropy(question.costs.T)[j]
    return np.argsort(-spread, kind="stable")


def _entropy(costs: Floats) -> Floats:
    """Of every row; a row that is decided has none."""
    finite = np.isfinite(costs)
    largest = float(costs[finite].max(initial=0.0)) or 1.0
    beliefs = np.where(finite, np.exp(-_SHARPNESS * np.where(finite, costs, 0.0) / largest), 0.0) + _LEAST
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    entropy: Floats = -(beliefs * np.log(beliefs)).sum(axis=1)
    entropy[np.isneginf(costs).any(axis=1)] = 0.0
    return entropy


def at_random(question: Question) -> NDArray[np.int64]:
    """Any join."""
    return question.rng.permutation(len(question.pairs))


def improbable_first(question: Question) -> NDArray[np.int64]:
    """Joins with the least calibrated probability."""
    return _least_first(question, [1.0 if j.probability is None else j.probability for j in question.joins])


def cheap_first(question: Question) -> NDArray[np.int64]:
    """Joins that the solver would give up for the least price."""
    return _least_first(question, [np.inf if j.price is None else j.price for j in question.joins])


def gainful_first(question: Question) -> NDArray[np.int64]:
    """Joins where a no helps most: wrong by belief, and another partner is at hand."""
    i, j = question.pairs.T
    own = np.array([1.0 if join.probability is None else join.probability for join in question.joins])
    others = question.beliefs.copy()
    others[i, j] = 0.0
    at_hand = np.maximum(others[i].max(axis=1), others[:, j].max(axis=0))
    return _least_first(question, -(1 - own) * at_hand)


def _least_first(question: Question, values: Sequence[float] | Floats) -> NDArray[np.int64]:
    """Least first; what was asked before comes last."""
    again = np.array([tuple(pair) in question.asked for pair in question.pairs.tolist()])
    return np.lexsort((np.asarray(values), again))


STRATEGIES: Mapping[str, Strategy] = {
    "opt-l": partial(suspicious_first, both=False),
    "opt-rl": partial(suspicious_first, both=True),
    "unc-l": partial(uncertain_first, both=False),
    "unc-rl": partial(uncertain_first, both=True),
    "random": at_random,
    "probability": improbable_first,
    "price": cheap_first,
    "gain": gainful_first,
}


def believe(compatibility: Compatibility) -> Floats:
    """How likely j is right of i: against all others of the row and of the column, the poorer of both."""
    scores = compatibility.scores.astype(np.float64)
    slope = 1.0 if compatibility.calibration is None else compatibility.calibration.slope
    forth, back = slope * scores, slope * scores
    forth = np.exp(forth - np.logaddexp.reduce(forth, axis=1, keepdims=True))
    back = np.exp(back - np.logaddexp.reduce(back, axis=0, keepdims=True))
    return np.minimum(forth, back)
