"""Ribbons laid out on a page in, the slant of its lines out; 0 where nothing tells.

Lines of text are level when the rows of the page are either full of ink or empty. Shreds are too narrow to
say so; all of a page together say it to a few hundredths of a degree. A page without lines may still show the
upper and lower end of its sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from deshred.imaging.composition.ribbons import Ribbon

_BLOCK = 24  # px across that share a row profile
_COARSE, _FINE = 0.2, 0.02  # degrees
_STEEPEST = 6.0  # degrees
_BANDS = 8  # a page is cut into so many bands; the odd ones must agree with the even ones
_AGREEMENT = 0.25  # degrees
_CLEAR = 1.3  # the best slant must have so much more contrast than a usual one
_MAX_ROUGHNESS = 12.0  # px by which ends of shreds may stray from the end of a sheet


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Row profiles of narrow blocks of a page, and where they stand."""

    ink: NDArray[np.float32]  # (blocks, rows)
    columns: NDArray[np.float64]  # (blocks,)


def find_skew(ribbons: Sequence[Ribbon], tops: Sequence[float], lefts: Sequence[float], height: int) -> float:
    """Degrees by which lines go down towards the right."""
    blocks = _cut_blocks(ribbons, tops, lefts, height)
    by_lines = _slant_of_lines(blocks)
    return by_lines.degrees if by_lines.is_clear else _skew_of_ends(ribbons, tops, lefts)


def _cut_blocks(
    ribbons: Sequence[Ribbon], tops: Sequence[float], lefts: Sequence[float], height: int
) -> _Blocks:
    rows = np.arange(height)
    ink, columns = [], []
    for ribbon, top, left in zip(ribbons, tops, lefts, strict=True):
        count = max(1, round(2 * ribbon.half_width / _BLOCK))
        edges = np.linspace(-ribbon.half_width, ribbon.half_width, count + 1)
        middles = (edges[:-1] + edges[1:]) / 2
        reach = ribbon.half_width / count
        for middle, profile in zip(middles, ribbon.sum_columns(middles, reach), strict=True):
            on_page = np.interp(rows - top, ribbon.along, profile, left=0, right=0)
            ink.append(np.nan_to_num(on_page))
            columns.append(left + middle)
    return _Blocks(gaussian_filter1d(np.array(ink, np.float32), 2.0, axis=1), np.array(columns))


@dataclass(frozen=True)
class _Slant:
    degrees: float
    is_clear: bool


def _slant_of_lines(blocks: _Blocks) -> _Slant:
    """The slant at which rows differ most; not clear where parts of the page do not agree on it."""
    band = (np.arange(blocks.ink.shape[1]) * _BANDS // blocks.ink.shape[1]) % 2
    slants = [_best_slant(_Blocks(blocks.ink * (band == part), blocks.columns)) for part in (0, 1)]
    best = _best_slant(blocks)
    agree = all(slant.is_clear and abs(slant.degrees - best.degrees) <= _AGREEMENT for slant in slants)
    return _Slant(best.degrees, agree and best.is_clear)


def _best_slant(blocks: _Blocks) -> _Slant:
    coarse = np.arange(-_STEEPEST, _STEEPEST + _COARSE / 2, _COARSE)
    contrasts = np.array([_contrast(blocks, degrees) for degrees in coarse])
    best = float(coarse[contrasts.argmax()])
    usual = float(np.median(contrasts))
    is_clear = bool(0 < usual * _CLEAR < contrasts.max() and abs(best) < _STEEPEST)
    fine = best + np.arange(-_COARSE, _COARSE + _FINE / 2, _FINE)
    # shifts by whole rows make the contrast jump: the top of a parabola through all of it does not
    bow, slope, _ = np.polyfit(fine - best, [_contrast(blocks, degrees) for degrees in fine], 2)
    top = float(np.clip(-slope / (2 * bow), -_COARSE, _COARSE)) if bow < 0 else 0.0
    return _Slant(best + top, is_clear)


def _contrast(blocks: _Blocks, degrees: float) -> float:
    """How much the rows of the page differ when it is turned back by so much."""
    down = np.rint((blocks.columns - blocks.columns.mean()) * np.tan(np.radians(degrees))).astype(int)
    rows = blocks.ink.shape[1]
    reach = int(np.abs(down).max())
    total = np.zeros(rows + 2 * reach, np.float32)
    for by, ink in zip(down, blocks.ink, strict=True):
        total[reach - by : reach - by + rows] += ink
    return float((np.diff(total) ** 2).sum())


def _skew_of_ends(ribbons: Sequence[Ribbon], tops: Sequence[float], lefts: Sequence[float]) -> float:
    """The slant of the upper and lower end of the sheet, where both are straight and agree."""
    if len(ribbons) < 6:
        return 0.0
    columns = np.array(lefts)
    slants = []
    for ends in (
        [top + ribbon.first for ribbon, top in zip(ribbons, tops, strict=True)],
        [top + ribbon.last for ribbon, top in zip(ribbons, tops, strict=True)],
    ):
        rises, runs = np.subtract.outer(ends, ends), np.subtract.outer(columns, columns)
        slope = float(np.median(rises[runs > 0] / runs[runs > 0]))
        rest = np.array(ends) - slope * columns
        if np.abs(rest - np.median(rest)).mean() > _MAX_ROUGHNESS:
            return 0.0
        slants.append(float(np.degrees(np.arctan(slope))))
    return float(np.mean(slants)) if abs(slants[0] - slants[1]) <= _AGREEMENT else 0.0
