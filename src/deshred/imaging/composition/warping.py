"""Ribbons and how each gives way in; every shred resampled once, straight onto the page, out."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Mask
from deshred.imaging.composition.ribbons import Ribbon

_GRID = 16  # px between places whose way is computed; between them it is interpolated
_ROOM = 2  # px around a shred


@dataclass(frozen=True, eq=False)
class Turn:
    """A turn of the page around a point."""

    degrees: float  # by which lines go down towards the right before it
    x: float
    y: float

    def back(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> Spots:
        """Where places of the turned page were before."""
        cosine, sine = np.cos(np.radians(self.degrees)), np.sin(np.radians(self.degrees))
        right, down = x - self.x, y - self.y
        return Spots(self.x + cosine * right - sine * down, self.y + sine * right + cosine * down)

    def forth(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> Spots:
        """Where places come to lie."""
        return Turn(-self.degrees, self.x, self.y).back(x, y)


@dataclass(frozen=True, eq=False)
class Spots:
    """Places on the page."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Berth:
    """Where a ribbon lies on the page before the turn, and how it gives way at the knots."""

    ribbon: Ribbon
    left: float  # column of the center line
    top: float  # row of its place 0
    knots: NDArray[np.float64]  # rows of the page
    right_moves: NDArray[np.float64]  # (knots,)
    down_moves: NDArray[np.float64]  # (knots,)

    def outline(self) -> Spots:
        """Points along both sides and both ends."""
        along = np.linspace(self.ribbon.first, self.ribbon.last, 2 + len(self.knots))
        profiles = self.ribbon.profiles
        reach = [
            float(pick(side[np.isfinite(side)], initial=0))
            for pick, side in ((np.min, profiles.lefts), (np.max, profiles.rights))
        ]
        y = self.top + along
        y = y + np.interp(y, self.knots, self.down_moves)
        x = self.left + np.interp(y, self.knots, self.right_moves)
        return Spots(np.concatenate([x + reach[0], x + reach[1]]), np.concatenate([y, y]))

    def to_shred(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> Spots:
        """Where places of the page lie in the shred's own image."""
        across = x - self.left - np.interp(y, self.knots, self.right_moves)
        along = y - self.top - np.interp(y, self.knots, self.down_moves)
        pixels = self.ribbon.to_shred(across, along)
        return Spots(pixels.columns, pixels.rows)


@dataclass(frozen=True, eq=False)
class Patch:
    """A shred as it looks on the page, and its top left corner there."""

    image: Image
    mask: Mask
    x: int
    y: int


def warp(berth: Berth, turn: Turn, image: Image) -> Patch:
    """Resample a shred onto the page; `image` is its own, cleaned."""
    spots = turn.forth(*_both(berth.outline()))
    x0, y0 = (int(np.floor(values.min())) - _ROOM for values in _both(spots))
    x1, y1 = (int(np.ceil(values.max())) + _ROOM + 1 for values in _both(spots))
    # OpenCV samples the middle of pixels: half a cell further out, and one cell of room around
    columns, rows = (
        np.arange(first - 0.5 - _GRID / 2, last + 2 * _GRID, _GRID) for first, last in ((x0, x1), (y0, y1))
    )
    x, y = np.meshgrid(columns, rows)
    before = turn.back(x, y)
    within = berth.to_shred(before.x, before.y)
    at_x, at_y = (_refine(coarse, y1 - y0, x1 - x0) for coarse in _both(within))
    pixels = cv2.remap(image, at_x, at_y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    paper = berth.ribbon.shred.mask.view(np.uint8) * np.uint8(255)
    soft = cv2.remap(paper, at_x, at_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=0)
    return Patch(np.asarray(pixels, np.uint8), np.asarray(soft) > 127, x0, y0)


def _both(spots: Spots) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return spots.x, spots.y


def _refine(coarse: NDArray[np.float64], height: int, width: int) -> NDArray[np.float32]:
    """Values between the places of a grid, linearly; its first cell lies outside. (height, width)"""
    size = (coarse.shape[1] * _GRID, coarse.shape[0] * _GRID)
    fine = cv2.resize(coarse.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)
    return np.ascontiguousarray(fine[_GRID : _GRID + height, _GRID : _GRID + width], np.float32)
