"""A page and its seams in, the places where ink may have been lost in a tear out.

Ink that reaches the very tear on one side and finds none on the other went on into paper that is lost, or
ended there by chance. Nobody can tell from the page, so people are told. A letter that lost a stroke is seen
to be damaged; a sliver that stands alone may be all that is left of a decimal point, and is easily missed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

from deshred.elements import Image, Page, Seam

Side = Literal["left", "right"]

_TEAR = 2  # px from the paper's end that count as the very tear
_FURTHER = 8  # px inwards where the other side would go on
_SLANT = 4  # rows by which a stroke may climb across the tear
_DARK = 0.35  # of the way from paper to black
_MIN_ROWS = 2
_MERGED = 6  # rows between two places that are told as one
_SLIVER = 12  # px, at most, of ink that stands alone
_FRAME_LINE, _FRAME_ROOM = 2, 14  # px
MARK = np.array([190, 70, 255], np.uint8)  # violet: no ink of an office, and never the color of paper


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
    red, green, blue = cv2.split(page.image[::4, ::4])
    some = np.asarray(cv2.max(cv2.max(red, green), blue))[page.mask[::4, ::4]]
    paper = float(np.median(some)) if some.size else 255.0
    darkest_light = math.ceil(paper * (1 - _DARK))
    within = np.asarray(cv2.inRange(page.image, (0, 0, 0), (darkest_light - 1,) * 3), np.uint8)
    within &= 1  # of 255
    dark = within.view(np.bool_)
    return tuple(place for seam in page.seams for place in _search(seam, dark))


def transfer_lost_ink(places: Sequence[LostInk], found_in: Page, page: Page) -> tuple[LostInk, ...]:
    """The same places in another copy of the page, where shreds lie a little elsewhere."""
    before = {placement.shred_id: placement.y for placement in found_in.placements}
    after = {placement.shred_id: placement.y for placement in page.placements}
    seams = {(seam.left, seam.right): seam for seam in page.seams}
    moved = []
    for place in places:
        own = place.left if place.side == "left" else place.right
        down = after[own] - before[own]
        seam = seams[place.left, place.right]
        top, bottom = (int(np.clip(row + down, 0, len(seam.stops) - 1)) for row in (place.top, place.bottom))
        tear = seam.stops - 1 if place.side == "left" else seam.starts
        known = tear[top : bottom + 1][seam.stops[top : bottom + 1] >= 0]
        x = int(np.median(known)) if known.size else place.x
        moved.append(replace(place, top=top, bottom=max(bottom, top + 1), x=x))
    return tuple(moved)


def mark_lost_ink(page: Page, places: Sequence[LostInk]) -> Page:
    """The page with a thin violet frame around every such place, drawn behind the ink."""
    image = page.image.copy()
    light = page.image.min(axis=2) > 128
    frames = np.zeros(page.mask.shape, np.bool_)
    for place in places:
        rows, columns = _frame(place)
        frames[rows, columns] = True
    for place in places:  # what several frames share is one frame
        rows, columns = _frame(place)
        inner = slice(rows.start + _FRAME_LINE, rows.stop - _FRAME_LINE)
        frames[inner, columns.start + _FRAME_LINE : columns.stop - _FRAME_LINE] = False
    image[frames & light] = MARK
    return replace(page, image=image)


def _frame(place: LostInk) -> tuple[slice, slice]:
    room = _FRAME_ROOM + _FRAME_LINE
    rows = slice(max(0, place.top - room), place.bottom + room)
    return rows, slice(max(0, place.x - room), place.x + 1 + room)


def erase_marks(image: Image) -> Image:
    """A picture without its frames, for those who see in black and white and would take them for writing."""
    is_mark = (image == MARK).all(axis=2)
    return np.where(is_mark[..., None], np.uint8(255), image) if is_mark.any() else image


def _are_slivers(
    dark: NDArray[np.bool_], rows: NDArray[np.intp], tear: NDArray[np.int32], inwards: int
) -> bool:
    """Whether all ink at the tear in some rows hangs together with hardly any other.

    What is small lies within its own size of the tear, so it is enough to look around it.
    """
    around = _SLIVER + _TEAR + 1
    top, left = max(0, int(rows[0]) - around), max(0, int(tear.min()) - around)
    near = dark[top : int(rows[-1]) + around, left : int(tear.max()) + around]
    _, labels, stats, _ = cv2.connectedComponentsWithStats(near.view(np.uint8), connectivity=8)
    sizes = stats[:, [cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT]].max(axis=1)
    slivers = np.asarray((sizes <= _SLIVER)[labels] & near)
    ink = _look_inwards(dark, rows, tear, inwards, _TEAR).any(axis=0)
    alone = _look_inwards(slivers, rows - top, tear - left, inwards, _TEAR).any(axis=0)
    return bool((alone | ~ink).all())


def _search(seam: Seam, dark: NDArray[np.bool_]) -> list[LostInk]:
    rows = np.flatnonzero(seam.stops >= 0)
    if not rows.size:
        return []
    left, right = np.zeros((2, len(dark)), np.bool_), np.zeros((2, len(dark)), np.bool_)
    for kept, near in (
        (left, _look_inwards(dark, rows, seam.stops[rows] - 1, -1, _FURTHER)),
        (right, _look_inwards(dark, rows, seam.starts[rows], 1, _FURTHER)),
    ):
        kept[0, rows], kept[1, rows] = near[:_TEAR].any(axis=0), near.any(axis=0)
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
            is_sliver = _are_slivers(dark, at, tear[at], inwards)
            x = int(np.median(tear[at]))
            places.append(LostInk(seam.left, seam.right, top, bottom, side, x, is_sliver))
    return sorted(places, key=lambda place: place.top)


def _look_inwards(
    dark: NDArray[np.bool_],
    rows: NDArray[np.intp],
    tear: NDArray[np.int32],
    inwards: int,
    depth: int,
) -> NDArray[np.bool_]:  # (depth, n)
    """Whether there is ink so many px from the tear, row by row."""
    width = dark.shape[1]
    columns = np.clip(tear + inwards * np.arange(depth)[:, None], 0, width - 1)
    return np.asarray(dark.reshape(-1)[rows * width + columns])


def _runs(found: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Runs of rows, near ones merged and short ones left out."""
    rows = np.flatnonzero(found)
    parts = np.split(rows, np.flatnonzero(np.diff(rows) > _MERGED) + 1)
    return [(int(part[0]), int(part[-1]) + 1) for part in parts if part.size >= _MIN_ROWS]
