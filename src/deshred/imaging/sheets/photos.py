"""A photo of a sheet on a table in, the sheet alone out, as a scanner would have seen it.

The sheet is a region of one saturated color with four corners, inside the picture and not all of it. Its
format tells the resolution, which a camera does not know.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Mask, Scan
from deshred.imaging.sheets.backgrounds import alike, find_colors, to_lab

_SIDE = 800  # px of the picture in which corners are searched
_MIN_AREA, _MAX_AREA = 0.15, 0.97  # of the picture
_MIN_FILLED = 0.93  # of the four-cornered region that its own outline fills
_MIN_MARGIN = 0.01  # of the picture's side: a corner so far inside is no corner of the picture
_INSET = 0.006  # of the sheet: its own edge is half table
_FORMATS = ((210.0, 297.0, "A4"), (215.9, 279.4, "Letter"))  # mm
_MAX_ASPECT_ERROR = 0.06


@dataclass(frozen=True, eq=False)
class Photographed:
    """The sheet in a photo, straightened, and what was assumed about it."""

    scan: Scan
    note: str


def straighten_photo(scan: Scan, *, ground: tuple[int, int, int] | None = None) -> Photographed | None:
    """The sheet that a photo shows, seen from above; None when there is none with a table around it.

    Where shreds were found on the color `ground`, only a sheet of another color says that it is the table.
    """
    scale = min(1.0, _SIDE / max(scan.image.shape[:2]))
    size = tuple(max(1, round(side * scale)) for side in scan.image.shape[1::-1])
    small = np.asarray(cv2.resize(scan.image, size, interpolation=cv2.INTER_AREA), np.uint8)
    corners = _find_corners(small, ground)
    if corners is None:
        return None
    return _seen_from_above(scan, corners / scale)


def _find_corners(
    small: Image, ground: tuple[int, int, int] | None
) -> NDArray[np.float32] | None:  # (4, 2): clockwise from the top left
    """The corners of the most saturated region that has four."""
    lab = np.asarray(cv2.cvtColor(small.astype(np.float32) / 255, cv2.COLOR_RGB2LAB), np.float32)
    modes = sorted(find_colors(lab), key=lambda mode: -float(np.hypot(mode[1], mode[2])))
    for mode in modes:
        if ground is not None and alike(to_lab(ground), mode).all():
            continue
        corners = _corners_of(alike(lab, mode))
        if corners is not None:
            return corners
    return None


def _corners_of(region: Mask) -> NDArray[np.float32] | None:
    opened = cv2.morphologyEx(region.view(np.uint8), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    points = cv2.findNonZero(opened)
    if points is None:
        return None
    hull = np.asarray(cv2.convexHull(points), np.int32)
    outline = _simplify(hull)
    if outline is None or not _is_plausible(outline, hull, region):
        return None
    return _in_order(outline)


def _simplify(hull: NDArray[np.int32]) -> NDArray[np.float32] | None:
    """The hull with four corners, if it has about four."""
    length = cv2.arcLength(hull, True)
    for tolerance in np.linspace(0.005, 0.06, 12):
        corners = cv2.approxPolyDP(hull, float(tolerance * length), True)
        if len(corners) == 4:
            return corners[:, 0].astype(np.float32)
        if len(corners) < 4:
            return None
    return None


def _is_plausible(corners: NDArray[np.float32], hull: NDArray[np.int32], region: Mask) -> bool:
    height, width = region.shape
    area = cv2.contourArea(corners)
    filled = cv2.contourArea(hull) / max(area, 1.0)
    inside = corners / (width, height)
    margins = np.minimum(inside, 1 - inside).min(axis=1)
    return bool(
        _MIN_AREA <= area / (width * height) <= _MAX_AREA
        and _MIN_FILLED <= filled <= 2 - _MIN_FILLED
        and (margins > _MIN_MARGIN).sum() >= 3
    )


def _in_order(corners: NDArray[np.float32]) -> NDArray[np.float32]:
    around = corners - corners.mean(axis=0)
    clockwise = corners[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]
    return np.asarray(np.roll(clockwise, -int(clockwise.sum(axis=1).argmin()), axis=0), np.float32)


def _seen_from_above(scan: Scan, corners: NDArray[np.float32]) -> Photographed:
    middle = corners.mean(axis=0)
    corners = middle + (corners - middle) * (1 - 2 * _INSET)
    sides = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    width, height = float(sides[[0, 2]].mean()), float(sides[[1, 3]].mean())
    note, dpi = "its size is not known: give the resolution with --dpi", scan.dpi
    for short, long, name in _FORMATS:
        if abs(max(width, height) / min(width, height) / (long / short) - 1) < _MAX_ASPECT_ERROR:
            dpi = float(np.sqrt(width * height / ((1 - 2 * _INSET) ** 2 * short * long))) * 25.4
            scale = long / short
            width, height = _with_aspect(width, height, scale)
            note = f"taken to be {name}, so {dpi:.0f} dpi"
            break
    size = (round(width), round(height))
    target = np.array([[0, 0], [size[0], 0], size, [0, size[1]]], np.float32)
    matrix = cv2.getPerspectiveTransform(corners.astype(np.float32), target)
    image = cv2.warpPerspective(scan.image, matrix, size, flags=cv2.INTER_CUBIC)
    straight = Scan(np.asarray(image, np.uint8), dpi, scan.source)
    return Photographed(straight, f"a photo: the sheet was found by its four corners; {note}")


def _with_aspect(width: float, height: float, aspect: float) -> tuple[float, float]:
    """The same area in the true proportions."""
    short = float(np.sqrt(width * height / aspect))
    return (short, short * aspect) if width < height else (short * aspect, short)
