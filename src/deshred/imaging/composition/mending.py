"""A page and its seams in; the same with lost paper filled in and strokes closed over the seams, out.

Lost paper is filled row by row between the last pixel on its left and the first on its right. At a seam light
gaps that tears most probably made are closed where a stroke goes on: two upright strokes side by side are two
letters, and stay apart. Nothing further away changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Seam
from deshred.imaging.composition.ink_loss import find_ink, measure_gaps

WIDEST_FILLED = 40  # px of lost paper; more is a gap that people should see
_WIDEST_CLOSED = 8  # px of light gap within a stroke
_CLOSED_STROKES = 1.25  # strokes: a wider gap is as likely the inside of a thin letter
_HIGH, _WIDE = 1.5, 1.6  # strokes: closed places higher and wider than that lie between two letters
_STROKES = (2, 20)  # px that a stroke is wide; less is dust, more is an area
_STROKE_STEP = 5  # rows


def mend(image: Image, seams: Sequence[Seam]) -> Image:
    """Fill and close all seams of a page."""
    mended = image.copy()
    for seam in seams:
        _fill(mended, seam)
    stroke = _measure_stroke(find_ink(mended))
    gap = min(measure_gaps(mended, seams), _WIDEST_CLOSED, round(_CLOSED_STROKES * stroke))
    return _close(mended, seams, gap, stroke) if gap else mended


def _close(image: Image, seams: Sequence[Seam], gap: int, stroke: float) -> Image:
    """Darken what has ink on both sides within the gap, where a stroke goes on."""
    opened = _darken_gaps(image, gap)
    near = _near_seams(image.shape[:2], seams, (gap + 1) // 2)
    closed = image.copy()
    closed[near] = opened[near]
    blots = _find_blots(find_ink(image), find_ink(closed), stroke)
    closed[blots] = image[blots]
    return closed


def _darken_gaps(image: Image, gap: int) -> Image:
    """A picture without light gaps up to so many px from left to right; everything else stays."""
    kernel, middle = np.ones((1, gap + 1), np.uint8), gap // 2
    # two anchors: with one of them OpenCV moves what an even kernel opens by a pixel
    eroded = cv2.erode(image, kernel, anchor=(middle, 0))
    return np.asarray(cv2.dilate(eroded, kernel, anchor=(gap - middle, 0)), np.uint8)


def _find_blots(ink: NDArray[np.bool_], closed: NDArray[np.bool_], stroke: float) -> NDArray[np.bool_]:
    """What closing made dark where no stroke goes on: high, and wider than a stroke that was torn."""
    new = closed & ~ink
    count, labels, stats, _ = cv2.connectedComponentsWithStats(new.astype(np.uint8), connectivity=8)
    of = labels[new]
    widths = np.bincount(of, _measure_runs(closed, new), count) / np.maximum(
        np.bincount(of, minlength=count), 1
    )
    blots = (stats[:, cv2.CC_STAT_HEIGHT] > _HIGH * stroke) & (widths > _WIDE * stroke)
    blots[0] = False  # everything that is not new
    return np.asarray(cv2.dilate(blots[labels].astype(np.uint8), np.ones((1, 3), np.uint8)) > 0)


@dataclass(frozen=True, eq=False)
class _Runs:
    """Runs of ink, row by row: numbers of their first pixels, in rows one px wider, and their lengths."""

    starts: NDArray[np.intp]
    lengths: NDArray[np.intp]


def _list_runs(ink: NDArray[np.bool_]) -> _Runs:
    none = np.int8(0)  # a plain 0 would make everything eight times as large
    changes = np.diff(ink.view(np.int8), axis=1, prepend=none, append=none).ravel()
    starts = np.flatnonzero(changes > 0)
    return _Runs(starts, np.flatnonzero(changes < 0) - starts)


def _measure_runs(ink: NDArray[np.bool_], chosen: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The length of the run that each chosen pixel of ink belongs to, in the order of rows."""
    runs = _list_runs(ink)
    rows, columns = np.nonzero(chosen)
    at = rows * (ink.shape[1] + 1) + columns
    return np.asarray(runs.lengths[np.searchsorted(runs.starts, at, side="right") - 1])


def _measure_stroke(ink: NDArray[np.bool_]) -> float:
    """The usual width of a stroke in px."""
    runs = _list_runs(ink[::_STROKE_STEP]).lengths
    strokes = runs[(runs >= _STROKES[0]) & (runs <= _STROKES[1])]
    return float(np.median(strokes)) if strokes.size else 0.0


def _fill(image: Image, seam: Seam) -> None:
    """Bridge lost paper row by row, linearly."""
    lost = seam.starts - seam.stops
    rows = np.flatnonzero((lost > 0) & (lost <= WIDEST_FILLED) & (seam.stops > 0))
    rows = rows[seam.starts[rows] < image.shape[1]]
    if not rows.size:
        return
    stops, starts = seam.stops[rows], seam.starts[rows]
    last, first = image[rows, stops - 1].astype(np.float32), image[rows, starts].astype(np.float32)
    for step in range(int(lost[rows].max())):
        inside = stops + step < starts
        part = ((step + 1) / (starts - stops + 1))[inside, None]
        bridge = last[inside] * (1 - part) + first[inside] * part
        image[rows[inside], stops[inside] + step] = np.rint(bridge).astype(np.uint8)


def _near_seams(shape: tuple[int, ...], seams: Sequence[Seam], reach: int) -> NDArray[np.bool_]:
    """Pixels at the seams, lost paper that was filled included. (H, W)"""
    near = np.zeros(shape, np.bool_)
    for seam in seams:
        first = np.minimum(seam.stops, seam.starts) - reach
        last = np.maximum(seam.stops, seam.starts) + reach
        rows = np.flatnonzero((seam.stops >= 0) & (last - first <= WIDEST_FILLED + 2 * reach))
        if not rows.size:
            continue
        left, right = max(0, int(first[rows].min())), min(shape[1], int(last[rows].max()))
        columns = np.arange(left, right)
        near[rows, left:right] |= (columns >= first[rows, None]) & (columns < last[rows, None])
    return near
