"""Connected paper: a mask in, whole patches out, with cracks bridged and ink filled in."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Mask

_MAX_FILLED_HOLE_MM2 = 12.0  # a larger one that shows the sheet is a punch hole
_CRACK_MM = 0.4  # misregistered color channels can cut a shred at a ruled line
_RULE_MM = 2.5  # the thickest ruled line that is bridged on a sheet as dark as ink
_SPAN_MM = 1.0  # a ruled line is longer than this; a dent of the outline is shorter
_DENT_MM = 2.0
_MIN_DENT_MM = 0.3


@dataclass(frozen=True)
class Box:
    """A rectangle of scan pixels."""

    x: int
    y: int
    width: int
    height: int

    @property
    def slices(self) -> tuple[slice, slice]:
        return slice(self.y, self.y + self.height), slice(self.x, self.x + self.width)

    def as_list(self) -> list[int]:
        return [self.x, self.y, self.width, self.height]

    @property
    def middle_y(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True, eq=False)
class Patch:
    """A connected piece of paper and where it lies in the scan."""

    box: Box
    mask: Mask  # (box.height, box.width)

    def with_margin(self, margin: int, shape: tuple[int, ...]) -> Patch:
        """The same paper in a larger box, as far as the scan goes."""
        box = self.box
        left, top = min(margin, box.x), min(margin, box.y)
        right = min(margin, shape[1] - box.x - box.width)
        bottom = min(margin, shape[0] - box.y - box.height)
        wide = Box(box.x - left, box.y - top, box.width + left + right, box.height + top + bottom)
        return Patch(wide, np.pad(self.mask, ((top, bottom), (left, right))))


@dataclass(frozen=True)
class Size:
    """Width and length of a patch however it lies, in pixels."""

    width: float
    length: float
    fullness: float  # share of the smallest upright or leaning rectangle around it


@dataclass(frozen=True, eq=False)
class Patches:
    """The connected pieces of a mask."""

    large: tuple[Patch, ...]
    specks: int  # how many others there are


def to_pixels(mm: float, dpi: float) -> float:
    """Millimeters in pixels."""
    return mm / 25.4 * dpi


def find_patches(paper: Mask, *, min_area: float, origin: tuple[int, int] = (0, 0)) -> Patches:
    """All connected pieces, those of at least this many pixels one by one; diagonal contact is none.

    `origin` is the top left corner of the mask in the scan.
    """
    left, top = origin
    whole = _find_single(paper)
    if whole is not None:
        if np.count_nonzero(paper) < min_area:
            return Patches((), 1)
        box = Box(left + whole.x, top + whole.y, whole.width, whole.height)
        return Patches((Patch(box, paper[whole.slices].copy()),), 0)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(paper.view(np.uint8), connectivity=4)
    patches = []
    is_large = stats[1:, cv2.CC_STAT_AREA] >= min_area
    for label in 1 + np.flatnonzero(is_large):
        box = Box(*(int(v) for v in stats[label, :4]))
        mask = labels[box.slices] == label
        patches.append(Patch(Box(left + box.x, top + box.y, box.width, box.height), mask))
    return Patches(tuple(patches), int((~is_large).sum()))


def _find_single(paper: Mask) -> Box | None:
    """The box of the only piece, where every row of it is one run that touches the next: a shred, mostly.

    Numbering all pieces takes ten times as long.
    """
    starts, stops = paper.argmax(axis=1), paper.shape[1] - paper[:, ::-1].argmax(axis=1)
    rows = np.flatnonzero(paper[np.arange(len(paper)), starts]) if paper.size else np.zeros(0, np.intp)
    if not rows.size or rows[-1] - rows[0] + 1 != rows.size:
        return None
    starts, stops = starts[rows], stops[rows]
    is_single = int((stops - starts).sum()) == np.count_nonzero(paper)
    is_single &= bool((np.maximum(starts[1:], starts[:-1]) < np.minimum(stops[1:], stops[:-1])).all())
    if not is_single:
        return None
    left = int(starts.min())
    return Box(left, int(rows[0]), int(stops.max()) - left, rows.size)


def outer_contour(mask: Mask) -> NDArray[np.int32]:
    """The longest outline of a mask as corner pixels. (n, 2): x, y"""
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    return np.asarray(max(contours, key=cv2.contourArea)[:, 0], np.int32)


def measure_size(mask: Mask) -> Size:
    """Length along the longer side; width by area, so that ragged edges and curl do not widen a shred."""
    contour = outer_contour(mask)
    short, long = sorted(side + 1 for side in cv2.minAreaRect(contour)[1])
    width = max(float(cv2.contourArea(contour)), 1.0) / long
    return Size(width, long, width / short)


def bridge_cracks(paper: Mask, *, dpi: float, dark_sheet: bool) -> Mask:
    """Close long thin gaps across the shreds' direction: ruled lines, not dents of the outline."""
    view = paper if _mostly_upright(paper) else paper.T
    raw = np.ascontiguousarray(view).view(np.uint8)
    # odd sizes: OpenCV moves what an even kernel opens or closes by a pixel
    gap = max(3, round(to_pixels(_RULE_MM if dark_sheet else _CRACK_MM, dpi))) | 1
    span = (max(4, round(to_pixels(_SPAN_MM, dpi))) - 1) | 1
    closed = cv2.morphologyEx(raw, cv2.MORPH_CLOSE, np.ones((gap, 1), np.uint8))
    cracks = cv2.morphologyEx(cv2.subtract(closed, raw), cv2.MORPH_OPEN, np.ones((1, span), np.uint8))
    bridged = cv2.bitwise_or(raw, cracks).astype(bool)
    return bridged if view is paper else bridged.T


def _mostly_upright(paper: Mask) -> bool:
    small = np.ascontiguousarray(paper[::4, ::4]).view(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(small, connectivity=4)
    upright = stats[1:, cv2.CC_STAT_HEIGHT] >= stats[1:, cv2.CC_STAT_WIDTH]
    areas = stats[1:, cv2.CC_STAT_AREA]
    return bool(areas[upright].sum() >= areas[~upright].sum())


def fill_holes(mask: Mask, *, dpi: float) -> Mask:
    """Count what is inside a shred as paper, except for holes as large as a punch makes."""
    holes = (_fill(mask) & ~mask).view(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(holes, connectivity=8)
    is_small = stats[:, cv2.CC_STAT_AREA] <= _MAX_FILLED_HOLE_MM2 * to_pixels(1, dpi) ** 2
    is_small[0] = False
    filled: Mask = mask | is_small[labels]
    return filled


def has_holes(mask: Mask) -> bool:
    """Whether background shows inside the outline."""
    return bool(_fill(mask).sum() != mask.sum())


def fill_ink(mask: Mask, *, dpi: float) -> Mask:
    """On a sheet as dark as ink, count all holes, and dents too sharp for a tear, as ink on paper."""
    reach = round(to_pixels(_DENT_MM, dpi)) // 2
    disk = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    padded = np.pad(mask, reach).view(np.uint8)
    closed = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, disk)
    small = (max(2, round(to_pixels(_MIN_DENT_MM, dpi))) - 1) | 1
    dents = cv2.morphologyEx(cv2.subtract(closed, padded), cv2.MORPH_OPEN, np.ones((small, small), np.uint8))
    return _fill(cv2.bitwise_or(padded, dents)[reach:-reach, reach:-reach].astype(bool))


def _fill(mask: Mask) -> Mask:
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros(mask.shape, np.uint8)
    cv2.drawContours(filled, contours, -1, 1, cv2.FILLED)
    return filled.astype(bool)
