"""A page and its seams in, the places where ink may have been lost in a tear out.

Ink that reaches the very tear on one side and finds none on the other went on into paper that is lost, or
ended there by chance. Nobody can tell from the page, so people are told. A letter that lost a stroke is seen
to be damaged; a sliver that stands alone may be all that is left of a decimal point, and is easily missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

from deshred.elements import Page, Seam

Side = Literal["left", "right"]

_TEAR = 2  # px from the paper's end that count as the very tear
_FURTHER = 8  # px inwards where the other side would go on
_SLANT = 4  # rows by which a stroke may climb across the tear
_DARK = 0.35  # of the way from paper to black
_MIN_ROWS = 2
_MERGED = 6  # rows between two places that are told as one
_SLIVER = 12  # px, at most, of ink that stands alone
_MARK_WIDTH, _MARK_ROOM = 3, 6
_MARK = np.array([220, 30, 30], np.uint8)


@dataclass(frozen=True)
class LostInk:
    """A place at a join where ink stops at the tear."""

    left: str  # the join
    right: str
    top: int  # rows of the page, from top to one before bottom
    bottom: int
    side: Side  # of the tear on which ink is left
    x: int  # column of the tear there
    is_sliver: bool  # nothing else of it is left: perhaps a point or a comma


def find_lost_ink(page: Page) -> tuple[LostInk, ...]:
    """All places of a page where ink may have been lost, join by join from top to bottom."""
    # ink is dark in every color; the fringe of the sheet that the shreds lay on is not
    red, green, blue = cv2.split(page.image)
    brightest = np.asarray(cv2.max(cv2.max(red, green), blue))
    some = brightest[::4, ::4][page.mask[::4, ::4]]
    dark = brightest < (float(np.median(some)) if some.size else 255.0) * (1 - _DARK)
    slivers = _find_slivers(dark)
    return tuple(place for seam in page.seams for place in _search(seam, dark, slivers))


def mark_lost_ink(page: Page, places: Sequence[LostInk]) -> Page:
    """The page with a red line in the tear at every such place; what is left of the ink stays visible."""
    image = page.image.copy()
    for place in places:
        first = place.x + 2 if place.side == "left" else max(0, place.x - 1 - _MARK_WIDTH)
        rows = slice(max(0, place.top - _MARK_ROOM), place.bottom + _MARK_ROOM)
        image[rows, first : first + _MARK_WIDTH] = _MARK
    return replace(page, image=image)


def _find_slivers(dark: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Ink that hangs together with hardly any other. (H, W)"""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(dark.view(np.uint8), connectivity=8)
    sizes = stats[:, [cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT]].max(axis=1)
    return np.asarray((sizes <= _SLIVER)[labels] & dark)


def _search(seam: Seam, dark: NDArray[np.bool_], slivers: NDArray[np.bool_]) -> list[LostInk]:
    rows = np.flatnonzero(seam.stops >= 0)
    if not rows.size:
        return []
    left, right = np.zeros((2, len(dark)), np.bool_), np.zeros((2, len(dark)), np.bool_)
    for depth, kept in ((_TEAR, 0), (_FURTHER, 1)):
        left[kept, rows] = _inked(dark, rows, seam.stops[rows] - 1, -1, depth)
        right[kept, rows] = _inked(dark, rows, seam.starts[rows], 1, depth)
    places = []
    sides: tuple[tuple[Side, NDArray[np.bool_], NDArray[np.bool_]], ...] = (
        ("left", left[0], right[1]),
        ("right", right[0], left[1]),
    )
    for side, inked, beyond in sides:
        goes_on = maximum_filter1d(beyond, 2 * _SLANT + 1)
        for top, bottom in _runs(inked & ~goes_on):
            at = np.arange(top, bottom)[seam.stops[top:bottom] >= 0]
            tear, inwards = (seam.stops - 1, -1) if side == "left" else (seam.starts, 1)
            ink = _inked(dark, at, tear[at], inwards, _TEAR)
            is_sliver = bool(_inked(slivers, at, tear[at], inwards, _TEAR)[ink].all())
            x = int(np.median(tear[at]))
            places.append(LostInk(seam.left, seam.right, top, bottom, side, x, is_sliver))
    return sorted(places, key=lambda place: place.top)


def _inked(
    dark: NDArray[np.bool_],
    rows: NDArray[np.intp],
    tear: NDArray[np.int32],
    inwards: int,
    depth: int,
) -> NDArray[np.bool_]:
    """Whether there is ink within so many px of the tear, row by row."""
    columns = np.clip(tear[:, None] + inwards * np.arange(depth), 0, dark.shape[1] - 1)
    return np.asarray(dark[rows[:, None], columns].any(axis=1))


def _runs(found: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Runs of rows, near ones merged and short ones left out."""
    rows = np.flatnonzero(found)
    parts = np.split(rows, np.flatnonzero(np.diff(rows) > _MERGED) + 1)
    return [(int(part[0]), int(part[-1]) + 1) for part in parts if part.size >= _MIN_ROWS]
