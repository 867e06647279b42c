"""Shreds that touch: a patch of paper in, the shreds it is made of out.

Where two shreds touch, a seam from end to end runs through the gap as far as one is visible, and through the
shadow or the fringe of background color where they touch. A seam without evidence is not cut.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Mask

_WIDE = 1.55  # typical widths: more than one shred
_MIN_GAP_SHARE = 0.03  # of the rows that show background between two sides
_EVIDENT_COVERAGE = 0.6  # a pixel with less shows the background or its fringe
_MIN_EVIDENCE = 0.25  # share of a seam that shows it; a shadow alone could be a ruled line
_MAX_SHADOW = 0.3  # more is ink
_DETOUR_COST = 0.01  # per pixel off the straight line
_SIDEWAYS_COST = 0.1  # straight on, unless there is a reason


@dataclass(frozen=True, eq=False)
class Parts:
    """What a patch of paper was split into; `is_suspect`: it still looks like several shreds."""

    masks: tuple[Mask, ...]  # same frame as the patch
    is_suspect: bool


def separate(
    patch: Mask, coverage: NDArray[np.float32], image: Image, *, typical_width: float, min_width: float
) -> Parts:
    """Split a patch along seams; widths are in pixels, `typical_width` that of a shred on this sheet."""
    if patch.shape[1] > patch.shape[0]:
        turned = separate(
            patch.T, coverage.T, image.transpose(1, 0, 2), typical_width=typical_width, min_width=min_width
        )
        return Parts(tuple(mask.T for mask in turned.masks), turned.is_suspect)
    if not _is_suspect(patch, typical_width, min_width):
        return Parts((patch,), is_suspect=False)
    shown = np.where(patch, np.clip(coverage, 0, 1), 0).astype(np.float32)
    cost = _seam_cost(patch, shown, _line_shadow(image, min_width), min_width)
    seam = _cheapest_seam(cost)
    evidence = shown[np.arange(seam.size), seam] < _EVIDENT_COVERAGE
    if evidence.sum() > 2 * min_width:
        # Where nothing shows, the seam goes on as straight as it came instead of seeking out dark letters.
        seam = _cheapest_seam(cost + _detour_cost(seam, evidence, patch.shape[1]))
        evidence = shown[np.arange(seam.size), seam] < _EVIDENT_COVERAGE
    halves = _cut(patch, seam)
    if not _is_split(halves, evidence, min_width):
        return Parts((patch,), is_suspect=True)
    parts = [
        separate(half, coverage, image, typical_width=typical_width, min_width=min_width) for half in halves
    ]
    masks = tuple(mask for part in parts for mask in part.masks)
    return Parts(masks, any(part.is_suspect for part in parts))


def _extents(patch: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    rows = np.flatnonzero(patch.any(axis=1))
    return rows, patch[rows].argmax(axis=1), patch.shape[1] - patch[rows, ::-1].argmax(axis=1)


def _is_suspect(patch: Mask, typical_width: float, min_width: float) -> bool:
    """Wider than a shred over a good part of its length, or with background between two sides of it."""
    _, left, right = _extents(patch)
    is_wide = np.mean(right - left > _WIDE * typical_width) > 0.2
    return bool(is_wide or _gap_share(patch, min_width) > _MIN_GAP_SHARE)


def _gap_share(patch: Mask, min_width: float) -> float:
    """The share of rows with a gap that leaves enough for a shred on either side."""
    rows, left, right = _extents(patch)
    columns = np.arange(patch.shape[1])
    middle = (columns >= (left + min_width)[:, None]) & (columns < (right - min_width)[:, None])
    inside = np.flatnonzero((~patch[rows] & middle).sum(axis=1) >= 2)
    return inside.size / rows.size


def _line_shadow(image: Image, min_width: float) -> NDArray[np.float32]:
    """How much darker than its sides an upright line is; text averages out along it."""
    grey = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY).astype(np.float32)
    along = cv2.blur(grey, (1, 1 + 2 * int(min_width / 3)))
    around = cv2.blur(along, (1 + 2 * int(min_width / 3), 1))
    return np.asarray(np.clip(1 - along / np.maximum(around, 1), 0, _MAX_SHADOW), np.float32)


def _seam_cost(
    patch: Mask, shown: NDArray[np.float32], shadow: NDArray[np.float32], min_width: float
) -> NDArray[np.float32]:
    cost = shown * (1 - shadow)
    # A seam has to leave a shred on either side, where the patch is wide enough to hold two.
    rows, left, right = _extents(patch)
    columns = np.arange(patch.shape[1])
    widths = right - left
    room = widths >= max(2 * min_width, 0.75 * float(np.percentile(widths, 90)))
    outside = (columns < (left + min_width)[:, None]) | (columns >= (right - min_width)[:, None])
    cost[rows[room]] += 10 * outside[room]
    return cost + np.float32(0.02)


def _detour_cost(seam: NDArray[np.intp], evidence: NDArray[np.bool_], width: int) -> NDArray[np.float32]:
    rows = np.flatnonzero(evidence)
    line = np.polynomial.Polynomial.fit(rows, seam[rows], 1)
    away = np.abs(np.arange(width) - line(np.arange(seam.size))[:, None])
    return np.asarray(_DETOUR_COST * away, np.float32)


def _cheapest_seam(cost: NDArray[np.float32]) -> NDArray[np.intp]:
    """One column for every row, neighbors at most one apart, at the least total cost."""
    total = np.empty_like(cost)
    total[0] = cost[0]
    sideways = np.float32(_SIDEWAYS_COST)
    for row in range(1, cost.shape[0]):
        above = total[row - 1]
        best = above.copy()
        np.minimum(best[1:], above[:-1] + sideways, out=best[1:])
        np.minimum(best[:-1], above[1:] + sideways, out=best[:-1])
        total[row] = cost[row] + best
    seam = np.empty(cost.shape[0], np.intp)
    seam[-1] = total[-1].argmin()
    for row in range(cost.shape[0] - 2, -1, -1):
        start = max(0, seam[row + 1] - 1)
        seam[row] = start + total[row, start : seam[row + 1] + 2].argmin()
    return seam


def _cut(patch: Mask, seam: NDArray[np.intp]) -> tuple[Mask, Mask]:
    is_right = np.arange(patch.shape[1]) > seam[:, None]
    return patch & ~is_right, patch & is_right


def _is_split(halves: tuple[Mask, Mask], evidence: NDArray[np.bool_], min_width: float) -> bool:
    both = halves[0].any(axis=1) & halves[1].any(axis=1)
    if both.sum() < 2 * min_width:
        return False
    widths = [float(np.median(half[both].sum(axis=1))) for half in halves]
    return bool(np.mean(evidence[both]) >= _MIN_EVIDENCE and min(widths) >= min_width)
