"""Which shreds may stand beside a shred, and what speaks for and against a join, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.tears import remove_slow_part
from deshred.elements import Compatibility, Edge, EdgePair
from deshred.errors import InputError

_BLOCK = 8  # rows that are told of together
_NEAR = slice(1, 8)  # columns beside the tear; the outermost is fray
_MOST_RESIDUAL = 20.0  # px


@dataclass(frozen=True)
class Candidate:
    """A shred that may stand at a side."""

    partner: int
    score: float
    share: float  # of the belief, all others at this side considered


@dataclass(frozen=True, eq=False)
class Evidence:
    """Blocks of rows from the top of the left shred's image; all arrays have one value per block."""

    top: int  # row of the left shred's image where the first block begins
    rows: int  # per block
    meets: NDArray[np.int16]  # rows in which ink goes on across the tear
    ends: NDArray[np.int16]  # rows in which ink stops at it
    gap_px: NDArray[np.int16]  # how far the two outlines are from fitting, in tenths of a px


def find_candidates(compatibility: Compatibility, i: int, side: str, count: int = 6) -> list[Candidate]:
    """The best partners of a side."""
    if side not in ("left", "right"):
        raise InputError(f"a shred has a left and a right side, got {side[:20]!r}.")
    others = [j for j in range(len(compatibility)) if j != i]
    pairs = [(i, j) if side == "right" else (j, i) for j in others]
    if compatibility.is_sparse:
        scores = np.array([compatibility.score(*pair) for pair in pairs])
    else:
        row = compatibility.scores[i] if side == "right" else compatibility.scores[:, i]
        scores = np.delete(row, i).astype(np.float64)
    slope = compatibility.calibration.slope if compatibility.calibration else 1.0
    best = np.argsort(-scores, kind="stable")[:count]
    best = best[np.isfinite(scores[best])]
    if not best.size:
        return []
    weights = np.exp(slope * (scores - scores[best[0]]))
    shares = weights / weights.sum()
    return [Candidate(others[k], float(scores[k]), float(shares[k])) for k in best.tolist()]


def explain(left: EdgePair, right: EdgePair, offset: int) -> Evidence:
    """Compare the two sides of a tear, the right shred moved down by the offset."""
    a, b = left.right, right.left
    down = offset - (a.top - b.top)  # in rows of the edges
    upper, lower = _overlap(a, down), _overlap(b, -down)
    blocks = (upper.stop - upper.start) // _BLOCK
    if blocks <= 0:
        none = np.zeros(0, np.int16)
        return Evidence(a.top, _BLOCK, none, none, none)
    length = blocks * _BLOCK
    ink_a = np.asarray(a.ink[upper][:length, _NEAR].any(axis=1))
    ink_b = np.asarray(b.ink[lower][:length, _NEAR].any(axis=1))
    near_a, near_b = _spread(ink_a), _spread(ink_b)
    residual = (
        remove_slow_part(a.outline.astype(np.float64))[upper]
        + remove_slow_part(b.outline.astype(np.float64))[lower]
    )
    residual = np.clip(np.abs(np.nan_to_num(residual[:length])), 0, _MOST_RESIDUAL)
    return Evidence(
        a.top + upper.start,
        _BLOCK,
        _count((ink_a & near_b) | (ink_b & near_a)),
        _count((ink_a & ~near_b) | (ink_b & ~near_a)),
        (10 * residual.reshape(-1, _BLOCK).mean(axis=1)).astype(np.int16),
    )


def _overlap(edge: Edge, down: int) -> slice:
    rows = len(edge.ink)
    return slice(max(0, down), rows + min(0, down))


def _spread(ink: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Strokes slant: ink two rows away still meets."""
    spread = ink.copy()
    for by in (1, 2):
        spread[by:] |= ink[:-by]
        spread[:-by] |= ink[by:]
    return spread


def _count(rows: NDArray[np.bool_]) -> NDArray[np.int16]:
    return np.asarray(rows.reshape(-1, _BLOCK).sum(axis=1), np.int16)
