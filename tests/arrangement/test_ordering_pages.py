"""How many pages, where they begin and end, and how sure that is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deshred.arrangement import ArrangementOptions, arrange
from deshred.arrangement.problem.pages import FILLED, WIDER, page_price
from deshred.elements import Constraints, Margins
from deshred.errors import InputError, MismatchError, SettingsError
from tests.arrangement.brute_force import enumerate_orders, held_karp, pile
from tests.arrangement.drawn_piles import documents


@pytest.mark.parametrize("seed", range(3))
def test_margins_tell_how_many_pages_there_are_and_where_they_begin(seed):
    shreds, firsts = documents(seed)
    found = arrange(shreds)
    assert found.is_optimal
    assert {page[0].shred_id for page in found.pages} == firsts


def test_without_margins_breaks_land_on_weak_joins_instead():
    shreds, firsts = documents(0)
    blind = arrange(shreds, options=ArrangementOptions(pages=4, free_ends=True))
    assert {page[0].shred_id for page in blind.pages} != firsts


def test_without_margins_an_automatic_number_of_pages_is_one():
    assert len(arrange(pile(np.random.default_rng(0).normal(size=(30, 30)).astype(np.float32))).pages) == 1


def test_with_free_ends_a_single_path_is_the_papers_whatever_the_margins_say():
    shreds, _ = documents(1)
    path = arrange(shreds, options=ArrangementOptions(pages=1, free_ends=True))
    bare = arrange(pile(shreds.scores), options=ArrangementOptions(pages=1))
    assert path == bare


def test_the_width_of_a_page_bounds_their_number():
    shreds, _ = documents(2)
    vague = Margins(np.full(48, -9, np.float32), np.full(48, -9, np.float32), shreds.margins.widths_mm)
    shreds = pile(shreds.scores, vague)
    assert len(arrange(shreds).pages) == 1
    assert len(arrange(shreds, options=ArrangementOptions(page_width_mm=210.0)).pages) == 4


@given(st.integers(0, 10_000))
@example(3494)  # all joins are ruled out: what is left of the scores has no decimals
@settings(max_examples=25, deadline=None)
def test_an_automatic_number_of_pages_is_the_cheapest_number(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    starts, ends, widths = rng.normal(size=(3, n)).astype(np.float32)
    margins = Margins(starts, ends, np.abs(widths))
    shreds = pile(rng.normal(size=(n, n)).astype(np.float32), margins)
    cheapest = min(held_karp(shreds, Constraints(), k) for k in range(1, n + 1))
    assert arrange(shreds).cost == pytest.approx(cheapest, abs=2e-6)


def wide_pile(rng, n, page_width_mm):
    """Random scores, margins and widths; shreds are a third of a page wide on average."""
    starts, ends = rng.normal(size=(2, n)).astype(np.float32)
    widths = rng.uniform(0.1, 0.55, n).astype(np.float32) * np.float32(page_width_mm)
    return pile(np.round(rng.normal(size=(n, n)), 2).astype(np.float32), Margins(starts, ends, widths))


@given(st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_no_page_is_wider_than_the_paper(seed):
    rng = np.random.default_rng(seed)
    n, n_pages = int(rng.integers(3, 7)), int(rng.integers(2, 4))
    shreds, most_mm = wide_pile(rng, n, 200.0), WIDER * 200.0
    total = float(shreds.margins.widths_mm.sum())
    truth = enumerate_orders(shreds, Constraints(), n_pages, most_mm=most_mm)
    found = arrange(shreds, options=ArrangementOptions(pages=n_pages, page_width_mm=200.0))
    assert found.is_optimal
    if total > FILLED * n_pages * most_mm or truth == np.inf:  # the number of pages is believed instead
        truth = enumerate_orders(shreds, Constraints(), n_pages)
    else:
        truth += n_pages * page_price(total, 200.0)
        widths = dict(zip(shreds.ids, shreds.margins.widths_mm.tolist(), strict=True))
        assert all(sum(widths[slot.shred_id] for slot in page) <= most_mm for page in found.pages)
    assert found.cost == pytest.approx(truth, abs=2e-6)


def test_the_height_of_shreds_tells_the_width_of_their_paper():
    shreds, _ = documents(2)
    vague = Margins(np.full(48, -9, np.float32), np.full(48, -9, np.float32), shreds.margins.widths_mm)
    for height, n_pages in ((297.0, 4), (293.0, 4), (250.0, 1)):  # A4, a little short, no known format
        margins = replace(vague, heights_mm=np.full(48, height, np.float32))
        assert len(arrange(pile(shreds.scores, margins)).pages) == n_pages


def test_two_whole_pages_that_fit_each_other_well_are_not_joined():
    shreds, firsts = documents(0, n_pages=6)
    tempting = shreds.scores.copy()
    tempting[11, 12] = 9.0  # the end of a page fits the start of another better than any true join
    found = arrange(pile(tempting, shreds.margins), options=ArrangementOptions(page_width_mm=210.0))
    assert found.is_optimal
    assert {page[0].shred_id for page in found.pages} == firsts
    assert len(arrange(pile(tempting, shreds.margins)).pages) == 5


def test_a_person_overrules_the_width_of_the_paper():
    shreds, _ = documents(1, n_pages=2)
    together = Constraints(together=frozenset({frozenset(shreds.ids)}))
    found = arrange(shreds, together, options=ArrangementOptions(page_width_mm=210.0))
    assert len(found.pages) == 1


def test_a_width_that_a_single_shred_exceeds_is_not_believed():
    shreds, firsts = documents(0)
    found = arrange(shreds, options=ArrangementOptions(page_width_mm=10.0, pages=4))
    assert {page[0].shred_id for page in found.pages} == firsts


def test_pages_of_limited_width_come_quickly_where_the_proof_would_take_long():
    rng = np.random.default_rng(5)
    shreds = wide_pile(rng, 16, 200.0)
    found = arrange(shreds, options=ArrangementOptions(pages=7, page_width_mm=200.0))
    widths = dict(zip(shreds.ids, shreds.margins.widths_mm.tolist(), strict=True))
    assert max(sum(widths[slot.shred_id] for slot in page) for page in found.pages) <= WIDER * 200.0
    assert found.bound <= found.cost


def test_margins_of_another_pile_or_without_numbers_are_refused():
    scores = np.zeros((3, 3), np.float32)
    with pytest.raises(MismatchError, match="2 starts for 3 shreds"):
        arrange(pile(scores, Margins(*np.zeros((3, 2), np.float32))))
    with pytest.raises(InputError, match="nan at shred 0"):
        arrange(pile(scores, Margins(*np.full((3, 3), np.nan, np.float32))))


def test_greedy_goes_to_the_nearest_neighbor_from_the_best_start():
    scores = np.full((4, 4), -9, np.float32)
    scores[2, 0], scores[0, 3], scores[3, 1] = 5, 4, 3
    found = arrange(pile(scores), options=ArrangementOptions(pages=1, solver="greedy"))
    assert found.order == ("s2", "s0", "s3", "s1")
    assert found.cost == pytest.approx(0 + 1 + 2)
    assert found.bound <= found.cost


def test_greedy_keeps_its_pages_and_refuses_what_it_cannot_obey():
    shreds = pile(np.random.default_rng(0).normal(size=(20, 20)).astype(np.float32))
    assert len(arrange(shreds, options=ArrangementOptions(pages=3, solver="greedy")).pages) == 3
    for constraints in (
        Constraints(required=frozenset({("s0", "s1")})),
        Constraints(first=frozenset({"s0"})),
        Constraints(last=frozenset({"s0"})),
        Constraints(together=frozenset({frozenset({"s0", "s1"})})),
        Constraints(apart=frozenset({frozenset({"s0", "s1"})})),
    ):
        with pytest.raises(SettingsError, match="exact"):
            arrange(shreds, constraints, options=ArrangementOptions(pages=2, solver="greedy"))


def test_greedy_never_uses_a_forbidden_join():
    shreds = pile(np.random.default_rng(1).normal(size=(12, 12)).astype(np.float32))
    options = ArrangementOptions(pages=1, solver="greedy")
    best = arrange(shreds, options=options).joins[0]
    without = arrange(shreds, Constraints(forbidden=frozenset({(best.left, best.right)})), options=options)
    assert (best.left, best.right) not in {(join.left, join.right) for join in without.joins}


def test_a_page_is_dearer_in_a_pile_of_few_pages():
    prices = [page_price(total, 210.0) for total in (150.0, 210.0, 1050.0, 6300.0)]
    assert prices[0] == prices[1] > prices[2] > prices[3]
    assert prices[1] - prices[3] == pytest.approx(np.log(30))
