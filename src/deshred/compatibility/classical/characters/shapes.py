"""Pictures of characters in, how unlike they are out: the modified Hausdorff distance of their ink.

Pictures are laid on each other by their centers of gravity. D(A, B) is the mean distance from the ink of one
to the ink of the other, taken in the worse direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.classical.characters.text import Character, Ink

Distances = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Picture:
    """Ink around its center of gravity."""

    rows: NDArray[np.int64]  # of every ink pixel, from the center
    columns: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)

    @staticmethod
    def of(ink: Ink) -> Picture:
        """The center is cut to whole pixels, as the authors do."""
        rows, columns = np.nonzero(ink)
        return Picture(rows - int(rows.mean()), columns - int(columns.mean()))


def join_characters(right: Character, left: Character) -> Ink:
    """The right character of one shred and the left one of the next, side by side without a gap."""
    top = min(right.y, left.y)
    joined = np.zeros((max(right.bottom, left.bottom) - top, right.width + left.width), bool)
    joined[right.y - top : right.bottom - top, : right.width] = right.ink
    joined[left.y - top : left.bottom - top, right.width :] = left.ink
    return joined


@dataclass(frozen=True)
class Canvas:
    """Room for pictures around the center: rows -top .. height - top - 1, and columns alike."""

    top: int
    left: int
    height: int
    width: int

    @staticmethod
    def around(pictures: Sequence[Picture]) -> Canvas:
        """The smallest that holds all of them."""
        rows = [int(bound) for picture in pictures for bound in (picture.rows.min(), picture.rows.max())]
        columns = [int(b) for picture in pictures for b in (picture.columns.min(), picture.columns.max())]
        top, left = min(rows), min(columns)
        return Canvas(-top, -left, max(rows) - top + 1, max(columns) - left + 1)

    def places(self, picture: Picture) -> NDArray[np.int64]:
        """Where the ink of a picture lies in the flat canvas; what lies outside is left out."""
        rows, columns = picture.rows + self.top, picture.columns + self.left
        inside = (rows >= 0) & (rows < self.height) & (columns >= 0) & (columns < self.width)
        return np.asarray(rows[inside] * self.width + columns[inside])

    def draw(self, pictures: Sequence[Picture]) -> Distances:  # (n, height * width): 1 is ink
        drawn = np.zeros((len(pictures), self.height * self.width), np.float32)
        for row, picture in zip(drawn, pictures, strict=True):
            row[self.places(picture)] = 1
        return drawn

    def measure(self, pictures: Sequence[Picture]) -> Distances:  # (n, height * width)
        """The distance of every pixel from the ink of each picture."""
        return np.stack([self._measure_one(picture) for picture in pictures])

    def _measure_one(self, picture: Picture) -> Distances:
        room = _unite(self, Canvas.around([picture]))
        paper = np.ones((room.height, room.width), np.uint8)
        paper.reshape(-1)[room.places(picture)] = 0
        distances = cv2.distanceTransform(paper, cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
        rows = slice(room.top - self.top, room.top - self.top + self.height)
        columns = slice(room.left - self.left, room.left - self.left + self.width)
        return np.asarray(distances[rows, columns], np.float32).reshape(-1)


def _unite(one: Canvas, other: Canvas) -> Canvas:
    top, left = max(one.top, other.top), max(one.left, other.left)
    bottom = max(one.height - one.top, other.height - other.top)
    right = max(one.width - one.left, other.width - other.left)
    return Canvas(top, left, top + bottom, left + right)


def measure_all(pictures: Sequence[Picture]) -> Distances:
    """D between all pictures."""
    canvas = Canvas.around(pictures)
    drawn = canvas.draw(pictures)
    sums = canvas.measure(pictures) @ drawn.T  # [a, b]: over the ink of b, how far it is from a
    means = sums / drawn.sum(axis=1)
    return np.asarray(np.maximum(means, means.T))


class Letters:
    """Known letters, ready to be compared with many pictures."""

    def __init__(self, letters: Sequence[Picture], threshold: float, reach: Canvas) -> None:
        self._threshold = threshold
        self._canvas = Canvas.around(letters)
        self._drawn = self._canvas.draw(letters)
        self._areas = self._drawn.sum(axis=1)
        self._reach = _unite(self._canvas, reach)
        self._far = self._reach.measure(letters)

    def match(self, pictures: Sequence[Picture]) -> NDArray[np.bool_]:  # (pictures, letters)
        """Which letters are within the threshold of which picture.

        Ink of one beside the ink of the other is at least 1 px away from it. So at a threshold of 1/2, half
        of either must lie on the other: a matrix product finds the few pairs that are worth measuring.
        """
        areas = np.array([len(picture) for picture in pictures], np.float32)
        shared = self._canvas.draw(pictures) @ self._drawn.T
        larger = np.maximum(areas[:, None], self._areas)
        matches = np.asarray(shared >= (1 - self._threshold) * larger)
        for row, picture in zip(matches, pictures, strict=True):
            candidates = np.flatnonzero(row)
            if len(candidates):
                row[candidates] = self._measure(picture, candidates) <= self._threshold
        return matches

    def _measure(self, picture: Picture, candidates: NDArray[np.intp]) -> Distances:
        """D of one picture and some letters."""
        near = self._canvas.measure([picture])[0]
        to_picture = self._drawn[candidates] @ near / self._areas[candidates]
        places = self._reach.places(picture)
        to_letter = self._far[np.ix_(candidates, places)].sum(axis=1) / len(places)
        return np.asarray(np.maximum(to_picture, to_letter))
