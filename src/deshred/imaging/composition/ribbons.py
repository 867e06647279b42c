"""A shred in, its Ribbon out: coordinates in which its center line is straight, and the way to its pixels.

`across` counts px from the center line to the right, `along` px down the center line. Both keep the shred's
lengths: a leaning shred is turned and a bowed one unrolled, so lines of text that met the center line at a
right angle are level.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Shred
from deshred.imaging.binarization import to_gray
from deshred.imaging.composition.uprights import CenterLine, Sides, find_sides, fit_center

Lengths = NDArray[np.float64]

_INK_DEPTH = slice(1, 9)  # px from the tear that are compared; the outermost one is fray
_FULL_INK = 100.0  # gray levels darker than the paper that count as ink altogether


@dataclass(frozen=True, eq=False)
class Profiles:
    """What each row of a ribbon shows, in px along it from `first` on; 0 where there is no paper."""

    left_ink: Lengths  # (n,): share of ink just inside the left tear
    right_ink: Lengths
    lefts: Lengths  # (n,): where the paper begins, across; NaN where there is none
    rights: Lengths


@dataclass(frozen=True, eq=False)
class Pixels:
    """Places in the image of a shred, between its pixels."""

    columns: Lengths
    rows: Lengths


@dataclass(frozen=True, eq=False)
class Ribbon:
    """A shred unrolled along its center line."""

    shred: Shred
    center: CenterLine

    @cached_property
    def sides(self) -> Sides:
        return find_sides(self.shred.mask)

    @cached_property
    def _rows(self) -> Lengths:
        return np.arange(len(self.shred.mask), dtype=np.float64)

    @cached_property
    def _along(self) -> Lengths:
        """The length of the center line at every row; the middle row keeps its number. (H,)"""
        lengths = np.cumsum(np.sqrt(1 + self.center.slopes(self._rows) ** 2))
        middle = len(lengths) // 2
        return np.asarray(lengths - lengths[middle] + middle, np.float64)

    @property
    def first(self) -> int:
        return int(np.floor(self._along[0]))

    @property
    def last(self) -> int:
        return int(np.ceil(self._along[-1]))

    @property
    def along(self) -> NDArray[np.int64]:
        """All whole places along the ribbon. (n,)"""
        return np.arange(self.first, self.last + 1)

    def rows(self, along: Lengths) -> Lengths:
        """Rows of the shred at which the center line has these lengths, straight on beyond its ends."""
        inside = np.interp(along, self._along, self._rows)
        beyond = along - np.clip(along, self._along[0], self._along[-1])
        return np.asarray(inside + beyond, np.float64)

    def to_shred(self, across: Lengths, along: Lengths) -> Pixels:
        """Where places of the ribbon lie in the shred's own image."""
        rows = self.rows(along)
        slopes = self.center.slopes(rows)
        reach = across / np.sqrt(1 + slopes**2)
        return Pixels(self.center.columns(rows) + reach, rows - reach * slopes)

    @cached_property
    def half_width(self) -> float:
        """Half the usual width of the paper."""
        widths = (self.sides.stops - self.sides.starts)[self.sides.has_paper]
        return float(np.median(widths)) / 2 if widths.size else 0.0

    @cached_property
    def tilt(self) -> float:
        """Px by which its right side lies higher in the shred's own image than the center, on average."""
        return float(self.center.slopes(self._rows).mean()) * self.half_width

    @cached_property
    def darkness(self) -> NDArray[np.float32]:
        """Share of ink in every pixel of the shred, 0 outside the paper. (H, W)"""
        gray = to_gray(self.shred.image, self.shred.mask)
        paper = float(np.median(gray[self.shred.mask])) if self.shred.mask.any() else 255.0
        dark = np.clip((paper - gray.astype(np.float32)) / _FULL_INK, 0, 1)
        return np.where(self.shred.mask, dark, 0).astype(np.float32)

    @cached_property
    def profiles(self) -> Profiles:
        """Ink and paper along both sides."""
        sides, middles = self.sides, self.center.columns(self._rows)
        lefts = np.where(sides.has_paper, sides.starts - 0.5 - middles, np.nan)
        rights = np.where(sides.has_paper, sides.stops - 0.5 - middles, np.nan)
        return Profiles(
            self.read_rows(self._ink_beside(sides.starts, 1), -self.half_width),
            self.read_rows(self._ink_beside(sides.stops - 1, -1), self.half_width),
            self.read_rows(lefts, 0.0),
            self.read_rows(rights, 0.0),
        )

    def read_rows(self, values: NDArray[np.floating], across: float) -> Lengths:
        """Values per row of the shred, seen at some place across, along the ribbon. (n,)"""
        rows = self.to_shred(np.full(self.along.shape, across), self.along.astype(np.float64)).rows
        read = np.interp(rows, self._rows, values, left=np.nan, right=np.nan)
        return np.asarray(read, np.float64)

    def sum_columns(self, middles: Lengths, reach: float) -> list[Lengths]:
        """Ink of bands of columns around some places across, along the ribbon; each (n,)."""
        height, width = self.darkness.shape
        summed = np.zeros((height, width + 1), np.float64)
        np.cumsum(self.darkness, axis=1, out=summed[:, 1:])
        columns = self.center.columns(self._rows)[:, None] + 0.5
        bands = []
        for middle in middles:
            ends = np.rint(columns + middle + np.array([-reach, reach])).astype(int)
            first, last = np.take_along_axis(summed, np.clip(ends, 0, width), axis=1).T
            bands.append(self.read_rows(last - first, float(middle)))
        return bands

    def _ink_beside(self, tears: NDArray[np.int32], inwards: int) -> Lengths:
        depths = np.arange(_INK_DEPTH.start, _INK_DEPTH.stop)
        columns = np.clip(tears[:, None] + inwards * depths, 0, self.darkness.shape[1] - 1)
        ink = np.take_along_axis(self.darkness, columns, axis=1).mean(axis=1)
        return np.where(self.sides.has_paper, ink, 0.0)


def unroll(shred: Shred, *, straightens: bool = True) -> Ribbon:
    """The ribbon of a shred; one that is not straightened is taken as it lies."""
    height, width = shred.mask.shape
    return Ribbon(shred, fit_center(shred.mask) if straightens else CenterLine.upright(width, height))
