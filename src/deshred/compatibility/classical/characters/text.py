"""A shred in; the shapes of its characters out: those inside of it, and those that a tear cut.

Lengths are px at 300 dpi. The steps and numbers are those of the authors' program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from deshred.elements import Shred
from deshred.imaging.binarization import to_gray

Ink = NDArray[np.bool_]

_PX_PER_MM = 300 / 25.44  # the authors' inch
_LEAST_LINE, _MOST_LINE = 1.8 * _PX_PER_MM, 5.5 * _PX_PER_MM  # height of a line of text
_OVERLAP = 0.5  # of the narrower of two parts: then they are one character, such as a dot and its i
_EIGHT = np.ones((3, 3), bool)
# first and last column of every row of an ellipse of 28 x 7, as the authors' version of OpenCV drew it
_ELLIPSE_ROWS = ((14, 14), (4, 24), (1, 27), (0, 27), (1, 27), (4, 24), (14, 14))
_ELLIPSE = np.array(
    [[first <= column <= last for column in range(28)] for first, last in _ELLIPSE_ROWS], np.uint8
)


@dataclass(frozen=True, eq=False)
class Character:
    """The ink of one character, and where its box lies in the shred."""

    x: int
    y: int
    ink: Ink  # (h, w)

    @property
    def width(self) -> int:
        return int(self.ink.shape[1])

    @property
    def height(self) -> int:
        return int(self.ink.shape[0])

    @property
    def bottom(self) -> int:
        """The row below its last."""
        return self.y + self.height


@dataclass(frozen=True, eq=False)
class ShredText:
    """The characters of one shred, in the order they were found."""

    lines: int  # boxes of text, also those without a usable character
    inner: tuple[Character, ...]
    lefts: tuple[Character, ...]  # at the left tear
    rights: tuple[Character, ...]  # at the right tear

    @property
    def is_usable(self) -> bool:
        """Whether a tear of the shred cuts a character."""
        return bool(self.lefts or self.rights)


@dataclass(frozen=True)
class _Box:
    """Rows and columns of a component."""

    rows: slice
    columns: slice

    @property
    def height(self) -> int:
        return int(self.rows.stop - self.rows.start)

    @property
    def width(self) -> int:
        return int(self.columns.stop - self.columns.start)


def read_shapes(shred: Shred, *, displacement: int) -> ShredText:
    """Find the characters of a shred; those within `displacement` px of a tear count as cut by it."""
    ink = _find_ink(shred)
    boxes = _find_lines(ink)
    tears = _Tears.of(shred)
    sides: dict[str, list[Character]] = {"inner": [], "left": [], "right": []}
    for box in boxes:
        for character in _split_line(ink[box.rows, box.columns], box, tears.width / 2):
            sides[tears.classify(character, displacement)].append(character)
    return ShredText(len(boxes), tuple(sides["inner"]), tuple(sides["left"]), tuple(sides["right"]))


def _find_ink(shred: Shred) -> Ink:
    """At or below Otsu's threshold of the whole shred."""
    gray = to_gray(shred.image, shred.mask)
    threshold, _ = cv2.threshold(gray, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    return np.asarray(gray <= threshold)


def _find_lines(ink: Ink) -> list[_Box]:
    """Boxes of smeared ink as high as a line of text; what is higher takes all in its rows with it."""
    smeared = cv2.dilate(ink.astype(np.uint8), _ELLIPSE, anchor=(14, 3))
    labels, _ = ndimage.label(smeared, _EIGHT)
    boxes = [_Box(*found) for found in ndimage.find_objects(labels)]
    removed: set[int] = set()
    for label, box in enumerate(boxes, 1):
        if label in removed or box.height > _MOST_LINE:
            removed.update(np.unique(labels[box.rows]).tolist())
        elif box.height < _LEAST_LINE or box.width < 2:
            removed.add(label)
    return [box for label, box in enumerate(boxes, 1) if label not in removed]


def _split_line(ink: Ink, line: _Box, most_width: float) -> Iterator[Character]:
    """The components of a line, those above each other put together."""
    labels, _ = ndimage.label(ink, _EIGHT)
    parts = [(label, _Box(*found)) for label, found in enumerate(ndimage.find_objects(labels), 1)]
    waiting = [(label, box) for label, box in parts if box.width < most_width]
    while waiting:
        (label, box), *rest = waiting
        absorbed, waiting = [label], []
        for other, other_box in rest:
            if _overlap(box.columns, other_box.columns) >= _OVERLAP:
                absorbed.append(other)
                box = _Box(_enclose(box.rows, other_box.rows), _enclose(box.columns, other_box.columns))
            else:
                waiting.append((other, other_box))
        yield Character(
            line.columns.start + box.columns.start,
            line.rows.start + box.rows.start,
            np.isin(labels[box.rows, box.columns], absorbed),
        )


def _overlap(one: slice, other: slice) -> float:
    """The authors' measure: a column less than is shared."""
    shared = min(one.stop, other.stop) - 1 - max(one.start, other.start)
    return float(shared / min(one.stop - one.start, other.stop - other.start))


def _enclose(one: slice, other: slice) -> slice:
    return slice(min(one.start, other.start), max(one.stop, other.stop))


@dataclass(frozen=True, eq=False)
class _Tears:
    """First and last column of paper in every row, -1 where a row has none."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @staticmethod
    def of(shred: Shred) -> _Tears:
        mask = shred.mask
        has_paper = mask.any(axis=1)
        last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
        return _Tears(np.where(has_paper, mask.argmax(axis=1), -1), np.where(has_paper, last, -1))

    @property
    def width(self) -> int:
        """The mean width of the shred."""
        return int(np.mean(self.last - self.first + 1))

    def classify(self, character: Character, displacement: int) -> str:
        """Left wins where a character touches both tears."""
        rows = slice(character.y, character.bottom)
        if (character.x <= self.first[rows] + displacement).any():
            return "left"
        if (character.x + character.width - 1 >= self.last[rows] - displacement).any():
            return "right"
        return "inner"
