"""Find where paper seems to be missing from the pages of an arrangement, from its probabilities.

The solver puts every shred somewhere; where nothing fits, it closes a hole. Such joins are not believed, and
`compose` leaves room for them: how much, the width of the paper and of the shreds say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from deshred.arrangement import paper_width
from deshred.elements import Arrangement, Compatibility, Join, Shred, Slot
from deshred.imaging.composition.missing import MissingPaper

_PX_PER_MM = 300 / 25.4
_BELIEVED = 0.5  # joins below this probability are not
_MOST_SHREDS = 5  # no hole is taken to be wider
PART = 0.25  # of the width of the paper: what is narrower is no page


def find_missing(
    arrangement: Arrangement,
    compatibility: Compatibility,
    *,
    blank: Iterable[Shred] = (),
    page_width_mm: float | None = None,
) -> tuple[MissingPaper, ...]:
    """Where paper seems to be missing inside pages; nothing where joins have no probabilities.

    Blank shreds that were set aside are not missing: each page has its part of them in its margins.
    """
    margins = compatibility.margins
    doubted = [join for join in arrangement.joins if _is_doubted(join)]
    if margins is None or not doubted:
        return ()
    widths = dict(zip(compatibility.ids, margins.widths_mm.tolist(), strict=True))
    typical = float(np.median(margins.widths_mm))
    paper = page_width_mm or paper_width(margins)
    aside = sum(shred.width_mm for shred in blank) / len(arrangement.pages)
    found = []
    for page in arrangement.pages:
        lefts = {slot.shred_id for slot in page}
        holes = [join for join in doubted if join.left in lefts]
        if holes:
            number = _count_shreds(page, widths, paper and paper - aside, typical, len(holes))
            found += [_to_missing(join, number, typical) for join in holes]
    return tuple(found)


def find_parts(
    arrangement: Arrangement, compatibility: Compatibility, *, page_width_mm: float | None = None
) -> tuple[int, ...]:
    """The numbers of the pages, from 1, that are too narrow to be whole: their shreds fitted nowhere.

    None where there is one page only, or the width of the paper is not known.
    """
    margins = compatibility.margins
    paper = page_width_mm or paper_width(margins)
    if margins is None or paper is None or len(arrangement.pages) < 2:
        return ()
    widths = dict(zip(compatibility.ids, margins.widths_mm.tolist(), strict=True))
    return tuple(
        number
        for number, page in enumerate(arrangement.pages, 1)
        if sum(widths[slot.shred_id] for slot in page) < PART * paper
    )


def cut_pages(arrangement: Arrangement) -> Iterator[tuple[Slot, ...]]:
    """Pages, taken apart where a join is not believed."""
    doubted = {join.right for join in arrangement.joins if _is_doubted(join)}
    for page in arrangement.pages:
        starts = [0, *(at for at, slot in enumerate(page) if at and slot.shred_id in doubted), len(page)]
        yield from (page[start:stop] for start, stop in pairwise(starts))


def _is_doubted(join: Join) -> bool:
    return join.probability is not None and join.probability < _BELIEVED


def _count_shreds(
    page: tuple[Slot, ...],
    widths: dict[str, float],
    paper: float | None,
    typical: float,
    holes: int,
) -> int:
    """Shreds per hole: what is left of the width of the paper, shared out; one where that is not known."""
    if paper is None or typical <= 0:
        return 1
    left = paper - sum(widths[slot.shred_id] for slot in page)
    return int(np.clip(round(left / typical / holes), 1, _MOST_SHREDS))


def _to_missing(join: Join, number: int, typical: float) -> MissingPaper:
    label = "perhaps a shred missing" if number == 1 else f"perhaps {number} shreds missing"
    return MissingPaper(join.left, "right", round(number * typical * _PX_PER_MM), label)
