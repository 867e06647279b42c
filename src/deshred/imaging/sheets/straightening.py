"""Shreds that lean, curl or lie on their side: a cut-out in, an upright shred and the way back out.

A straight shred is copied pixel by pixel. Every other is resampled once, image and outline alike, along its
center line; the `Trace` takes each pixel of the upright shred back to its place in the scan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Mask

Points = NDArray[np.float64]  # (n, 2): x, y

_MIN_ELONGATION = 1.5  # below this nobody can say which side is the long one
_MIN_CURLING_ELONGATION = 6.0


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


@dataclass(frozen=True, eq=False)
class Posture:
    """How a shred lies on the sheet."""

    is_lying: bool  # its long side runs across the scan: it needs a quarter turn
    lean: float  # degrees from upright, after the quarter turn; positive: the lower end lies to the right
    curl: float  # degrees by which the two ends lean differently
    line: NDArray[np.float64]  # the straight center line, x of y in the cut-out after the quarter turn
    curve: NDArray[np.float64]  # the same as a parabola

    @property
    def angle(self) -> float:
        """Degrees clockwise by which the shred is turned against an upright one."""
        return (90.0 if self.is_lying else 0.0) - self.lean


@dataclass(frozen=True, eq=False)
class Frame:
    """The upright rectangle that a cut-out is drawn into, and where in it the shred begins."""

    trace: Trace  # of the rectangle
    height: int
    width: int
    top: int = 0
    left: int = 0


@dataclass(frozen=True, eq=False)
class Upright:
    """An upright shred, its way back to the scan, and what it takes to draw it again."""

    image: Image
    mask: Mask
    trace: Trace
    frame: Frame


def measure_posture(mask: Mask) -> Posture:
    """How the shred in this cut-out mask leans, curls or lies.

    The lean is that of the axis of inertia: torn ends and ragged sides hardly turn it.
    """
    moments = cv2.moments(mask.view(np.uint8), binaryImage=True)
    spread = np.array([[moments["mu20"], moments["mu11"]], [moments["mu11"], moments["mu02"]]])
    inertias, axes = np.linalg.eigh(spread)
    across, along = axes[:, 1]
    elongation = float(np.sqrt(inertias[1] / max(inertias[0], 1e-9)))
    is_lying = bool(elongation > _MIN_ELONGATION and abs(across) > abs(along))
    x, y = moments["m10"] / moments["m00"], moments["m01"] / moments["m00"]
    if is_lying:
        x, y, across, along = y, mask.shape[1] - 1 - x, along, -across
    slope = across / along if elongation > _MIN_ELONGATION else 0.0
    line = np.array([slope, x - slope * y])
    curve = np.concatenate([[0.0], line])
    curl = 0.0
    if elongation > _MIN_CURLING_ELONGATION:
        rows, middles = _center_points(_quarter_turn(mask) if is_lying else mask)
        curve = _fit_parabola(rows, middles)
        ends = np.degrees(np.arctan(np.polyval(np.polyder(curve), rows[[0, -1]])))
        curl = float(ends[1] - ends[0])
    return Posture(is_lying, float(np.degrees(np.arctan(slope))), curl, line, curve)


def straighten(
    image: Image,
    mask: Mask,
    coverage: NDArray[np.float32],
    *,
    posture: Posture,
    origin: tuple[int, int],
    limit: float,
) -> Upright:
    """Make a cut-out upright and trim it; `coverage` is the share of its paper in every pixel.

    `origin` is the cut-out's top left corner in the scan; up to `limit` degrees count as straight.
    """
    is_curled = abs(posture.curl) > 2 * limit
    turned = _quarter_turn(mask) if posture.is_lying else mask
    if abs(posture.lean) <= limit and not is_curled:
        frame = Frame(trace_copy(mask.shape, posture.is_lying, origin), *turned.shape)
        return _trim(draw_frame(image, frame, origin), turned, frame)
    center = posture.curve if is_curled else posture.line
    knots = _center_knots(center, turned.shape[0])
    half = _half_width(turned, center) + 2
    # Room for the corners that a lean pushes beyond the first and last row of the center line.
    overhang = int(np.ceil(half * np.tan(np.radians(np.abs(knots.angles).max())))) + 2
    length = int(np.ceil(knots.rows[-1])) + 2 * overhang + 1
    xs, ys, angles = knots.xs, knots.ys, knots.angles
    if posture.is_lying:
        xs, ys, angles = mask.shape[1] - 1 - ys, xs, angles + 90.0
    trace = Trace(knots.rows + overhang, xs + origin[0], ys + origin[1], angles, float(half), is_exact=False)
    frame = Frame(trace, length, 2 * half + 1)
    at = _find_places(frame, origin)
    soft = cv2.remap(coverage, at[0], at[1], cv2.INTER_CUBIC, borderMode=cv2.BORDER_CONSTANT, borderValue=0)
    return _trim(_resample(image, at), _largest(np.asarray(soft) > 0.5), frame)


def draw_frame(image: Image, frame: Frame, origin: tuple[int, int]) -> Image:
    """What a frame shows of a cut-out, whose top left corner in the scan is `origin`."""
    if frame.trace.is_exact:
        return _quarter_turn(image) if frame.trace.angles[0] else image
    return _resample(image, _find_places(frame, origin))


def _find_places(frame: Frame, origin: tuple[int, int]) -> NDArray[np.float32]:  # (2, height, width): x, y
    """Where in the cut-out every pixel of the frame lies."""
    columns, rows = np.meshgrid(np.arange(frame.width), np.arange(frame.height))
    points = np.stack([columns.ravel(), rows.ravel()], axis=-1).astype(np.float64)
    places = (frame.trace.to_scan(points) - origin).astype(np.float32)
    return np.ascontiguousarray(places.T).reshape(2, frame.height, frame.width)


def _resample(image: Image, at: NDArray[np.float32]) -> Image:
    drawn = cv2.remap(image, at[0], at[1], cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(drawn, np.uint8)


def _quarter_turn(array: NDArray[Any]) -> NDArray[Any]:
    """Counterclockwise: the right end of a lying shred becomes its top."""
    return np.rot90(array)


def trace_copy(shape: tuple[int, ...], is_lying: bool, origin: tuple[int, int]) -> Trace:
    """The way back of a cut-out that is copied pixel by pixel, perhaps with a quarter turn."""
    height, width = shape
    x, y = origin
    if not is_lying:
        rows = np.array([0.0, height - 1.0])
        return Trace(rows, np.full(2, float(x)), y + rows, np.zeros(2), 0.0, is_exact=True)
    rows = np.array([0.0, width - 1.0])
    return Trace(rows, x + width - 1 - rows, np.full(2, float(y)), np.full(2, 90.0), 0.0, is_exact=True)


def _center_points(mask: Mask) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middles of the rows that are about as wide as the shred: cut ends and torn corners say nothing."""
    rows = np.flatnonzero(mask.any(axis=1))
    left = mask[rows].argmax(axis=1)
    right = mask.shape[1] - 1 - mask[rows, ::-1].argmax(axis=1)
    widths = right - left + 1
    typical = np.abs(widths - np.median(widths)) <= 0.2 * np.median(widths)
    return rows[typical].astype(float), ((left + right) / 2)[typical]


