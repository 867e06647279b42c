"""How many pages, how wide the paper is, and what a page costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deshred.arrangement.problem.fixings import PageCount
from deshred.arrangement.problem.pages import (
    check_margins,
    count_pages,
    page_price,
    paper_width,
    price_pages,
    sort_pages,
)
from deshred.arrangement.problem.scores import score_range
from deshred.elements import Constraints, Margins
from deshred.errors import InputError, MismatchError, SettingsError
from tests.arrangement.brute_force import pile


def margins_of(n, *, width=8.4, height=297.0):
    starts, ends = np.random.default_rng(n).normal(size=(2, n)).astype(np.float32)
    return Margins(starts, ends, np.full(n, width, np.float32), np.full(n, height, np.float32))


def test_as_many_pages_as_are_asked_for():
    assert count_pages(9, 3, Constraints(), None, None) == PageCount(3, 3)
    with pytest.raises(SettingsError, match="only 9 shreds"):
        count_pages(9, 10, Constraints(), None, None)


def test_constraints_and_widths_bound_an_open_number_of_pages():
    known = Constraints(first=frozenset({"a", "b", "c"}))
    assert count_pages(9, "auto", known, None, None) == PageCount(3, 9)
    # 100 shreds of 8.39 mm make four sheets of 210 mm; half of the paper may be missing
    assert count_pages(100, "auto", Constraints(), margins_of(100, width=8.39), 210.0) == PageCount(4, 8)


@pytest.mark.parametrize(("height", "width"), [(297.0, 210.0), (279.4, 215.9), (250.0, None)])
def test_the_height_of_shreds_tells_the_width_of_the_paper(height, width):
    assert paper_width(margins_of(30, height=height)) == width


def test_a_further_page_is_cheaper_the_more_pages_there_are():
    assert page_price(2100.0, 210.0) == pytest.approx(page_price(210.0, 210.0) - math.log(10))
    assert page_price(50.0, 210.0) == page_price(210.0, 210.0)  # a part of a page is a page


def test_a_page_costs_like_a_join_that_scores_what_its_ends_say():
    shreds = pile(np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32))
    margins = margins_of(4)
    ends = price_pages(4, margins, PageCount(1, 4), score_range(shreds), None)
    highest = score_range(shreds).highest
    assert ends.starts[1] + ends.ends[2] == pytest.approx(highest - margins.starts[1] - margins.ends[2])
    free = price_pages(4, None, PageCount(2, 2), score_range(shreds), None)
    assert not free.starts.any()
    assert not free.ends.any()


def test_margins_that_make_no_sense_are_refused():
    with pytest.raises(MismatchError, match="3 starts for 4 shreds"):
        check_margins(margins_of(3), 4)
    bad = margins_of(3)
    nan = Margins(np.array([0, np.nan, 0], np.float32), bad.ends, bad.widths_mm)
    with pytest.raises(InputError, match="starts hold nan at shred 1"):
        check_margins(nan, 3)


def test_pages_are_listed_by_their_smallest_shred():
    pages = [np.array([5, 2]), np.array([4, 0]), np.array([1, 3])]
    assert [page.tolist() for page in sort_pages(pages)] == [[4, 0], [1, 3], [5, 2]]
