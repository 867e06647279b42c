"""The slots of a page in, its reading copy out: straight, joins true to a fraction of a pixel, seams mended.

Every shred is unrolled along its center line. Joins then pull shreds into line, up and down by their ink
and sideways by their tears, as slow functions of the row. The page as a whole is turned until its lines are
level, and every shred is resampled once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from deshred.elements import Page, Placement, Shred, Slot
from deshred.imaging.composition.evidence import check_extent, find_seams, hatch_rooms, lay_down
from deshred.imaging.composition.fringes import clean_rim, clear_seams
from deshred.imaging.composition.mending import mend
from deshred.imaging.composition.missing import MissingPaper, Room, make_room
from deshred.imaging.composition.offsets import knots_of, measure_columns, measure_rows
from deshred.imaging.composition.options import CompositionOptions
from deshred.imaging.composition.pushing import push_together
from deshred.imaging.composition.ribbons import Ribbon, unroll
from deshred.imaging.composition.settling import Stiffness, settle
from deshred.imaging.composition.skew import find_skew
from deshred.imaging.composition.uprights import Sides, find_sides, whiten
from deshred.imaging.composition.warping import Berth, Turn, warp

_TOUCHING = 0.5  # two sides of one tear meet on average; the evidence copy rather shows lost paper
UPWARDS = Stiffness(joins=0.5, stretch=4.0, bend=4.0)
_SIDEWAYS = Stiffness(joins=0.05, stretch=0.05, bend=1.0)


def compose_reading(
    slots: Sequence[Slot],
    chosen: Sequence[Shred],
    *,
    options: CompositionOptions,
    missing: Sequence[MissingPaper] = (),
) -> Page:
    """Draw one page for reading; `chosen` are the shreds of the slots."""
    rooms = make_room(slots, missing)
    check_extent(slots, chosen, rooms, options)
    berths = _find_berths(slots, chosen, options, rooms)
    turn = _level(berths)
    patches = [warp(berth, turn, clean_rim(berth.ribbon.shred, berth.ribbon.sides)) for berth in berths]
    margin = options.margin
    leftmost = min(patch.x for patch in patches)
    taken = rooms[0].width + max(patch.x + patch.mask.shape[1] for patch in patches) - leftmost
    before, behind = options.find_sides(taken + rooms[-1].width, chosen[0].dpi)
    lefts = [patch.x - leftmost + margin + before + rooms[0].width for patch in patches]
    tops = [patch.y - min(one.y for one in patches) + margin for patch in patches]

    height = max(top + len(patch.mask) for top, patch in zip(tops, patches, strict=True))
    width = margin + before + taken
    shape = height + margin, width + rooms[-1].width + behind + margin
    image, mask = np.full((*shape, 3), 255, np.uint8), np.zeros(shape, np.bool_)
    for patch, left, top in zip(patches, lefts, tops, strict=True):
        lay_down(whiten(patch.image, patch.mask), patch.mask, image, mask, left, top)
    seams = find_seams(chosen, [find_sides(patch.mask) for patch in patches], lefts, tops, height=shape[0])
    closed = [seam for seam, room in zip(seams, rooms[1:-1], strict=True) if not room.width]
    image = mend(clear_seams(image, closed), closed)
    hatch_rooms(image, mask, seams, rooms, lefts, width)
    placements = tuple(
        Placement(shred.id, left, top) for shred, left, top in zip(chosen, lefts, tops, strict=True)
    )
    return Page(image, mask, placements, chosen[0].dpi, "reading", seams)


def _find_berths(
    slots: Sequence[Slot], chosen: Sequence[Shred], options: CompositionOptions, rooms: Sequence[Room]
) -> list[Berth]:
    """Where every shred lies before the page is turned."""
    ribbons = [unroll(shred, straightens=options.straightens) for shred in chosen]
    tops = _stack(slots, ribbons)
    widths = [room.width for room in rooms[1:-1]]
    lefts = _line_up(ribbons, tops, widths)
    height = int(np.ceil(max(top + ribbon.last for top, ribbon in zip(tops, ribbons, strict=True)))) + 1
    down = settle(measure_rows(ribbons, tops, height), UPWARDS)
    right = settle(measure_columns(ribbons, tops, lefts, height, touching=_TOUCHING, rooms=widths), _SIDEWAYS)
    knots = knots_of(height)
    return [
        Berth(ribbon, left, top, knots, moves_right, moves_down)
        for ribbon, left, top, moves_right, moves_down in zip(ribbons, lefts, tops, right, down, strict=True)
    ]


def _stack(slots: Sequence[Slot], ribbons: Sequence[Ribbon]) -> list[float]:
    """The row of every ribbon's place 0; the highest begins in row 0.

    Offsets were measured where the shreds lay askew: turning them lifts one side and lowers the other.
    """
    tops = [0.0]
    for (slot, ribbon), (after, its) in pairwise(zip(slots, ribbons, strict=True)):
        tops.append(tops[-1] + after.offset - slot.offset + ribbon.tilt + its.tilt)
    highest = min(top + ribbon.first for top, ribbon in zip(tops, ribbons, strict=True))
    return [top - highest for top in tops]


def _line_up(ribbons: Sequence[Ribbon], tops: Sequence[float], rooms: Sequence[int]) -> list[float]:
    """The column of every center line, pushed together as stiff rods."""
    sides, begins = [], []
    for ribbon in ribbons:
        lefts, rights = ribbon.profiles.lefts, ribbon.profiles.rights
        has_paper = np.isfinite(lefts)
        begin = float(np.floor(lefts[has_paper].min())) if has_paper.any() else 0.0
        starts, stops = (np.rint(np.nan_to_num(side - begin)).astype(np.int32) for side in (lefts, rights))
        sides.append(Sides(has_paper, starts, stops))
        begins.append(begin)
    rows = [round(top + ribbon.first) for top, ribbon in zip(tops, ribbons, strict=True)]
    pushed = push_together(sides, rows, touching=_TOUCHING, missing=[0, *rooms])
    return [left - begin for left, begin in zip(pushed, begins, strict=True)]


def _level(berths: Sequence[Berth]) -> Turn:
    """The turn that makes the lines of the page level, around its first shred."""
    tops = [berth.top + float(berth.down_moves.mean()) for berth in berths]
    lefts = [berth.left for berth in berths]
    skew = find_skew([berth.ribbon for berth in berths], tops, lefts, int(berths[0].knots[-1]) + 1)
    return Turn(skew, berths[0].left, float(berths[0].knots.mean()))
