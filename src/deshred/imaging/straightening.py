"""Shreds that lean, curl or lie on their side: a cut-out in, an upright shred and the way back out.

A straight shred is copied pixel by pixel. Every other is resampled once, image and outline alike, along its
center line; the `Trace` takes each pixel of the upright shred back to its place in the scan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Mask

Points = NDArray[np.float64]  # (n, 2): x, y


@dataclass(frozen=True, eq=False)
class Trace:
    """Where the pixels of an upright shred lie in the scan.

    A row of the shred is a straight line in the scan: through (x, y) at the center column, at an angle
    clockwise from the scan's rows. Between the knots all three change linearly.
    """

    rows: NDArray[np.float64]  # (k,): rows of the shred, rising
    xs: NDArray[np.float64]  # (k,): scan pixels
    ys: NDArray[np.float64]  # (k,)
    angles: NDArray[np.float64]  # (k,): degrees
    center_column: float
    is_exact: bool  # shred pixels are scan pixels, none was interpolated

    def to_scan(self, points: Points) -> Points:
        """Scan coordinates of points (column, row) of the shred; whole numbers are pixel centers."""
        columns, rows = np.asarray(points, np.float64).T
        x, y, angle = (_interpolate(rows, self.rows, values) for values in (self.xs, self.ys, self.angles))
        reach, angle = columns - self.center_column, np.radians(angle)
        return np.stack([x + reach * np.cos(angle), y + reach * np.sin(angle)], axis=-1)

    def as_json(self) -> dict[str, Any]:
        knots = np.stack([self.rows, self.xs, self.ys, self.angles], axis=-1)
        return {
            "exact": self.is_exact,
            "center_column": self.center_column,
            "knots_row_x_y_angle": knots.round(4).tolist(),
        }


@dataclass(frozen=True)
class Posture:
    """How a shred lies on the sheet."""

    is_lying: bool  # its long side runs across the scan: it needs a quarter turn
    lean: float  # degrees from upright, after the quarter turn; positive: the lower end lies to the right
    curl: float  # degrees by which the two ends lean differently
    center: NDArray[np.float64]  # polynomial of the center line, x of y in the cut-out after the quarter turn

    @property
    def angle(self) -> float:
        """Degrees clockwise by which the shred was turned against an upright one."""
        return (90.0 if self.is_lying else 0.0) - self.lean


@dataclass(frozen=True, eq=False)
class Upright:
    """An upright shred and its way back to the scan."""

    image: Image
    mask: Mask
    trace: Trace


def measure_posture(mask: Mask) -> Posture:
    """How the shred in this cut-out mask leans, curls or lies."""
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    contour = max(contours, key=cv2.contourArea)
    corners = cv2.boxPoints(cv2.minAreaRect(contour))
    sides = corners[1] - corners[0], corners[2] - corners[1]
    long = max(sides, key=lambda side: float(np.linalg.norm(side)))
    short = min(sides, key=lambda side: float(np.linalg.norm(side)))
    is_elongated = np.linalg.norm(long) > 1.5 * np.linalg.norm(short)
    is_lying = bool(is_elongated and abs(long[0]) > abs(long[1]))
    upright = _quarter_turn(mask) if is_lying else mask
    rows, middles = _center_points(upright)
    if not is_elongated or rows.size < 20:
        return Posture(is_lying, 0.0, 0.0, np.array([0.0, 0.0, upright.shape[1] / 2 - 0.5]))
    center = _fit(rows, middles, degree=2)
    slopes = np.polyval(np.polyder(center), [rows[0], rows[-1]])
    lean = float(np.degrees(np.arctan(_fit(rows, middles, degree=1)[0])))
    curl = float(np.degrees(np.arctan(slopes[1]) - np.arctan(slopes[0])))
    return Posture(is_lying, lean, curl, center)


def straighten(
    image: Image,
    mask: Mask,
    coverage: NDArray[np.float32],
    *,
    posture: Posture,
    origin: tuple[int, int],
    limit: float,
) -> Upright:
    """Make a cut-out upright; `origin` is its top left corner in the scan, `limit` the degrees that do not matter.

    `coverage` is the share of paper in every pixel, half on the outline, so that the new outline is as fine
    as the old one.
    """
    straight, curled = abs(posture.lean) <= limit, abs(posture.curl) > 2 * limit
    if straight and not curled:
        return _turned(image, mask, posture.is_lying, origin)
    # The center line is known in the frame after the quarter turn; its rows and normals, in the scan.
    height, width = mask.shape[::-1] if posture.is_lying else mask.shape
    center = posture.center if curled else _fit_line(posture.center, height)
    knots = _center_knots(center, height)
    # Room for the corners that a lean pushes beyond the first and last row of the center line.
    slopes = np.abs(np.polyval(np.polyder(center), [0, height - 1]))
    overhang = int(np.ceil(width / 2 * slopes.max())) + 1
    half = _half_width(mask if not posture.is_lying else _quarter_turn(mask), center) + 2
    length = knots.rows[-1]
    grid_rows = np.arange(-overhang, int(np.ceil(length)) + overhang + 1, dtype=np.float64)
    trace = _in_scan(knots, posture.is_lying, mask.shape, origin, first_row=grid_rows[0], half=half)
    columns = np.arange(2 * half + 1, dtype=np.float64)
    grid = np.stack(np.meshgrid(columns, np.arange(grid_rows.size)), axis=-1).reshape(-1, 2)
    at = (trace.to_scan(grid) - origin).astype(np.float32).reshape(grid_rows.size, columns.size, 2)
    new_image = cv2.remap(image, at, None, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    new_coverage = cv2.remap(
        coverage, at, None, cv2.INTER_CUBIC, borderMode=cv2.BORDER_CONSTANT, borderValue=0
    )
    return _trimmed(new_image, _largest(new_coverage > 0.5), trace)


def _quarter_turn(array: NDArray[Any]) -> NDArray[Any]:
    """Counterclockwise: the right end of a lying shred becomes its top."""
    return np.rot90(array)


def _turned(image: Image, mask: Mask, is_lying: bool, origin: tuple[int, int]) -> Upright:
    height, width = mask.shape
    x, y = origin
    if not is_lying:
        rows = np.array([0.0, height - 1.0])
        trace = Trace(rows, np.array([x, x], float), y + rows, np.zeros(2), 0.0, is_exact=True)
        return Upright(image.copy(), mask.copy(), trace)
    rows = np.array([0.0, width - 1.0])
    trace = Trace(rows, x + width - 1 - rows, np.array([y, y], float), np.full(2, 90.0), 0.0, is_exact=True)
    return Upright(_quarter_turn(image).copy(), _quarter_turn(mask).copy(), trace)


def _center_points(mask: Mask) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middles of the rows that are about as wide as the shred: cut ends and torn corners say nothing."""
    rows = np.flatnonzero(mask.any(axis=1))
    left = mask[rows].argmax(axis=1)
    right = mask.shape[1] - 1 - mask[rows, ::-1].argmax(axis=1)
    widths = right - left + 1
    typical = np.abs(widths - np.median(widths)) <= 0.2 * np.median(widths)
    return rows[typical].astype(float), ((left + right) / 2)[typical]


