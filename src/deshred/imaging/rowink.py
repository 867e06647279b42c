"""The ink of a shred in, the rows with ink out: where lines of print lie, and which strokes reach a tear."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import RowInk

_TEAR = 2  # px along a tear that are not looked at: the paper is frayed there, and often dark
_NEAR = 12  # px further inwards that show what reaches the tear
_REACHES = 5  # px of ink among those: a stroke across the tear, not the side of a letter
_PRINTED = 2  # px of ink anywhere in a row that make it a row with ink


def see_rows(ink: NDArray[np.uint8], starts: NDArray[np.intp], stops: NDArray[np.intp]) -> RowInk:
    """The rows of a shred (H, W) at the working resolution; in each, its paper lies from start to stop."""
    height, width = ink.shape
    printed, at_left, at_right = np.zeros((3, height), np.bool_)
    is_wide = stops - starts >= _NEAR + 2 * _TEAR
    rows = np.flatnonzero(is_wide)
    first, last = starts[rows] + _TEAR, stops[rows] - _TEAR
    # windows into the flat ink: several times quicker than looking at the column of every pixel
    flat, row = ink.reshape(-1), rows * width
    near = np.lib.stride_tricks.sliding_window_view(flat, _NEAR) if len(rows) else flat
    at_left[rows] = _count(near[row + first]) >= _REACHES
    at_right[rows] = _count(near[row + last - _NEAR]) >= _REACHES
    everywhere = np.asarray(cv2.reduce(ink, 1, cv2.REDUCE_SUM, dtype=cv2.CV_32S)).reshape(-1)[rows]
    for column in (*range(_TEAR), *range(-_TEAR, 0)):
        everywhere = everywhere - flat[row + (starts if column >= 0 else stops)[rows] + column]
    printed[rows] = everywhere >= _PRINTED
    for at in np.flatnonzero(~is_wide).tolist():
        inside = ink[at, starts[at] + _TEAR : max(stops[at] - _TEAR, 0)]
        printed[at] = inside.sum() >= _PRINTED
        at_left[at] = at_right[at] = inside.sum() >= _REACHES
    return RowInk.of(printed, at_left, at_right)


def _count(windows: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The ink in each of many small windows."""
    return np.asarray(windows @ np.ones(windows.shape[-1], np.float32))
