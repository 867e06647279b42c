"""How far each shred moves at the knots along a page, given how far its joins pull it there.

Every shred is a rod with knots down its length. Joins pull the knots of neighbors together, as strongly as
they are sure; the rods resist stretching and bending. Pulls that the others contradict lose their strength.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

Grid = NDArray[np.float64]

_ROUNDS = 4
_DOUBTFUL = 2.0  # standard deviations from which a pull loses its strength
_ANCHOR = 1e-6  # holds the page as a whole where it is


@dataclass(frozen=True, eq=False)
class Pulls:
    """How much further than its left neighbor each shred should move, at every knot."""

    wanted: Grid  # (joins, knots): px
    trust: Grid  # (joins, knots): 1 / variance; 0 where a join does not say


@dataclass(frozen=True)
class Stiffness:
    """What the rods resist, as 1 / variance."""

    joins: float  # neighbors moving apart without evidence
    stretch: float  # a difference between one knot and the next
    bend: float  # a kink


def settle(pulls: Pulls, stiffness: Stiffness, *, rounds: int = _ROUNDS) -> Grid:
    """How far every shred moves at every knot. (joins + 1, knots)"""
    joins, knots = pulls.wanted.shape
    moves = np.zeros((joins + 1, knots))
    trust = pulls.trust
    for _ in range(rounds if joins else 0):
        moves = _solve(pulls.wanted, trust, stiffness)
        error = np.diff(moves, axis=0) - pulls.wanted
        trust = pulls.trust / (1 + pulls.trust * (error / _DOUBTFUL) ** 2)
    return moves


def _solve(wanted: Grid, trust: Grid, stiffness: Stiffness) -> Grid:
    """The least squares of all pulls and resistances: a banded system."""
    joins, knots = wanted.shape
    diagonal = np.full((joins + 1, knots), _ANCHOR)
    beside = np.zeros_like(diagonal)  # to the same knot of the next shred
    below, two_below = np.zeros_like(diagonal), np.zeros_like(diagonal)
    pull = trust + stiffness.joins
    diagonal[:-1] += pull
    diagonal[1:] += pull
    beside[:-1] -= pull
    force = np.zeros_like(diagonal)
    force[:-1] -= trust * wanted
    force[1:] += trust * wanted
    diagonal[:, :-1] += stiffness.stretch
    diagonal[:, 1:] += stiffness.stretch
    below[:, :-1] -= stiffness.stretch
    if knots > 2:
        diagonal[:, :-2] += stiffness.bend
        diagonal[:, 1:-1] += 4 * stiffness.bend
        diagonal[:, 2:] += stiffness.bend
        below[:, :-2] -= 2 * stiffness.bend
        below[:, 1:-1] -= 2 * stiffness.bend
        two_below[:, :-2] += stiffness.bend
    bands = np.zeros((max(knots, 2) + 1, diagonal.size))
    for distance, band in ((0, diagonal), (1, below), (2, two_below), (knots, beside)):
        bands[distance] += band.ravel()
    return np.asarray(solveh_banded(bands, force.ravel(), lower=True)).reshape(diagonal.shape)