def _fit(x: NDArray[np.float64], y: NDArray[np.float64], *, degree: int) -> NDArray[np.float64]:
    fit = np.polynomial.Polynomial.fit(x, y, degree)
    for _ in range(3):
        error = np.abs(y - fit(x))
        keep = error <= 2.5 * max(float(np.median(error)), 0.5)
        fit = np.polynomial.Polynomial.fit(x[keep], y[keep], degree)
    coefficients = fit.convert().coef[::-1]
    return np.concatenate([np.zeros(degree + 1 - coefficients.size), coefficients])


def _fit_line(center: NDArray[np.float64], height: int) -> NDArray[np.float64]:
    rows = np.linspace(0, height - 1, 101)
    return np.polyfit(rows, np.polyval(center, rows), 1)


@dataclass(frozen=True, eq=False)
class _Knots:
    """The center line in the cut-out, by its own length."""

    rows: NDArray[np.float64]
    xs: NDArray[np.float64]
    ys: NDArray[np.float64]
    angles: NDArray[np.float64]  # degrees clockwise of the normal that points right


def _center_knots(center: NDArray[np.float64], height: int) -> _Knots:
    ys = np.linspace(0, height - 1, 2 if center.size == 2 else max(2, min(65, height // 50)))
    xs = np.polyval(center, ys)
    fine = np.linspace(0, height - 1, 2049)
    steps = np.hypot(np.diff(fine), np.diff(np.polyval(center, fine)))
    lengths = np.interp(ys, fine, np.concatenate([[0.0], np.cumsum(steps)]))
    angles = -np.degrees(np.arctan(np.polyval(np.polyder(center), ys)))
    return _Knots(lengths, xs, ys, np.broadcast_to(angles, ys.shape))


def _half_width(mask: Mask, center: NDArray[np.float64]) -> int:
    rows = np.flatnonzero(mask.any(axis=1))
    middles = np.polyval(center, rows)
    left = middles - mask[rows].argmax(axis=1)
    right = mask.shape[1] - 1 - mask[rows, ::-1].argmax(axis=1) - middles
    return int(np.ceil(max(left.max(), right.max())))


def _in_scan(
    knots: _Knots,
    is_lying: bool,
    shape: tuple[int, ...],
    origin: tuple[int, int],
    *,
    first_row: float,
    half: int,
) -> Trace:
    """From the frame after the quarter turn to the scan."""
    xs, ys, angles = knots.xs, knots.ys, knots.angles
    if is_lying:
        xs, ys, angles = shape[1] - 1 - ys, xs, angles + 90.0
    return Trace(knots.rows - first_row, xs + origin[0], ys + origin[1], angles, float(half), is_exact=False)


def _interpolate(at: NDArray[np.float64], knots: NDArray[np.float64], values: NDArray[np.float64]) -> Points:
    """Linear between knots, and straight on beyond the first and last."""
    inside = np.interp(at, knots, values)
    first = (values[1] - values[0]) / (knots[1] - knots[0])
    last = (values[-1] - values[-2]) / (knots[-1] - knots[-2])
    before, after = np.minimum(at - knots[0], 0), np.maximum(at - knots[-1], 0)
    extended: Points = inside + before * first + after * last
    return extended


def _largest(mask: Mask) -> Mask:
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    largest: Mask = labels == 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax())
    return largest


def _trimmed(image: Image, mask: Mask, trace: Trace) -> Upright:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    moved = Trace(
        trace.rows - top, trace.xs, trace.ys, trace.angles, trace.center_column - float(left), trace.is_exact
    )
    return Upright(image[top:bottom, left:right].copy(), mask[top:bottom, left:right].copy(), moved)
