"""The scores of a pile in, checked: their range, and whether they are numbers of a few decimals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deshred.arrangement.problem.fixings import Floats
from deshred.elements import Compatibility
from deshred.errors import InputError

_BLOCK = 1 << 18  # scores looked at in one go: they stay in the processor's cache
_MOST_DECIMALS = 3
_COARSE = 1000  # times what single precision resolves


@dataclass(frozen=True)
class ScoreRange:
    """The highest and the lowest score of a join that can be."""

    highest: float
    lowest: float
    step: float = 0.0  # all scores are multiples of it; 0 if they are not


def score_range(compatibility: Compatibility) -> ScoreRange:
    """Check the scores and find their range; the diagonal does not count."""
    scores = compatibility.scores
    n = len(compatibility)
    if not compatibility.is_sparse:
        if n < 2:
            return ScoreRange(0.0, 0.0)
        inner = np.ascontiguousarray(scores).ravel()[1:].reshape(n - 1, n + 1)[:, :-1]
    else:
        _check_lists(compatibility)
        inner = scores
    if inner.size == 0:
        return ScoreRange(0.0, 0.0)
    highest = float(inner.max())
    if not highest < np.inf:
        _refuse_score(compatibility)
    if highest == -np.inf:
        return ScoreRange(0.0, 0.0)
    lowest = float(inner.min())
    if lowest == -np.inf:
        lowest = float(inner.min(initial=highest, where=np.isfinite(inner)))
    return ScoreRange(highest, lowest)


def in_decimals(scores: NDArray[np.floating], range_: ScoreRange) -> tuple[NDArray[np.floating], ScoreRange]:
    """Scores that are numbers of a few decimals, as such; others as they are.

    In single precision such numbers are a little off, and orders that cost the same would differ.
    """
    ends = np.array([range_.highest, range_.lowest], scores.dtype)  # of joins that are ruled out, perhaps
    largest = float(np.abs(ends).max())
    finest = _COARSE * float(np.finfo(scores.dtype).eps) * largest  # below, all numbers are near a multiple
    for decimals in range(_MOST_DECIMALS + 1):
        step = 10.0**-decimals
        if step < finest or _rounded(ends, decimals) is None:
            continue
        rounded = _rounded(scores, decimals)
        if rounded is not None:
            highest, lowest = round(range_.highest, decimals), round(range_.lowest, decimals)
            return rounded, ScoreRange(highest, lowest, step)
    return scores, range_


def _rounded(scores: NDArray[np.floating], decimals: int) -> Floats | None:
    """The numbers of so many decimals that the scores stand for; None where one stands for something else."""
    rounded = np.empty(scores.shape)
    rows = max(1, _BLOCK // max(1, scores[:1].size))
    for start in range(0, len(scores), rows):
        some, block = scores[start : start + rows], rounded[start : start + rows]
        np.multiply(some, 10.0**decimals, out=block, dtype=np.float64)
        np.rint(block, out=block)
        block /= 10.0**decimals
        if (block.astype(scores.dtype) != some).any():
            return None
    return rounded


def complete(
    compatibility: Compatibility, scores: NDArray[np.floating], range_: ScoreRange
) -> NDArray[np.floating]:
    """The full matrix that lists of candidates with these scores stand for."""
    assert compatibility.row_starts is not None
    n = len(compatibility)
    full = np.full((n, n), range_.lowest, scores.dtype)
    rows = np.repeat(np.arange(n), np.diff(compatibility.row_starts))
    full[rows, compatibility.columns] = scores
    return full


def _check_lists(compatibility: Compatibility) -> None:
    n, starts, columns = len(compatibility), compatibility.row_starts, compatibility.columns
    assert columns is not None
    if starts is None or len(starts) != n + 1 or starts[0] != 0 or starts[-1] != len(columns):
        raise InputError(
            f"the candidate lists of {n} shreds need {n + 1} row starts from 0 to {len(columns)}."
        )
    if len(columns) != len(compatibility.scores) or (np.diff(starts) < 0).any():
        raise InputError(
            "the candidate lists are damaged: row starts, columns and scores do not fit together."
        )
    if len(columns) and not (columns.min() >= 0 and columns.max() < n):
        raise InputError(f"the candidate lists name shred {int(columns.max())}, there are {n}.")


def _refuse_score(compatibility: Compatibility) -> None:
    scores = compatibility.scores
    bad = np.isnan(scores) | (scores == np.inf)
    if not compatibility.is_sparse:
        np.fill_diagonal(bad, False)
    at = np.argwhere(bad)[0]
    if compatibility.row_starts is not None and compatibility.columns is not None:
        pair = [
            int(np.searchsorted(compatibility.row_starts, at[0], "right")) - 1,
            compatibility.columns[at[0]],
        ]
    else:
        pair = list(at)
    left, right = (compatibility.ids[int(i)] for i in pair)
    raise InputError(
        f"the score of {left} -> {right} is {scores[tuple(at)]} ({int(bad.sum())} such scores). "
        "Scores are finite numbers, or -inf for an impossible join."
    )
