"""Neighboring ribbons in; how they must move up or down, and closer, at knots down the page, out.

Curl and stretch make the offset of a join a slow function of the row. Ink just inside both tears is compared
around every knot, to a fraction of a pixel; a join without ink says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, uniform_filter1d

from deshred.imaging.composition.ribbons import Ribbon
from deshred.imaging.composition.settling import Pulls

KNOT_STEP = 200  # rows
_WINDOW = 400  # rows around a knot that speak for it
_REACH = 6  # px
_MIN_CORRELATION = 0.3
_INDEPENDENT = _WINDOW / 8  # rows of a window that do not repeat their neighbors
_FEW_ROWS = 30.0  # with ink on both sides of a tear: so few are half as good as their correlation says
_INKED = 0.15  # share of ink that a row needs on both sides
_MIN_SHARED = 0.2  # of a window
_TOUCH_TRUST = 0.5  # 1 / variance of where two tears touch, for a whole window


def knots_of(height: int) -> NDArray[np.float64]:
    """Rows of the knots of a page so high."""
    return np.linspace(0, height - 1, max(2, round(height / KNOT_STEP) + 1))


def measure_rows(ribbons: Sequence[Ribbon], tops: Sequence[float], height: int) -> Pulls:
    """How far right-hand shreds must move down beside their neighbors; `tops` is where row 0 of each lies."""
    rows = np.arange(height)
    lines = [
        (
            _on_page(ribbon, ribbon.profiles.left_ink, top, rows),
            _on_page(ribbon, ribbon.profiles.right_ink, top, rows),
        )
        for ribbon, top in zip(ribbons, tops, strict=True)
    ]
    at = knots_of(height)
    pulls = [
        _correlate(np.nan_to_num(left[1]), np.nan_to_num(right[0]), at) for left, right in pairwise(lines)
    ]
    return _gather(pulls, at.size)


def measure_columns(
    ribbons: Sequence[Ribbon],
    tops: Sequence[float],
    lefts: Sequence[float],
    height: int,
    *,
    touching: float,
    rooms: Sequence[int],
) -> Pulls:
    """How much further right than where they stand shreds must go to touch their neighbors all the way."""
    rows, at = np.arange(height), knots_of(height)
    pulls = []
    for i, room in enumerate(rooms):
        stops = lefts[i] + _on_page(ribbons[i], ribbons[i].profiles.rights, tops[i], rows)
        starts = lefts[i + 1] + _on_page(ribbons[i + 1], ribbons[i + 1].profiles.lefts, tops[i + 1], rows)
        pulls.append(_touch(stops - starts + room, at, touching))
    return _gather(pulls, at.size)


def _gather(pulls: Sequence[Pulls], knots: int) -> Pulls:
    if not pulls:
        return Pulls(np.zeros((0, knots)), np.zeros((0, knots)))
    return Pulls(np.stack([one.wanted for one in pulls]), np.stack([one.trust for one in pulls]))


def _on_page(
    ribbon: Ribbon, values: NDArray[np.float64], top: float, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Values along a ribbon on the rows of the page; NaN where it does not reach. (height,)"""
    on_page = np.interp(rows - top, ribbon.along, values, left=np.nan, right=np.nan)
    return np.asarray(on_page, np.float64)


def _correlate(left: NDArray[np.float64], right: NDArray[np.float64], at: NDArray[np.float64]) -> Pulls:
    """Where around each knot the ink of the right side continues that of the left."""
    shifts = range(-_REACH, _REACH + 1)
    knots = np.rint(at).astype(int)
    shared = _WINDOW * _around((np.minimum(left, right) > _INKED).astype(np.float64), knots)
    left, right = _sharpen(left), _sharpen(right)
    power = np.sqrt(np.maximum(_around(left**2, knots) * _around(right**2, knots), 0)) + 1e-9
    fits = np.stack([_around(left * _moved(right, by), knots) for by in shifts]) / power  # (shifts, knots)
    best = np.clip(fits.argmax(axis=0), 1, len(shifts) - 2)
    below, peak, above = (fits[best + by, np.arange(at.size)] for by in (-1, 0, 1))
    curvature = 2 * peak - below - above
    is_peak = (curvature > 0) & (peak >= below) & (peak >= above) & (peak > _MIN_CORRELATION)
    wanted = best - _REACH + np.where(is_peak, (above - below) / (2 * np.where(is_peak, curvature, 1)), 0)
    # the variance of a shift that is read off a correlation: flat and low peaks say little
    trust = _INDEPENDENT * curvature * peak**2 / (1.02 - np.minimum(peak, 1) ** 2)
    trust *= shared / (shared + _FEW_ROWS)  # a single letter fits well in many places
    return Pulls(np.where(is_peak, wanted, 0), np.where(is_peak, trust, 0))


def _sharpen(values: NDArray[np.float64]) -> NDArray[np.float64]:
    smooth = np.asarray(gaussian_filter1d(values, 1.0), np.float64)
    return smooth - np.asarray(uniform_filter1d(smooth, _WINDOW), np.float64)


def _moved(values: NDArray[np.float64], down: int) -> NDArray[np.float64]:
    moved = np.zeros_like(values)
    moved[max(0, down) : len(values) + min(0, down)] = values[max(0, -down) : len(values) - max(0, down)]
    return moved


def _around(values: NDArray[np.float64], knots: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(uniform_filter1d(values, _WINDOW, mode="constant")[knots], np.float64)


def _touch(overlap: NDArray[np.float64], at: NDArray[np.float64], touching: float) -> Pulls:
    """How far apart two tears must go around each knot so that they touch in a share of the rows."""
    wanted, trust = np.zeros((2, at.size))
    for k, knot in enumerate(at):
        window = overlap[max(0, int(knot) - _WINDOW // 2) : int(knot) + _WINDOW // 2]
        window = window[np.isfinite(window)]
        if window.size >= _MIN_SHARED * _WINDOW:
            wanted[k] = np.quantile(window, touching)
            trust[k] = _TOUCH_TRUST * window.size / _WINDOW
    return Pulls(wanted, trust)
