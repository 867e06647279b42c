"""Evidence at every vertical shift in, one score per join out; and what a pile tells about its shifts.

How far neighbors lie apart depends on who glued and scanned them, so every pile gets a prior of its own,
learned from its own evidence (expectation maximization).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from deshred.compatibility.contract import Rows, ScoreBlock

ShiftEvidence = NDArray[np.float32]  # (shifts, a, b), in nats
LogPrior = NDArray[np.float32]  # (shifts,)

_PART = 768  # numbers of an edge that are multiplied in one go: few enough for exact sums
_EXACT = 1 << 24  # whole numbers up to here are exact in single precision
_ABOVE = 1.001  # lengths are rounded themselves

_TELLING = 128  # edges that the shifts of a pile are learned from
_ROUNDS = 8
_STRENGTH = 5.0  # the given prior counts like so many joins
_TRUST = 0.5  # the rest stays with the given prior: a few shreds may slip much further than most


def correlate_shifts(
    rights: NDArray[np.int16], lefts: NDArray[np.int16], reach: int
) -> NDArray[np.float64]:  # (a, rows, d), (b, rows, d) -> (2 * reach + 1, a, b)
    """Inner products of edges at every shift up to `reach` rows; beyond its ends an edge is zero.

    Whole numbers whose sums are small enough are added without an error, so the product of two edges is the
    same in every group, order and library. Single precision holds them up to 2^24, and no sum over a part of
    two edges is larger than the product of their lengths there. Where that is too much, the precision is
    double.
    """
    if len(rights) == 1:
        return _correlate_one(rights[0], lefts, reach)[:, None]
    count, rows, depth = lefts.shape
    padded = np.zeros((count, rows + 2 * reach, depth), np.int16)
    padded[:, reach : reach + rows] = lefts
    products = np.zeros((2 * reach + 1, len(rights), count))
    step = max(1, _PART // depth)
    for first in range(0, rows, step):
        height = min(step, rows - first)
        own = rights[:, first : first + height].reshape(len(rights), -1)
        window = padded[:, first : first + height + 2 * reach].reshape(count, -1)
        upper, lower = _choose_precision(own, window)
        for k in range(2 * reach + 1):
            # a shifted window of the padded rows is a strided matrix: no copy per shift
            products[k] += upper @ lower[:, k * depth : (k + height) * depth].T
    return products


def _correlate_one(
    right: NDArray[np.int16], lefts: NDArray[np.int16], reach: int
) -> NDArray[np.float64]:  # (rows, d), (m, rows, d) -> (2 * reach + 1, m)
    """The same for one right-hand edge: each left-hand one is read once for all shifts."""
    count, rows, depth = lefts.shape
    padded = np.zeros((rows + 2 * reach, depth), np.int16)
    padded[reach : reach + rows] = right
    windows = np.lib.stride_tricks.sliding_window_view(padded.reshape(-1), rows * depth)
    # shift k brings row y of the right-hand edge to row y + k - reach of the left-hand ones
    shifted = windows[2 * reach * depth :: -depth] if reach else windows
    products = np.zeros((2 * reach + 1, count))
    flat = lefts.reshape(count, rows * depth)
    step = max(1, _PART // depth) * depth
    for first in range(0, rows * depth, step):
        own, others = shifted[:, first : first + step], flat[:, first : first + step]
        upper, lower = _choose_precision(own, others)
        products += upper @ lower.T
    return products


def _choose_precision(some: NDArray[np.int16], others: NDArray[np.int16]) -> list[NDArray[Any]]:
    """Both in a precision in which the products of some whole vectors with others are exact."""
    single = [vectors.astype(np.float32) for vectors in (some, others)]
    if _longest(single[0]) * _longest(single[1]) < _EXACT:
        return single
    return [vectors.astype(np.float64) for vectors in (some, others)]


def _longest(vectors: NDArray[np.float32]) -> float:
    """The length of the longest of some vectors, or a little more."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    return float(np.sqrt(squares.max(initial=0))) * _ABOVE


def add_logs(some: ShiftEvidence, others: ShiftEvidence | np.float32) -> ShiftEvidence:
    """Log of the sum of two exponentials, as `np.logaddexp`, which takes four times as long."""
    total: ShiftEvidence = np.exp(-np.abs(some - others))
    total += 1
    np.log(total, out=total)
    total += np.maximum(some, others)
    return total


def reduce_shifts(evidence: ShiftEvidence, log_prior: LogPrior, shifts_px: NDArray[np.int16]) -> ScoreBlock:
    """Log-sum of the evidence over shifts, each as likely as the prior says, and the best shift. -> (a, b)"""
    weighed = evidence + log_prior[:, None, None]
    return ScoreBlock(logsumexp(weighed, axis=0), shifts_px[weighed.argmax(axis=0)])


def learn_prior(evidence: ShiftEvidence, log_prior: LogPrior) -> LogPrior:
    """The prior under which right-hand edges (rows) find their partners best.

    Each row has one partner at one shift, unknown both: what they probably are is counted, and counted again
    under the prior that follows. Joins that cannot be are -inf.
    """
    given = np.exp(log_prior.astype(np.float64))
    learned = given
    # from here on only the partners' sum at each shift counts
    height = evidence.max(axis=(0, 2), keepdims=True)
    height[~np.isfinite(height)] = 0
    mass = np.exp(evidence - height).sum(axis=2, dtype=np.float64)  # (shifts, a)
    for _ in range(_ROUNDS):
        joint = mass * learned[:, None]
        counts = (joint / np.maximum(joint.sum(axis=0), 1e-300)).sum(axis=1) + _STRENGTH * given
        learned = counts / counts.sum()
    return np.log(_TRUST * learned + (1 - _TRUST) * given).astype(np.float32)


def measure_likelihood(evidence: ShiftEvidence, log_prior: LogPrior) -> float:
    """How well the evidence explains that each row has a partner somewhere, in nats, after learning."""
    prior = learn_prior(evidence, log_prior)
    found = logsumexp(evidence + prior[:, None, None], axis=(0, 2))
    return float(found[np.isfinite(found)].sum(dtype=np.float64))


def find_telling(energy: NDArray[np.floating | np.integer]) -> Rows:
    """The edges with the most to say.

    By what they show, not by where they stand: the order of the pile must not matter.
    """
    return np.argsort(-energy, kind="stable")[:_TELLING]


def forbid_own(evidence: ShiftEvidence, rows: Rows) -> ShiftEvidence:
    """The evidence of some rows of a pile, where no shred stands beside itself."""
    evidence[:, np.arange(len(rows)), rows] = -np.inf
    return evidence
