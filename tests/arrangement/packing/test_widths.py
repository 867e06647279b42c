"""Pages of limited width: whole pages as columns give what brute force and cuts give."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deshred.arrangement import ArrangementOptions, WarmStart, arrange
from deshred.arrangement.problem.pages import FILLED, WIDER, page_price
from deshred.elements import Constraints, Margins
from tests.arrangement.brute_force import held_karp_on_pages, obeys, pile, random_constraints
from tests.arrangement.drawn_piles import documents

seeds = st.integers(0, 10_000)


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_limited_pages_are_those_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    n, n_pages = int(rng.integers(4, 9)), int(rng.integers(2, 5))
    starts, ends = rng.normal(size=(2, n)).astype(np.float32)
    widths = rng.uniform(10, 110, n).astype(np.float32)
    scores = np.round(3 * rng.normal(size=(n, n)), int(rng.integers(0, 3))).astype(np.float32)
    shreds = pile(scores, Margins(starts, ends, widths))
    constraints = random_constraints(rng, shreds.ids, groups=False)
    truth = held_karp_on_pages(shreds, constraints, n_pages, WIDER * 200.0)
    if truth == np.inf or widths.sum() > FILLED * n_pages * WIDER * 200.0:
        return  # the width is not believed then
    options = ArrangementOptions(pages=n_pages, page_width_mm=200.0)
    found = arrange(shreds, constraints, options=options)
    # numbers of a few decimals count as such, not as the nearest ones in single precision
    assert found.cost == pytest.approx(truth + n_pages * page_price(widths.sum(), 200.0), abs=1e-5)
    assert found.is_optimal
    assert obeys([[slot.shred_id for slot in page] for page in found.pages], constraints)


@pytest.mark.parametrize("seed", range(4))
def test_whole_pages_and_cuts_find_the_same_optimum(seed):
    shreds, _ = documents(seed, n_pages=5, weak=0.4)
    tempting = shreds.scores.copy()
    tempting[11, 12] = tempting[35, 36] = 9.0  # ends of pages that fit the starts of others too well
    rng = np.random.default_rng(seed)
    widths = rng.uniform(0.8, 1.15, len(shreds)).astype(np.float32) * shreds.margins.widths_mm
    shreds = pile(tempting, replace(shreds.margins, widths_mm=widths))
    options = ArrangementOptions(page_width_mm=210.0)
    packed = arrange(shreds, options=options)
    # a pair that lies apart already changes nothing, but groups are left to branch and cut
    apart = frozenset({packed.pages[0][0].shred_id, packed.pages[1][0].shred_id})
    cut = arrange(shreds, Constraints(apart=frozenset({apart})), options=options)
    assert packed.is_optimal
    assert packed.cost == pytest.approx(cut.cost, abs=2e-6)


def test_a_pile_that_fits_only_one_way_is_packed_that_way():
    widths = np.array([90, 80, 70, 60, 50, 40, 30, 20, 100, 100], np.float32)  # three pages, filled to the mm
    margins = Margins(np.zeros(10, np.float32), np.zeros(10, np.float32), widths)
    shreds = pile(np.random.default_rng(0).normal(size=(10, 10)).astype(np.float32), margins)
    found = arrange(shreds, options=ArrangementOptions(pages=3, page_width_mm=213.4 / WIDER))
    width = dict(zip(shreds.ids, widths.tolist(), strict=True))
    assert max(sum(width[slot.shred_id] for slot in page) for page in found.pages) > 213.4  # not believed
    roomy = arrange(shreds, options=ArrangementOptions(pages=3, page_width_mm=222.0 / WIDER))
    assert roomy.is_optimal
    assert max(sum(width[slot.shred_id] for slot in page) for page in roomy.pages) <= 222.0


def test_prices_of_joins_hold_where_widths_are_limited():
    n_priced = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        starts, ends = rng.normal(size=(2, 7)).astype(np.float32)
        widths = rng.uniform(40, 80, 7).astype(np.float32)
        shreds = pile((3 * rng.normal(size=(7, 7))).astype(np.float32), Margins(starts, ends, widths))
        best = arrange(shreds, options=ArrangementOptions(pages=3, page_width_mm=200.0))
        for join in best.joins:
            without = Constraints(forbidden=frozenset({(join.left, join.right)}))
            truth = held_karp_on_pages(shreds, without, 3, WIDER * 200.0) + 3 * page_price(
                widths.sum(), 200.0
            )
            assert join.price <= truth - best.cost + 1e-6
            n_priced += join.price > 1e-3
    assert n_priced > 10


def test_time_limits_hold_while_pages_are_packed():
    shreds, _ = documents(0, n_pages=6)
    found = arrange(shreds, options=ArrangementOptions(page_width_mm=210.0, time_limit=1e-3))
    assert found.bound <= found.cost


@pytest.mark.parametrize("seed", range(2))
def test_a_warm_start_finds_the_optimum_of_a_cold_one(seed):
    shreds, _ = documents(seed, n_pages=6)
    options, warm = ArrangementOptions(page_width_mm=210.0), WarmStart()
    best = arrange(shreds, options=options, warm_start=warm)
    for join in best.joins[::22]:
        constraints = Constraints(forbidden=frozenset({(join.left, join.right)}))
        again = arrange(shreds, constraints, options=options, warm_start=warm)
        assert again.is_optimal
        assert again.cost == pytest.approx(arrange(shreds, constraints, options=options).cost, abs=2e-6)
