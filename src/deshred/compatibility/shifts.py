"""Evidence at every vertical shift in, one score per join out; and what a pile tells about its shifts.

How far neighbors lie apart depends on who glued and scanned them, so every pile gets a prior of its own,
learned from its own evidence (expectation maximization).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from deshred.compatibility.contract import Rows, ScoreBlock
from deshred.compatibility.products import Bytes, are_bytes_quick, drop_signs, multiply, split_digits

Whole = NDArray[Any]  # whole numbers of 8 or 16 bits
ShiftEvidence = NDArray[np.float32]  # (shifts, a, b), in nats
LogPrior = NDArray[np.float32]  # (shifts,)

_PART = 768  # numbers of an edge that are multiplied in one go: few enough for exact sums
_LOT = 4  # shifts that are found together
_EXACT = 1 << 24  # whole numbers up to here are exact in single precision
_ABOVE = 1.001  # lengths are rounded themselves

_TELLING = 128  # edges that the shifts of a pile are learned from
_ROUNDS = 8
_STRENGTH = 5.0  # the given prior counts like so many joins
_TRUST = 0.5  # the rest stays with the given prior: a few shreds may slip much further than most


def correlate_shifts(
    rights: Whole, lefts: Whole, reach: int
) -> NDArray[np.float64]:  # (a, rows, d), (b, rows, d) -> (2 * reach + 1, a, b)
    """Inner products of edges at every shift up to `reach` rows; beyond its ends an edge is zero.

    Whole numbers whose sums are small enough are added without an error, so the product of two edges is the
    same in every group, order and library: in bytes, if the left-hand ones are (`products.py`), or in floats.
    """
    if lefts.dtype == np.int8 and are_bytes_quick():
        return correlate_bytes(rights, lefts, reach)
    return correlate_floats(rights, lefts, reach)


def correlate_bytes(
    rights: Whole, lefts: Bytes, reach: int
) -> NDArray[np.float64]:  # (a, rows, d), (b, rows, d) -> (2 * reach + 1, a, b)
    """The same for bytes: one product for each shift, or one for all shifts of a single edge."""
    count, rows, depth = rights.shape
    size, shifts = rows * depth, 2 * reach + 1
    signless = drop_signs(lefts.reshape(len(lefts), size))
    # both digits of a number travel as one; numbers lie one below the other, so that a shift is another start
    digits = split_digits(rights.reshape(count, size)).view(np.int16)[..., 0]
    padded = np.zeros((size + 2 * reach * depth, count), np.int16)
    padded[reach * depth : reach * depth + size] = digits.T
    windows = [padded[start : start + size] for start in range(2 * reach * depth, -1, -depth)]
    if count == 1:
        together = np.concatenate(windows, axis=1).view(np.int8).reshape(size, shifts, 2)
        return multiply(signless, together).T[:, None]
    products = np.empty((shifts, count, len(lefts)))
    for product, window in zip(products, windows, strict=True):
        product[:] = multiply(signless, window.view(np.int8).reshape(size, count, 2)).T
    return products


def correlate_floats(
    rights: Whole, lefts: Whole, reach: int
) -> NDArray[np.float64]:  # (a, rows, d), (b, rows, d) -> (2 * reach + 1, a, b)
    """The same in floats.

    Single precision holds whole numbers up to 2^24, and no sum over a part of two edges is larger than the
    product of their lengths there. Where that is too much, the precision is double.
    """
    if len(rights) == 1:
        return _correlate_one(rights[0], lefts, reach)[:, None]
    rows, depth = rights.shape[1:]
    shifts = 2 * reach + 1
    lots = -(-shifts // _LOT)
    height = _LOT * max(1, _PART // (2 * depth))
    products = np.zeros((lots, 9, len(rights), len(lefts)))
    for first in range(0, rows, height):
        own = _take_rows(rights, first, height)
        window = _take_rows(lefts, first - reach, height + _LOT * (lots + 1))
        for place, factors in enumerate(zip(_add_rows(own), _subtract_rows(window), strict=True)):
            upper, lower = _choose_precision(*factors)
            for lot in range(lots):
                # a shifted window is a strided matrix: no copy per shift
                start, stop = lot * depth, lot * depth + upper.shape[1]
                products[lot, place] += upper @ lower[:, start:stop].T
    return _put_together(products)[:shifts]


def _take_rows(
    edges: Whole, first: int, count: int
) -> NDArray[np.float32]:  # (n, rows, d) -> (n, count / lot, lot, d)
    """Some rows of edges, lot by lot; beyond its ends an edge is zero."""
    taken = np.zeros((len(edges), count, edges.shape[2]), np.float32)
    start, stop = max(first, 0), min(first + count, edges.shape[1])
    taken[:, start - first : stop - first] = edges[:, start:stop]
    return taken.reshape(len(edges), -1, _LOT, edges.shape[2])


# Four shifts take 16 products of rows: u0 x[k] + u1 x[k + 1] + u2 x[k + 2] + u3 x[k + 3] for each k. Nine are
# enough, of sums of rows with differences of rows: two shifts take three products instead of four (Winograd,
# "Arithmetic complexity of computations", 1980), and that twice.


def _add_rows(
    own: NDArray[np.float32],
) -> Iterator[NDArray[np.float32]]:  # (n, lots, lot, d) -> (n, lots * d)
    """The right-hand factor of each of the nine products."""
    for chosen in ((0,), (0, 1), (1,), (0, 2), (0, 1, 2, 3), (1, 3), (2,), (2, 3), (3,)):
        total = own[:, :, chosen].sum(axis=2) if len(chosen) > 1 else own[:, :, chosen[0]]
        yield total.reshape(len(own), -1)


def _subtract_rows(
    window: NDArray[np.float32],
) -> Iterator[NDArray[np.float32]]:  # (n, lots, lot, d) -> (n, lots * d)
    """The left-hand factor of each of the nine products."""
    count, _, _, depth = window.shape
    rows = window.reshape(count, -1, depth)
    near, far = rows[:, :-1] - rows[:, 1:], rows[:, :-2] - rows[:, 2:]
    both = far[:, :-1] - far[:, 1:]
    for factor, first in (
        *((both, 0), (far, 1), (both, 1)),
        *((near, 2), (rows, 3), (near, 3)),
        *((both, 2), (far, 3), (both, 3)),
    ):
        yield factor[:, first::_LOT].reshape(count, -1)


def _put_together(products: NDArray[np.float64]) -> NDArray[np.float64]:  # (lots, 9, a, b) -> (shifts, a, b)
    """The sums of four shifts from nine products."""
    lots, _, *shape = products.shape
    sums = np.empty((lots, _LOT, *shape))
    for product, four in zip(products, sums, strict=True):
        for first, second, third in (product[:3], product[3:6], product[6:]):  # two shifts each
            first += second
            np.subtract(second, third, out=second)
        early, middle, late = product[:2], product[3:5], product[6:8]
        np.add(early, middle, out=four[:2])
        np.subtract(middle, late, out=four[2:])
    return sums.reshape(-1, *shape)


def _correlate_one(
    right: Whole, lefts: Whole, reach: int
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


def _choose_precision(some: NDArray[Any], others: NDArray[Any]) -> list[NDArray[Any]]:
    """Both in a precision in which the products of some whole vectors with others are exact."""
    single = [vectors.astype(np.float32, copy=False) for vectors in (some, others)]
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
