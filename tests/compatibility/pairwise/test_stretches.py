"""Only what both sides of a join need is run: which values see ink, and which rows give them."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.compatibility.pairwise.stretches import OVERLAP, Stretches, find_seen

FIELD = 79
STEPS = 60


def mark(*steps: int) -> np.ndarray:
    return np.isin(np.arange(STEPS), steps)


@pytest.mark.parametrize(("row", "seeing"), [(0, [0, 1]), (300, [16, 17, 18, 19, 20]), (959, [57, 58, 59])])
def test_a_row_of_ink_is_seen_by_the_values_around_it(row: int, seeing: list[int]) -> None:
    inked = np.arange(16 * STEPS) == row
    assert np.flatnonzero(find_seen(inked, FIELD, STEPS)).tolist() == seeing


def test_a_wide_field_sees_four_more_values_on_each_side() -> None:
    inked = np.arange(16 * STEPS) == 300
    narrow, wide = (np.flatnonzero(find_seen(inked, field, STEPS)) for field in (79, 207))
    assert wide.tolist() == list(range(narrow[0] - 4, narrow[-1] + 5))


def test_stretches_hold_all_rows_that_their_values_see() -> None:
    stretches = Stretches.around(mark(20, 21, 40), FIELD)
    assert (stretches.starts.tolist(), stretches.stops.tolist()) == ([18, 38], [25, 44])
    for start, stop, first, last in ((18, 25, 20, 21), (38, 44, 40, 40)):
        rows = np.arange(16 * first + 15 - FIELD // 2, 16 * last + 16 + FIELD // 2)
        assert 16 * start <= rows[0]
        assert rows[-1] < 16 * stop


def test_stretches_that_touch_are_one_and_stay_within_the_join() -> None:
    stretches = Stretches.around(mark(1, 6, 58), FIELD)
    assert (stretches.starts.tolist(), stretches.stops.tolist()) == ([0, 56], [10, STEPS])
    assert stretches.reach_end
    assert not Stretches.around(mark(1), FIELD).reach_end


def test_nothing_wanted_is_no_stretch() -> None:
    nothing = Stretches.around(mark(), FIELD)
    assert len(nothing) == 0
    assert nothing.pick(np.zeros((2, 16 * STEPS, 5)), 1, 16, more=OVERLAP).shape == (2, 0, 5)


def test_places_are_where_rows_come_to_lie() -> None:
    rows = np.repeat(np.arange(STEPS), 16)
    wanted = mark(3, 20, 21, 58)
    stretches = Stretches.around(wanted, FIELD)
    picked = stretches.pick(rows[None], 1, 16)[0]
    assert len(picked) == 16 * len(stretches)
    assert picked[16 * stretches.places(np.flatnonzero(wanted))].tolist() == [3, 20, 21, 58]


def test_stretches_are_found_again_within_longer_ones() -> None:
    rows = np.repeat(np.arange(STEPS), 4)
    longer = Stretches.around(mark(*range(10, 30), 45, 46), FIELD)
    shorter = Stretches.around(mark(12, 25, 46), FIELD)
    picked = longer.pick(rows[:, None], 0, 4)
    again = shorter.within(longer).pick(picked, 0, 4)
    assert again.tolist() == shorter.pick(rows[:, None], 0, 4).tolist()


def test_the_end_of_a_join_is_picked_with_the_rows_that_are_no_whole_step() -> None:
    rows = np.arange(16 * STEPS + 8)
    assert Stretches.around(mark(59), FIELD).pick(rows, 0, 16)[-1] == rows[-1]
    assert Stretches.around(mark(30), FIELD).pick(rows, 0, 16, more=OVERLAP)[-1] == 16 * 34 + OVERLAP - 1
