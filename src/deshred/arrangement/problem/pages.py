"""How many pages, and what it costs to begin and end one."""

from __future__ import annotations

import math

import numpy as np

from deshred.arrangement.problem.costs import PageEnds
from deshred.arrangement.problem.fixings import Ints, PageCount
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.problem.scores import ScoreRange
from deshred.elements import Constraints, Margins
from deshred.errors import InputError, MismatchError, SettingsError

WIDER = 1.05  # shreds of one page may add up to this much more than the page is wide
FILLED = 0.97  # fuller pages than this on average: the number of pages is to be believed, not the width
_PAGE_PRICE = 10.0  # nats, where the width of the paper is known; see benchmarks/margins.py
_FORMATS = {
    297.0: 210.0,
    279.4: 215.9,
    355.6: 215.9,
    420.0: 297.0,
    210.0: 297.0,
    215.9: 279.4,
}  # height: width
_FORMAT_TOLERANCE = 0.03
_MOST_SHREDS, _FEW_SHREDS = 0.8, 0.05  # shares of a pile
_SHOWN = 0.83  # of the width of a page is covered by shreds with ink: margins are blank; seen on 13 piles
_MISSING = 0.5  # at most this share of the paper is taken to be missing


def count_pages(
    n: int, pages: int | str, constraints: Constraints, margins: Margins | None, page_width_mm: float | None
) -> PageCount:
    """The range for the number of pages: as asked for, or what constraints and the paper's width allow."""
    if isinstance(pages, int):
        if n and pages > n:
            raise SettingsError(f"{pages} pages are asked for, but there are only {n} shreds.")
        return PageCount(pages, pages)
    least = (
        max(1, len(constraints.first), len(constraints.last), *(len(group) for group in constraints.apart))
        if constraints
        else 1
    )
    most = max(n, least)
    if margins is not None and page_width_mm is not None:
        expected = float(np.nansum(margins.widths_mm)) / page_width_mm
        least = min(most, max(least, math.ceil(expected / WIDER)))
        most = max(least, min(most, math.ceil(expected / (1 - _MISSING))))
    return PageCount(least, most)


def expect_pages(margins: Margins, page_width_mm: float | None) -> float | None:
    """About how many pages the shreds of a pile make up; None where the width of the paper is not known."""
    if page_width_mm is None:
        return None
    return max(1.0, float(np.nansum(margins.widths_mm)) / (_SHOWN * page_width_mm))


def paper_width(margins: Margins | None) -> float | None:
    """The width that goes with the height of most shreds; None where it is that of no known format.

    The widest of the formats in the pile: a limit on what fits on a page must hold for all of them.
    """
    if margins is None or margins.heights_mm is None or not len(margins.heights_mm):
        return None
    fits = np.abs(margins.heights_mm[:, None] / np.array(list(_FORMATS)) - 1) < _FORMAT_TOLERANCE
    if fits.any(axis=1).mean() < _MOST_SHREDS:
        return None
    return max(
        width
        for width, share in zip(_FORMATS.values(), fits.mean(axis=0), strict=True)
        if share > _FEW_SHREDS
    )


def find_room(margins: Margins | None, page_width_mm: float | None, pages: PageCount) -> Room | None:
    """What fits on a page; None where that is not known, or a shred or the number of pages contradicts it."""
    if margins is None or page_width_mm is None:
        return None
    room = Room(np.nan_to_num(margins.widths_mm.astype(np.float64)), WIDER * page_width_mm)
    is_plausible = room.widths.max(initial=0.0) <= room.most
    is_plausible &= float(room.widths.sum()) <= FILLED * pages.most * room.most
    return room if is_plausible else None


def check_margins(margins: Margins, n: int) -> None:
    """Refuse evidence that does not belong to n shreds or holds no numbers."""
    sizes = {"widths_mm": margins.widths_mm, "heights_mm": margins.heights_mm}
    for name, values in {"starts": margins.starts, "ends": margins.ends, **sizes}.items():
        if values is not None and values.shape != (n,):
            raise MismatchError(f"the margins hold {values.size} {name} for {n} shreds.")
    for name, values in sizes.items():
        if values is not None and (np.isinf(values) | (values < 0)).any():
            raise InputError(f"the margins' {name} are not sizes: negative or infinite.")
    for name, values in (("starts", margins.starts), ("ends", margins.ends)):
        bad = np.flatnonzero(np.isnan(values) | (values == np.inf))
        if len(bad):
            raise InputError(
                f"the margins' {name} hold {values[bad[0]]} at shred {bad[0]}; log-odds are needed."
            )


def page_price(total_mm: float, page_width_mm: float) -> float:
    """Nats that speak against a page where the width of the paper is known: the fewer pages, the more.

    Of n shreds as many end a page as there are pages, while any one follows a shred once: "a page ends here"
    stands to "that shred follows" as the number of pages to one.
    """
    return _PAGE_PRICE - math.log(max(1.0, total_mm / page_width_mm))


def price_pages(
    n: int, margins: Margins | None, pages: PageCount, scores: ScoreRange, room: Room | None
) -> PageEnds:
    """What beginning and ending a page costs.

    With evidence, a page's two outer edges together count as one join whose score is start + end; where the
    width of the paper is known, which makes further pages unlikely, the score is a little less. Without,
    pages are free as in the paper; an open number of pages then stays at its least: a further page costs
    more than any join that can be.
    """
    if margins is not None:
        price = 0.0 if room is None else page_price(float(room.widths.sum()), room.most / WIDER)
        half = (scores.highest + price) / 2
        return PageEnds(half - margins.starts.astype(np.float64), half - margins.ends.astype(np.float64))
    price = 0.0 if pages.is_fixed else 2 * (scores.highest - scores.lowest) + 1
    return PageEnds(np.full(n, price / 2), np.full(n, price / 2), -pages.least * price)


def sort_pages(pages: list[Ints]) -> list[Ints]:
    """Pages have no order of their own: by their smallest shred, so that equal answers look equal."""
    return sorted(pages, key=lambda page: int(page.min()))
