"""Upright shreds and their rows in, the column of each out: as close as their torn outlines allow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deshred.imaging.composition.uprights import Sides

_NOWHERE = np.iinfo(np.int32).min  # frontier of rows that hold no paper yet
_TELLING = 0.05  # of the rows: fewer are a spur or the ragged end of a shred, and hold nothing apart


def push_together(
    uprights: Sequence[Sides],
    tops: Sequence[int],
    *,
    touching: float,
    missing: Sequence[int] = (),
) -> list[int]:
    """The column of each shred; the leftmost paper of the page gets column 0 or more.

    Neighbors touch or overlap by a hair in the given share of their rows. `missing` is the width of the
    paper that is known to be missing before each shred.
    """
    height = max(top + len(upright.starts) for top, upright in zip(tops, uprights, strict=True))
    frontier = np.full(height, _NOWHERE, np.int32)  # per row, one past the rightmost paper so far
    lefts: list[int] = []
    before = slice(0, 0)
    for upright, top, room in zip(uprights, tops, missing or [0] * len(tops), strict=True):
        rows = slice(top, top + len(upright.has_paper))
        left = room + (_touch(frontier, before, upright, top, touching) if lefts else 0)
        reach = np.where(upright.has_paper, left + upright.stops, _NOWHERE)
        np.maximum(frontier[rows], reach, out=frontier[rows])
        lefts.append(left)
        before = rows
    shift = min(lefts)
    return [left - shift for left in lefts]


def _touch(frontier: NDArray[np.int32], before: slice, upright: Sides, top: int, touching: float) -> int:
    """The column at which a shred touches its neighbor, and nothing further left either."""
    rows = np.arange(top, top + len(upright.has_paper))
    shared = upright.has_paper & (frontier[rows] != _NOWHERE)
    if not shared.any():  # one stands above the other: side by side is all that is left
        return int(frontier[frontier != _NOWHERE].max(initial=0))
    needed = frontier[rows].astype(np.int64) - upright.starts
    beside = shared & (rows >= before.start) & (rows < before.stop)
    beyond = shared & ~beside
    # a short neighbor must not be swallowed by the longer shreds around it: ask both groups of rows
    wishes = [needed[beside]] if beside.any() else []
    if not wishes or beyond.sum() >= _TELLING * shared.sum():
        wishes.append(needed[beyond])
    return int(max(round(float(np.quantile(wish, touching))) for wish in wishes))
