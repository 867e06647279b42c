"""The slots of a page in, its evidence copy out: unchanged pixels, lost paper shown.

Each shred is set upright by moving its rows sideways by whole px, moved down by its slot's offset, and
pushed against the torn outline of what stands left of it. Where two shreds overlap the darker pixel wins,
so no ink is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Mask, Page, Placement, Seam, Shred, Slot
from deshred.errors import InputError
from deshred.imaging.composition.missing import MissingPaper, Room, hatch, make_room
from deshred.imaging.composition.options import CompositionOptions
from deshred.imaging.composition.pushing import push_together
from deshred.imaging.composition.uprights import Sides, set_upright

_MOST_EMPTY = 30  # times the paper of a page is its picture, with all that is missing
_SMALL_PAGE = 1_000_000  # px that any page may have


def compose_evidence(
    slots: Sequence[Slot],
    chosen: Sequence[Shred],
    *,
    options: CompositionOptions,
    missing: Sequence[MissingPaper] = (),
) -> Page:
    """Lay the shreds of one page side by side; `chosen` are those of the slots."""
    rooms = make_room(slots, missing)
    check_extent(slots, chosen, rooms, options)
    uprights = [set_upright(shred, straightens=options.straightens) for shred in chosen]
    highest = min(slot.offset for slot in slots)
    tops = [slot.offset - highest + options.margin for slot in slots]
    sides = [upright.sides for upright in uprights]
    pushed = push_together(
        sides, tops, touching=options.touching, missing=[0, *(room.width for room in rooms[1:-1])]
    )
    taken = rooms[0].width + max(left + one.width for left, one in zip(pushed, uprights, strict=True))
    before, behind = options.find_sides(taken + rooms[-1].width, chosen[0].dpi)
    first = options.margin + before + rooms[0].width
    lefts = [first + left for left in pushed]

    height = max(top + upright.height for top, upright in zip(tops, uprights, strict=True))
    width = options.margin + before + taken
    shape = height + options.margin, width + rooms[-1].width + behind + options.margin
    image, mask = np.full((*shape, 3), 255, np.uint8), np.zeros(shape, np.bool_)
    for upright, left, top in zip(uprights, lefts, tops, strict=True):
        for run in upright.runs:
            picture, paper = upright.image[run.rows], upright.mask[run.rows]
            lay_down(picture, paper, image, mask, left + run.column, top + run.rows.start)
    seams = find_seams(chosen, sides, lefts, tops, height=shape[0])
    hatch_rooms(image, mask, seams, rooms, lefts, width)
    placements = tuple(
        Placement(shred.id, left + upright.indent, top)
        for shred, upright, left, top in zip(chosen, uprights, lefts, tops, strict=True)
    )
    return Page(image, mask, placements, chosen[0].dpi, "evidence", seams)


def check_extent(
    slots: Sequence[Slot], chosen: Sequence[Shred], rooms: Sequence[Room], options: CompositionOptions
) -> None:
    """Refuse what would make a page of hardly any paper, before it fills the memory."""
    offsets = [slot.offset for slot in slots]
    height = max(offsets) - min(offsets) + max(len(shred.mask) for shred in chosen)
    width = sum(shred.mask.shape[1] for shred in chosen) + sum(room.width for room in rooms)
    paper = sum(shred.mask.size for shred in chosen)
    if (height + 2 * options.margin) * (width + 2 * options.margin) > _MOST_EMPTY * (paper + _SMALL_PAGE):
        raise InputError(
            f"{slots[0].shred_id}: its page would be {width} x {height} px, most of it empty. The record of "
            "where its shreds lie is damaged; run reconstruct --force again."
        )


def lay_down(
    picture: Image, paper: Mask, image: NDArray[np.uint8], mask: NDArray[np.bool_], left: int, top: int
) -> None:
    """Put a shred that is white around its paper on a page; where shreds overlap the darker pixel wins."""
    window = slice(top, top + paper.shape[0]), slice(left, left + paper.shape[1])
    cv2.min(image[window], picture, dst=image[window])
    mask[window] |= paper


def find_seams(
    shreds: Sequence[Shred], sides: Sequence[Sides], lefts: Sequence[int], tops: Sequence[int], *, height: int
) -> tuple[Seam, ...]:
    """Where the paper of each shred ends and that of the next begins, row by row of the page."""
    seams = []
    placed = zip(shreds, sides, lefts, tops, strict=True)
    for (one, own, left, top), (other, its, right, its_top) in pairwise(placed):
        stops, starts = np.full((2, height), Seam.NOWHERE, np.int32)
        stops[top : top + len(own.stops)] = np.where(own.has_paper, left + own.stops, Seam.NOWHERE)
        starts[its_top : its_top + len(its.starts)] = np.where(
            its.has_paper, right + its.starts, Seam.NOWHERE
        )
        nowhere = (stops == Seam.NOWHERE) | (starts == Seam.NOWHERE)
        stops[nowhere] = starts[nowhere] = Seam.NOWHERE
        seams.append(Seam(one.id, other.id, stops, starts))
    return tuple(seams)


def hatch_rooms(
    image: NDArray[np.uint8],
    mask: NDArray[np.bool_],
    seams: Sequence[Seam],
    rooms: Sequence[Room],
    lefts: Sequence[int],
    width: int,
) -> None:
    """Show the paper that is known to be missing."""
    rows = np.ones(len(mask), np.int32)
    if rooms[0].width:
        hatch(image, mask, 0 * rows, (lefts[0] + 1) * rows, rooms[0].label)
    for seam, room in zip(seams, rooms[1:-1], strict=True):
        if room.width:
            hatch(image, mask, seam.stops, seam.starts, room.label)
    if rooms[-1].width:
        hatch(image, mask, width * rows, image.shape[1] * rows, rooms[-1].label)
