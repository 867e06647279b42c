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

_EVIDENT = 0.5  # cost of a pixel below which a seam has evidence: background, its fringe, or a shadow
_MIN_EVIDENCE = 0.3  # share of a seam


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
    if not _is_suspect(patch, typical_width):
        return Parts((patch,), is_suspect=False)
    cost = _seam_cost(patch, coverage, image, min_width)
    seam = _cheapest_seam(cost)
    halves = _cut(patch, seam)
    if halves is None or not _is_evident(seam, cost, patch, halves, min_width):
        return Parts((patch,), is_suspect=True)
    parts = [
        separate(half, coverage, image, typical_width=typical_width, min_width=min_width) for half in halves
    ]
    masks = tuple(mask for part in parts for mask in part.masks)
    return Parts(masks, any(part.is_suspect for part in parts))


def _extents(patch: Mask) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    rows = np.flatnonzero(patch.any(axis=1))
    return rows, patch[rows].argmax(axis=1), patch.shape[1] - patch[rows, ::-1].argmax(axis=1)


def _is_suspect(patch: Mask, typical_width: float) -> bool:
    """Wider than a shred over a good part of its length, or with a gap inside."""
    _, left, right = _extents(patch)
    widths = right - left
    gaps = 1 - patch.sum() / widths.sum()
    return bool(np.mean(widths > 1.55 * typical_width) > 0.2 or gaps > 0.06)


def _seam_cost(
    patch: Mask, coverage: NDArray[np.float32], image: Image, min_width: float
) -> NDArray[np.float32]:
    grey = cv2.cvtColor(np.ascontiguousarray(image), cv2.COLOR_RGB2GRAY).astype(np.float32)
    around = cv2.blur(grey, (1 + 2 * int(min_width / 3), 1))
    shadow = np.clip(1 - grey / np.maximum(around, 1), 0, 0.9)
    cost = np.where(patch, np.clip(coverage, 0, 1) * (1 - shadow), 0).astype(np.float32)
    # A seam has to leave a shred on either side, where there is room for two.
    rows, left, right = _extents(patch)
    columns = np.arange(patch.shape[1])
    room = (right - left) >= 2 * min_width
    outside = (columns < (left + min_width)[:, None]) | (columns >= (right - min_width)[:, None])
    cost[rows[room]] += 10 * outside[room]
    return cost + np.float32(0.02)


def _cheapest_seam(cost: NDArray[np.float32]) -> NDArray[np.intp]:
    """One column for every row, neighbors at most one apart, at the least total cost."""
    total = np.empty_like(cost)
    total[0] = cost[0]
    sideways = np.float32(0.01)  # straight on, unless there is a reason
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


def _cut(patch: Mask, seam: NDArray[np.intp]) -> tuple[Mask, Mask] | None:
    right_side = np.arange(patch.shape[1]) > seam[:, None]
    halves = patch & ~right_side, patch & right_side
    return halves if all(half.any() for half in halves) else None


def _is_evident(
    seam: NDArray[np.intp],
    cost: NDArray[np.float32],
    patch: Mask,
    halves: tuple[Mask, Mask],
    min_width: float,
) -> bool:
    left, right = halves
    both = left.any(axis=1) & right.any(axis=1)
    if both.sum() < min_width or min(left.sum(), right.sum()) < min_width * patch.shape[0] / 4:
        return False
    along = cost[np.arange(seam.size), seam][both]
    widths = [float(np.median(half[both].sum(axis=1))) for half in halves]
    return bool(np.mean(along < _EVIDENT) >= _MIN_EVIDENCE and min(widths) >= min_width)