def _fit_parabola(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients, highest first; points far off the curve are left out."""
    fit = np.polynomial.Polynomial.fit(x, y, 2)
    for _ in range(3):
        error = np.abs(y - fit(x))
        near = error <= 2.5 * max(float(np.median(error)), 0.5)
        fit = np.polynomial.Polynomial.fit(x[near], y[near], 2)
    coefficients = fit.convert().coef[::-1]
    return np.concatenate([np.zeros(3 - coefficients.size), coefficients])


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
    return _Knots(lengths, np.asarray(xs, np.float64), ys, np.broadcast_to(angles, ys.shape))


def _half_width(mask: Mask, center: NDArray[np.float64]) -> int:
    rows = np.flatnonzero(mask.any(axis=1))
    middles = np.polyval(center, rows)
    left = middles - mask[rows].argmax(axis=1)
    right = mask.shape[1] - 1 - mask[rows, ::-1].argmax(axis=1) - middles
    return int(np.ceil(max(left.max(), right.max())))


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


def _trim(image: Image, mask: Mask, frame: Frame) -> Upright:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    top, left = int(rows[0]), int(columns[0])
    window = slice(top, int(rows[-1]) + 1), slice(left, int(columns[-1]) + 1)
    frame = replace(frame, top=top, left=left)
    return Upright(image[window].copy(), mask[window].copy(), trim_trace(frame), frame)


def trim_trace(frame: Frame) -> Trace:
    """The way back of the shred alone."""
    trace = frame.trace
    return replace(trace, rows=trace.rows - frame.top, center_column=trace.center_column - frame.left)
