"""Warm starts, time limits, progress."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, WarmStart, arrange
from deshred.elements import Constraints
from tests.arrangement.brute_force import pile

ONE = ArrangementOptions(pages=1)


def blurred_pile(n, seed, signal=3.0):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n)).astype(np.float32)
    scores[np.arange(n - 1), np.arange(1, n)] += rng.normal(signal, 2, n - 1).astype(np.float32)
    return pile(scores)


def hard_pile(n, seed):
    """Distances in the plane: symmetric, far from its assignment bound."""
    places = np.random.default_rng(seed).random((n, 2))
    return pile(-np.linalg.norm(places[:, None] - places[None], axis=2).astype(np.float32))


@pytest.mark.parametrize("n_pages", [1, 4])
def test_a_warm_start_reaches_the_cost_of_a_cold_one(n_pages):
    shreds = blurred_pile(30, 1, signal=5.0)
    options = ArrangementOptions(pages=n_pages)
    warm = WarmStart()
    best = arrange(shreds, options=options, warm_start=warm)
    rng = np.random.default_rng(2)
    for _ in range(3):
        chosen = rng.choice(len(best.joins), 3, replace=False)
        lost, turned, kept = (best.joins[i] for i in chosen)
        constraints = Constraints(
            forbidden=frozenset({(lost.left, lost.right)}),
            required=frozenset({(turned.right, turned.left)}),
            first=frozenset({kept.right}),
            apart=frozenset({frozenset({lost.left, kept.left})}) if n_pages > 1 else frozenset(),
            together=frozenset({frozenset({lost.right, turned.left})}),
        )
        again = arrange(shreds, constraints, options=options, warm_start=warm)
        cold = arrange(shreds, constraints, options=options)
        assert again.is_optimal
        assert again.cost == pytest.approx(cold.cost, abs=2e-6)
    relaxed = arrange(shreds, options=options, warm_start=warm)
    assert relaxed.cost == pytest.approx(best.cost, abs=2e-6)


def test_a_warm_start_for_other_scores_starts_afresh():
    warm = WarmStart()
    first, second = blurred_pile(40, 3), blurred_pile(40, 4)
    arrange(first, options=ONE, warm_start=warm)
    assert arrange(second, options=ONE, warm_start=warm).cost == pytest.approx(
        arrange(second, options=ONE).cost
    )


def test_where_time_runs_out_the_gap_is_honest():
    shreds = hard_pile(250, 0)
    found = arrange(shreds, options=ArrangementOptions(pages=1, time_limit=1.0))
    assert sorted(found.order) == sorted(shreds.ids)
    assert not found.is_optimal
    assert 0 < found.bound < found.cost


def test_a_tiny_time_limit_still_gives_an_order():
    found = arrange(hard_pile(60, 1), options=ArrangementOptions(pages=3, time_limit=1e-6))
    assert len(found.order) == 60
    assert found.bound <= found.cost


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [blurred_pile, hard_pile])
def test_an_order_under_a_tiny_time_limit_is_no_dearer_than_the_greedy_one(make, seed):
    shreds = make(150, seed)
    hasty = arrange(shreds, options=ArrangementOptions(pages=1, time_limit=1e-6))
    greedy = arrange(shreds, options=ArrangementOptions(pages=1, solver="greedy"))
    assert sorted(hasty.order) == sorted(shreds.ids)
    assert 0 < hasty.bound <= hasty.cost <= greedy.cost


def test_an_order_under_a_tiny_time_limit_obeys_the_constraints():
    shreds = blurred_pile(80, 7)
    constraints = Constraints(
        required=frozenset({("s3", "s40")}), forbidden=frozenset({("s10", "s11")}), last=frozenset({"s20"})
    )
    hasty = arrange(shreds, constraints, options=ArrangementOptions(pages=1, time_limit=1e-6))
    order = list(hasty.order)
    assert order[order.index("s3") + 1] == "s40"
    assert order[-1] == "s20"
    assert (order.index("s11") - order.index("s10")) != 1
    assert hasty.bound <= arrange(shreds, constraints, options=ONE).cost + 1e-6


def test_a_warm_start_under_a_time_limit_is_proven_with_the_same_warm_start():
    shreds, warm = blurred_pile(120, 8, signal=1.0), WarmStart()
    best = arrange(shreds, options=ONE, warm_start=warm)
    lost = Constraints(forbidden=frozenset({(best.joins[50].left, best.joins[50].right)}))
    hasty = arrange(shreds, lost, options=ArrangementOptions(pages=1, time_limit=1e-6), warm_start=warm)
    proven = arrange(shreds, lost, options=ONE, warm_start=warm)
    assert proven.is_optimal
    assert proven.cost == pytest.approx(arrange(shreds, lost, options=ONE).cost, abs=2e-6)
    assert 0.9 * best.cost < hasty.bound <= proven.cost + 1e-6
    assert proven.cost <= hasty.cost + 1e-6


def test_orders_that_differ_by_rounding_alone_are_proven_at_once():
    """Sums of single-precision tenths differ by more than the tolerance; those of tenths do not."""
    scores = np.floor(10 * np.random.default_rng(9).random((300, 300)).astype(np.float32) ** 8) / 10
    found = arrange(pile(scores.astype(np.float32)), options=ONE)
    assert found.is_optimal
    assert found.cost == pytest.approx(round(found.cost, 1), abs=1e-9)


def test_progress_shows_the_gap_closing():
    seen = []
    arrange(blurred_pile(60, 5), options=ONE, progress=lambda *report: seen.append(report))
    stages, done, totals = zip(*seen, strict=True)
    assert any("bound" in stage and "gap" in stage for stage in stages)
    assert all(0 <= d <= t for d, t in zip(done, totals, strict=True))
    assert done[-1] >= done[0]


def test_without_being_told_a_search_ends_and_larger_piles_get_more_time():
    assert 0 < ArrangementOptions().limit_for(2) < 1000
    assert ArrangementOptions().limit_for(100_000) > ArrangementOptions().limit_for(1000)
    assert ArrangementOptions(time_limit=2.5).limit_for(100_000) == 2.5
