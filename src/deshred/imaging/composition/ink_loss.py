"""Measure how wide the light gaps are that the tears of a page cut into strokes.

A light gap at a seam was there before, as between two letters, or the tear made it. Columns away from the
seams tell how wide gaps are by nature; a tear breaks ink, and widens gaps. Both counted, it follows how much
tears take on this page, and up to which width a gap is most probably theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from deshred.elements import Image, Seam

_REACH = 14  # px looked at on both sides
_ELSEWHERE = (-34, -26, 26, 34)  # px from a seam: inside both neighbors
_STEP = 3  # rows
_DARK = 0.65  # of the paper's brightness: darker is ink
_MIN_ROWS = 100

Counts = NDArray[np.float64]  # by width in px; 0 is unbroken ink


def measure_gaps(image: Image, seams: Sequence[Seam]) -> int:
    """The widest light gap in px that is worth closing at seams; 0 where no tear is seen to take ink."""
    dark = find_ink(image)
    torn, natural = np.zeros(_REACH + 1), np.zeros(_REACH + 1)
    for seam in seams:
        rows = np.flatnonzero(seam.stops >= 0)[::_STEP]
        columns = (seam.stops[rows] + seam.starts[rows]) // 2
        torn += _count_gaps(dark, rows, columns)
        for away in _ELSEWHERE:
            natural += _count_gaps(dark, rows, columns + away) / len(_ELSEWHERE)
    return _widest_torn(torn, natural) if min(torn.sum(), natural.sum()) >= _MIN_ROWS else 0


def find_ink(image: Image) -> NDArray[np.bool_]:
    """Where an image is clearly darker than its paper. (H, W)"""
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return np.asarray(gray < _DARK * np.median(gray[::4, ::4]))


def _count_gaps(dark: NDArray[np.bool_], rows: NDArray[np.intp], columns: NDArray[np.integer]) -> Counts:
    """How often a light gap of each width lies at these places, between ink on both sides."""
    inside = (columns >= _REACH) & (columns < dark.shape[1] - _REACH)
    window = columns[inside, None] + np.arange(-_REACH, _REACH + 1)
    ink = dark[rows[inside, None], window]
    left, here, right = ink[:, _REACH - 1 :: -1], ink[:, _REACH], ink[:, _REACH + 1 :]
    widths = np.where(here, 0, left.argmax(axis=1) + right.argmax(axis=1) + 1)
    between = left.any(axis=1) & right.any(axis=1) & (widths <= _REACH)
    return np.bincount(widths[between], minlength=_REACH + 1).astype(np.float64)


def _widest_torn(torn: Counts, natural: Counts) -> int:
    """The width up to which closing gaps does more good than harm."""
    shares = nnls(np.stack([_widen(natural, taken) for taken in range(_REACH + 1)], axis=1), torn)[0]
    made = natural[0] * shares  # gaps in what was unbroken ink
    gains = np.cumsum((made - (torn - made))[1:])  # closed rightly, less closed wrongly
    return int(gains.argmax()) + 1 if gains.max() > 0 else 0


def _widen(natural: Counts, taken: int) -> Counts:
    """What becomes of natural gaps, and of unbroken ink, when a tear takes so many px in the middle."""
    widened = np.zeros(_REACH + 1)
    widened[taken] += natural[0]
    before, after = taken // 2, max(0, taken - 1 - taken // 2)
    for width in range(1, _REACH + 1):
        at = np.arange(width)  # where in the gap the tear goes
        widths = np.maximum(at, before) + 1 + np.maximum(width - 1 - at, after)
        np.add.at(widened, widths[widths <= _REACH], natural[width] / width)
    return widened
