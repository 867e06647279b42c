"""The joins of an arrangement and what is known about them in, how probable each is out.

A lead says who fits best, not whether anybody fits: where the true neighbor is gone, the best of the rest
leads too. But the more is written along two edges, the more a true join beats a page break there. How many
neighbors are gone, the pile tells itself. And a join that few of the likely orders make is doubted, however
well it fits. Where a close look was taken at the rows of a join (`towers/closelook.py`), that is a second
opinion.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from deshred.elements import Compatibility, Margins

Floats = NDArray[np.float64]

_BLANK = 99  # percentile of page ends in a pile: edges with nothing on them
_GONE = 0.1  # share of neighbors that are gone, before a pile is looked at
_ROUNDS = 60  # of counting how many are gone
_SEEN, _SEEN_GONE = 20.0, 1.0  # edges counted before any is looked at, and those of them without a neighbor
_UNLISTED = -8.0  # log-odds of joins that are not among the best of either edge
_LEAST = 1e-6  # shares are counted to so much


@dataclass(frozen=True, eq=False)
class JoinFacts:
    """What is known about m joins."""

    leads: Floats  # (m,): nats ahead of all other joins of their edges
    advantages: Floats  # (m,): nats ahead of a page break
    ink: Floats  # (m,): on both edges, nats beside blank paper
    shares: Floats  # (m,): of the likely orders make the join


def gather_facts(
    compatibility: Compatibility,
    margins: Margins,
    joins: Sequence[tuple[int, int]],
    leads: Floats,
    shares: Sequence[float],
) -> JoinFacts:
    """What a pile says about some of its joins."""
    lefts, rights = np.array(joins, np.intp).reshape(-1, 2).T
    ends, starts = (side.astype(np.float64) for side in (margins.ends[lefts], margins.starts[rights]))
    advantages = np.array([compatibility.score(i, j) for i, j in joins]) - ends - starts
    blank = np.percentile(np.concatenate([margins.starts, margins.ends]), _BLANK)
    ink = np.sqrt(np.maximum(blank - ends, 0) * np.maximum(blank - starts, 0))
    return JoinFacts(leads, advantages, ink, np.array(shares, np.float64))


@dataclass(frozen=True)
class PresenceCurve:
    """How facts become probabilities; fitted on eleven simulated piles with nothing, a tenth and three tenths
    of their shreds missing, mixed as `benchmarks/probabilities.py` mixes them."""

    intercept: float = 2.61
    lead: float = 0.409
    advantage: float = 0.129
    ink: float = -0.401
    share_intercept: float = 1.82
    share: float = 1.17

    def probability(self, facts: JoinFacts) -> Floats:
        """How probable each join is: its neighbor is in the pile, and it is the one."""
        log_odds = self.intercept + self.lead * facts.leads
        log_odds += self.advantage * facts.advantages + self.ink * facts.ink
        shares = logit(np.clip(facts.shares, _LEAST, 1 - _LEAST))
        is_the_one: Floats = expit(self.share_intercept + self.share * shares)
        return _find_present(log_odds) * is_the_one


@dataclass(frozen=True)
class BeliefCurve:
    """How a probability and what a close look says become one.

    Twelve simulated piles of rectangular crops, of pages that the looks were not learned from, say 1.75, 0.29
    and 0.59 (`benchmarks/probabilities.py --crops`). But looks were learned on piles of the same simulator,
    so this is halfway from there to no look at all.
    """

    intercept: float = 0.87
    probability: float = 0.65
    belief: float = 0.30

    def mix(self, probabilities: Floats, beliefs: Floats) -> Floats:
        """Both as one probability; what is not among the best of either edge is NaN, and not believed."""
        own = logit(np.clip(probabilities, _LEAST, 1 - _LEAST))
        looked = np.where(np.isnan(beliefs), _UNLISTED, beliefs)
        mixed: Floats = expit(self.intercept + self.probability * own + self.belief * looked)
        return mixed


def _find_present(log_odds: Floats) -> Floats:
    """The probability that the neighbor is in the pile: what all joins together say about how many are gone
    counts for each of them (expectation maximization)."""
    gone = _GONE
    for _ in range(_ROUNDS):
        present: Floats = expit(log_odds + logit(_GONE) - logit(gone))
        gone = (float((1 - present).sum()) + _SEEN_GONE) / (len(log_odds) + _SEEN)
    return present
