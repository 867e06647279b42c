from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.elements import Arrangement, Compatibility, Join, Margins, ShredSet, Slot
from deshred.missing import find_missing, find_parts


def compatibility_of(count: int, width_mm: float = 8.0, height_mm: float = 297.0) -> Compatibility:
    ids = tuple(f"s{i}" for i in range(count))
    none = np.zeros(count, np.float32)
    margins = Margins(none, none, none + np.float32(width_mm), none + np.float32(height_mm))
    return Compatibility(
        ids, np.zeros((count, count), np.float32), np.zeros((count, count), np.int16), margins=margins
    )


def page_of(probabilities: list[float | None]) -> Arrangement:
    slots = tuple(Slot(f"s{i}", 0) for i in range(len(probabilities) + 1))
    joins = tuple(Join(f"s{i}", f"s{i + 1}", 0.0, 0, p) for i, p in enumerate(probabilities))
    return Arrangement((slots,), joins, (), 0.0, 0.0)


def test_a_join_that_is_not_believed_leaves_room() -> None:
    arrangement = page_of([0.999, 0.1, 0.9])
    (hole,) = find_missing(arrangement, compatibility_of(4), page_width_mm=48)
    assert (hole.shred_id, hole.side) == ("s1", "right")
    assert hole.label == "perhaps 2 shreds missing"  # 48 - 4 * 8 mm are left of the page
    assert hole.width == pytest.approx(2 * 8 * 300 / 25.4, abs=1)


def test_what_is_left_of_a_page_is_shared_by_its_holes() -> None:
    holes = find_missing(page_of([0.1, 0.9, 0.2]), compatibility_of(4), page_width_mm=64)
    assert [hole.label for hole in holes] == ["perhaps 2 shreds missing"] * 2


def test_blank_shreds_that_were_set_aside_are_not_missing(tiny_pile: ShredSet) -> None:
    aside = [tiny_pile[0]]
    paper_mm = 4 * 8 + 3 * 8 + aside[0].width_mm  # three shreds are lost, and one lies aside
    told = find_missing(page_of([0.9, 0.1, 0.9]), compatibility_of(4), page_width_mm=paper_mm, blank=aside)
    assert [hole.label for hole in told] == ["perhaps 3 shreds missing"]


def test_a_hole_has_at_least_one_shred_and_not_half_a_page() -> None:
    narrow = find_missing(page_of([0.1]), compatibility_of(2), page_width_mm=16)
    wide = find_missing(page_of([0.1]), compatibility_of(2))  # A4, by the height of the shreds
    unknown = find_missing(page_of([0.1]), compatibility_of(2, height_mm=123))
    assert [one.label for one in (*narrow, *unknown)] == ["perhaps a shred missing"] * 2
    assert wide[0].label == "perhaps 5 shreds missing"


def test_nothing_is_missing_where_nothing_is_doubted_or_known() -> None:
    pile = compatibility_of(3)
    assert find_missing(page_of([0.9, 0.6]), pile) == ()
    assert find_missing(page_of([None, None]), pile) == ()
    assert find_missing(page_of([0.1, 0.1]), replace(pile, margins=None)) == ()


def test_a_page_of_one_shred_beside_whole_ones_is_only_a_part() -> None:
    slots = [Slot(f"s{i}", 0) for i in range(26)]
    two = Arrangement((tuple(slots[:25]), tuple(slots[25:])), (), (), 0.0, 0.0)
    assert find_parts(two, compatibility_of(26)) == (2,)
    assert find_parts(two, compatibility_of(26), page_width_mm=30) == ()
    assert find_parts(two, compatibility_of(26, height_mm=123)) == ()  # no paper that we know
    assert find_parts(replace(two, pages=(tuple(slots[:3]),)), compatibility_of(26)) == ()  # all there is
