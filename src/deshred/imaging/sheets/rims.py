"""The scanner's rim: paper-like bands along the borders of a scan, outside the colored sheet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Mask

Side = Literal["top", "bottom", "left", "right"]

_MAX_RIM_MM = 12.0
_STRAIGHT_PX = 2.5  # a rim ends in a line; a torn edge does not
_MIN_STRAIGHT_SHARE = 0.7
_MIN_DEPTH_PX = 1.5
_MIN_LENGTH_SHARE = 0.25  # of the border: a slanted sheet leaves a wedge
_MIN_VISIBLE_SHARE = 0.08  # of the border where bare background shows the rim's end


@dataclass(frozen=True)
class Rim:
    """A straight band along one border of the scan that does not belong to the sheet."""

    side: Side
    start_depth: float  # px at the left or top end of the border
    end_depth: float


def find_rims(paper: Mask, *, dpi: float) -> tuple[Rim, ...]:
    """Bands of non-background along the borders that end in a straight line."""
    reach = min(round(_MAX_RIM_MM / 25.4 * dpi), min(paper.shape) // 4)
    if reach < 1:
        return ()
    rims = (_find_rim(paper, side, reach) for side in get_args(Side))
    return tuple(rim for rim in rims if rim is not None)


def draw_rims(rims: tuple[Rim, ...], shape: tuple[int, ...]) -> Mask:
    """True on all rims."""
    drawn = np.zeros(shape[:2], bool)
    for rim in rims:
        band = _band(drawn, rim.side, drawn.shape[0 if rim.side in ("top", "bottom") else 1])
        depths = np.linspace(rim.start_depth, rim.end_depth, band.shape[1])
        reach = int(np.ceil(max(depths.max(), 0))) + 1
        # The last row of a rim mixes with the sheet: it goes too.
        band[:reach] |= np.arange(reach)[:, None] < np.where(depths > 0, depths + 1, 0)
    return drawn


def _band(mask: Mask, side: Side, reach: int) -> Mask:
    """A view of the belt along a border: row 0 is the border, columns run left to right or top to bottom."""
    upright = mask if side in ("top", "bottom") else mask.T
    return (upright if side in ("top", "left") else upright[::-1])[:reach]


def _find_rim(paper: Mask, side: Side, reach: int) -> Rim | None:
    band = _band(paper, side, reach)
    ends = ~band
    depths = np.where(ends.any(axis=0), ends.argmax(axis=0), reach)
    at = np.flatnonzero(depths < reach)
    if at.size < max(2, _MIN_VISIBLE_SHARE * depths.size):
        return None
    line = _straight_line(at, depths[at])
    fitted = np.maximum(np.polyval(line, at), 0)
    is_straight = np.mean(np.abs(depths[at] - fitted) <= _STRAIGHT_PX) >= _MIN_STRAIGHT_SHARE
    start, end = (float(depth) for depth in np.polyval(line, [0, depths.size - 1]))
    # Specks on the border of a sheet that fills the scan are no rim.
    is_deep = max(start, end) >= _MIN_DEPTH_PX and np.mean(fitted > 1) >= _MIN_LENGTH_SHARE
    return Rim(side, start, end) if is_straight and is_deep else None


def _straight_line(x: NDArray[np.intp], y: NDArray[np.intp]) -> NDArray[np.float64]:
    """The line that most points lie on (RANSAC over evenly spread pairs, then least squares)."""
    picks = np.linspace(0, x.size - 1, min(x.size, 40)).astype(int)
    best, most = np.array([0.0, float(np.median(y))]), -1
    for i, first in enumerate(picks):
        for second in picks[i + 1 :]:
            if x[second] - x[first] < (x[-1] - x[0]) / 8:
                continue
            slope = (y[second] - y[first]) / (x[second] - x[first])
            line = np.array([slope, y[first] - slope * x[first]])
            count = int(np.sum(np.abs(y[picks] - np.maximum(np.polyval(line, x[picks]), 0)) <= _STRAIGHT_PX))
            if count > most:
                best, most = line, count
    near = (np.abs(y - np.polyval(best, x)) <= _STRAIGHT_PX) & (np.polyval(best, x) > 0)
    return np.polyfit(x[near], y[near], 1) if near.sum() > 2 and np.ptp(x[near]) > 0 else best
