"""A shred in; the line its middle follows, and the shred set upright by moving its rows sideways, out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from deshred.elements import Image, Mask, Shred

_BLOCKS = 24
_MIN_ROWS = 10 * _BLOCKS  # shorter scraps do not say whether they lean
_USUAL = 0.1  # rows whose width differs by more of the usual one are torn, or wear a flap


@dataclass(frozen=True, eq=False)
class Sides:
    """Where the paper begins and ends in every row of a shred."""

    has_paper: NDArray[np.bool_]  # (H,)
    starts: NDArray[np.int32]  # (H,): first column of paper
    stops: NDArray[np.int32]  # (H,): one past the last column of paper


@dataclass(frozen=True, eq=False)
class CenterLine:
    """The smooth line that the middle of a shred follows; straight on above and below the paper."""

    curve: Polynomial  # column of row
    top: float  # rows between which the curve was seen
    bottom: float

    @classmethod
    def upright(cls, width: int, height: int) -> CenterLine:
        """That of a shred that is taken as it lies."""
        return cls(Polynomial([(width - 1) / 2, 0.0]), 0.0, height - 1.0)

    def columns(self, rows: NDArray[np.floating | np.integer]) -> NDArray[np.float64]:
        """The middle of each row. (n,)"""
        inside = np.clip(rows, self.top, self.bottom)
        columns = np.asarray(self.curve(inside), np.float64)
        beyond = rows - inside
        return columns + beyond * self.slopes(inside) if beyond.any() else columns

    def slopes(self, rows: NDArray[np.floating | np.integer]) -> NDArray[np.float64]:
        """Columns to the right per row downwards. (n,)"""
        return np.asarray(self.curve.deriv()(np.clip(rows, self.top, self.bottom)), np.float64)


@dataclass(frozen=True)
class Run:
    """Rows of a shred that are moved alike."""

    rows: slice
    column: int  # of their first pixel in the straight shred


@dataclass(frozen=True, eq=False)
class Upright:
    """A shred ready to be laid down, run by run: its pixels are moved once, to where they stay."""

    image: Image  # as it lies, white outside the paper
    mask: Mask
    sides: Sides  # of the straight shred
    indent: int  # columns added on either side of the shred's own image to straighten it
    runs: tuple[Run, ...]

    @property
    def height(self) -> int:
        return len(self.mask)

    @property
    def width(self) -> int:
        """Of the straight shred."""
        return int(self.mask.shape[1]) + 2 * self.indent


def find_sides(mask: Mask) -> Sides:
    """Both sides of the paper, row by row."""
    starts = mask.argmax(axis=1)
    # a copy: rows that are read backwards take three times as long
    mirrored = np.asarray(cv2.flip(mask.view(np.uint8), 1)).view(np.bool_)
    stops = mask.shape[1] - mirrored.argmax(axis=1)
    has_paper = mask[np.arange(len(mask)), starts]
    return Sides(has_paper, starts.astype(np.int32), stops.astype(np.int32))


def fit_center(mask: Mask, sides: Sides | None = None) -> CenterLine:
    """The line that a leaning or bowed shred follows; upright where its sides do not speak of a bend.

    A bend is real when both sides have it. Then both are straighter without it, however far it leans; a side
    that was torn off, or a flap, bends one side alone.
    """
    sides = sides or find_sides(mask)
    rows = np.flatnonzero(sides.has_paper)
    upright = CenterLine.upright(mask.shape[1], len(mask))
    if rows.size < _MIN_ROWS:
        return upright
    blocks = rows[: rows.size // _BLOCKS * _BLOCKS].reshape(_BLOCKS, -1)
    # medians: teeth must not bend a straight shred
    at, lefts, rights = (
        np.median(values, axis=1) for values in (blocks, sides.starts[blocks], sides.stops[blocks])
    )
    usual = float(np.median(rights - lefts))
    trust = 1 / (1 + ((rights - lefts - usual) / (_USUAL * usual)) ** 2)
    line = CenterLine(
        Polynomial.fit(at, (lefts + rights - 1) / 2, deg=3, w=trust), float(at[0]), float(at[-1])
    )
    bends = line.columns(at)
    bent, straight = (sum(_wander(side - by, trust) for side in (lefts, rights)) for by in (0, bends))
    return line if straight < bent else upright


def _wander(values: NDArray[np.float64], trust: NDArray[np.float64]) -> float:
    """How far a side strays from an upright line, typically."""
    middle = len(values) // 2
    median = np.sort(values)[middle - 1 : middle + 1].mean()  # of an even number: `np.median` takes longer
    return float((np.abs(values - median) * trust).sum() / trust.sum())


def whiten(picture: Image, paper: Mask) -> Image:
    """A picture with everything outside the paper white."""
    return np.asarray(cv2.bitwise_or(picture, cv2.merge([255 * (1 - paper.view(np.uint8))] * 3)), np.uint8)


def set_upright(shred: Shred, *, straightens: bool = True) -> Upright:
    """Straighten a leaning or bowed shred by moving its rows sideways by whole px; its middle row stays."""
    sides = find_sides(shred.mask)
    bends = _bends(shred.mask, sides) if straightens else np.zeros(len(shred.mask), np.int64)
    indent = int(np.abs(bends).max())
    white = whiten(shred.image, shred.mask)
    turns = np.flatnonzero(np.diff(bends, prepend=bends[0] - 1, append=bends[-1] - 1)).tolist()
    runs = tuple(Run(slice(start, stop), indent - int(bends[start])) for start, stop in pairwise(turns))
    moved = (indent - bends).astype(np.int32)
    straight = Sides(sides.has_paper, sides.starts + moved, sides.stops + moved)
    return Upright(white, shred.mask, straight, indent, runs)


def _bends(mask: Mask, sides: Sides) -> NDArray[np.int64]:
    """How far right of its middle row the paper of each row lies, in whole px. (H,)"""
    line, rows = fit_center(mask, sides), np.arange(len(mask))
    seen = np.clip(rows, line.top, line.bottom)  # torn ends stay as they are
    middle = line.columns(np.array([len(mask) / 2]))
    return np.asarray(np.rint(line.curve(seen) - middle), np.int64)
