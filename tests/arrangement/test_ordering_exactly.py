"""The answer of `arrange` against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from deshred.arrangement import ArrangementOptions, arrange
from deshred.elements import Constraints, Margins
from deshred.errors import InfeasibleError, InputError, SettingsError
from tests.arrangement.brute_force import (
    enumerate_orders,
    held_karp,
    obeys,
    pile,
    random_constraints,
    random_scores,
)


def pages_of(arrangement):
    return [[slot.shred_id for slot in page] for page in arrangement.pages]


def solve(compatibility, constraints, n_pages):
    """The cost, infinite if it is refused; whatever comes back is checked."""
    options = ArrangementOptions(pages=n_pages)
    try:
        arrangement = arrange(compatibility, constraints, options=options)
    except InfeasibleError:
        return np.inf
    assert arrangement.is_optimal
    assert sorted(arrangement.order) == sorted(compatibility.ids)
    assert len(arrangement.pages) == n_pages
    assert obeys(pages_of(arrangement), constraints)
    return arrangement.cost


def random_margins(rng, n):
    if rng.random() >= 0.4:
        return None
    starts, ends, widths = rng.normal(size=(3, n)).astype(np.float32)
    return Margins(starts, ends, np.abs(widths))


@pytest.mark.parametrize("seed", range(6))
def test_the_cost_is_that_of_held_karp(seed):
    rng = np.random.default_rng(seed)
    n_infeasible = 0
    for _ in range(60):
        n = int(rng.integers(1, 9))
        n_pages = int(rng.integers(1, min(4, n) + 1))
        compatibility = pile(random_scores(rng, n), random_margins(rng, n))
        constraints = random_constraints(rng, compatibility.ids, groups=False)
        truth = held_karp(compatibility, constraints, n_pages)
        n_infeasible += truth == np.inf
        assert solve(compatibility, constraints, n_pages) == pytest.approx(truth, abs=2e-6)
    assert 0 < n_infeasible < 60


@pytest.mark.parametrize("seed", range(4))
def test_groups_on_one_page_or_apart_cost_what_enumeration_finds(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(30):
        n = int(rng.integers(3, 7))
        n_pages = int(rng.integers(1, min(3, n) + 1))
        compatibility = pile(random_scores(rng, n), random_margins(rng, n))
        constraints = random_constraints(rng, compatibility.ids, groups=True)
        truth = enumerate_orders(compatibility, constraints, n_pages)
        assert solve(compatibility, constraints, n_pages) == pytest.approx(truth, abs=2e-6)


@given(
    st.integers(2, 9).flatmap(
        lambda n: arrays(np.float32, (n, n), elements=st.floats(-8, 8, width=16).map(np.float32))
    )
)
@settings(max_examples=25, deadline=None)
def test_an_arrangement_is_a_permutation_no_dearer_than_greedy_and_its_bound_holds(scores):
    compatibility = pile(scores)
    exact = arrange(compatibility, options=ArrangementOptions(pages=1))
    greedy = arrange(compatibility, options=ArrangementOptions(pages=1, solver="greedy"))
    assert sorted(exact.order) == sorted(compatibility.ids)
    assert exact.is_optimal
    assert exact.cost <= greedy.cost + 1e-6
    assert greedy.bound <= exact.cost + 1e-6
    assert exact.cost == pytest.approx(
        sum(float(_highest(scores)) - join.score for join in exact.joins), abs=1e-4
    )


def _highest(scores):
    return scores[~np.eye(len(scores), dtype=bool)].max()


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_a_constraint_never_lowers_the_cost(seed):
    rng = np.random.default_rng(seed)
    compatibility = pile(rng.normal(size=(6, 6)).astype(np.float32))
    constraints = random_constraints(rng, compatibility.ids, groups=True)
    free = solve(compatibility, Constraints(), 2)
    assert solve(compatibility, constraints, 2) >= free - 1e-6


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_shuffling_the_shreds_does_not_change_the_pages(seed):
    rng = np.random.default_rng(seed)
    n = 30
    scores = rng.normal(size=(n, n)).astype(np.float32)
    scores[np.arange(n - 1), np.arange(1, n)] += 6
    shuffle = rng.permutation(n)
    plain = arrange(pile(scores), options=ArrangementOptions(pages=1))
    mixed = arrange(pile(scores[np.ix_(shuffle, shuffle)]), options=ArrangementOptions(pages=1))
    assert [f"s{shuffle[int(id_[1:])]}" for id_ in mixed.order] == list(plain.order)


@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_the_same_input_gives_the_same_answer_also_under_ties(decimals):
    scores = np.round(np.random.default_rng(5).random((60, 60)), decimals).astype(np.float32)
    answers = {arrange(pile(scores.copy()), options=ArrangementOptions(pages=3)) for _ in range(3)}
    assert len(answers) == 1


def test_tiny_piles_and_equal_scores_are_no_special_case():
    assert arrange(pile(np.zeros((0, 0), np.float32))).pages == ()
    assert arrange(pile(np.full((1, 1), np.nan, np.float32))).order == ("s0",)
    two = arrange(pile(np.array([[0, 1], [5, 0]], np.float32)))
    assert two.order == ("s1", "s0")
    assert two.cost == 0
    equal = arrange(pile(np.full((50, 50), 0.5, np.float32)), options=ArrangementOptions(pages=4))
    assert equal.is_optimal
    assert equal.cost == 0
    assert len(equal.pages) == 4


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_score_that_is_no_number_is_refused_by_the_ids_of_its_join(wrong):
    scores = np.zeros((4, 4), np.float32)
    scores[2, 1] = wrong
    with pytest.raises(InputError, match=f"s2 -> s1 is {wrong}"):
        arrange(pile(scores))


def test_the_diagonal_is_never_looked_at():
    scores = np.random.default_rng(0).normal(size=(6, 6)).astype(np.float32)
    plain = arrange(pile(scores.copy()), options=ArrangementOptions(pages=1))
    for wild in (np.nan, np.inf, -np.inf, 1e9):
        np.fill_diagonal(scores, wild)
        assert arrange(pile(scores.copy()), options=ArrangementOptions(pages=1)) == plain


def test_joins_that_cannot_be_split_an_automatic_pile_and_refuse_a_single_path():
    scores = np.random.default_rng(0).normal(size=(6, 6)).astype(np.float32)
    scores[:3, 3:] = scores[3:, :3] = -np.inf
    halves = {frozenset(page) for page in pages_of(arrange(pile(scores)))}
    assert halves == {frozenset({"s0", "s1", "s2"}), frozenset({"s3", "s4", "s5"})}
    with pytest.raises(InfeasibleError, match="Allow more pages"):
        arrange(pile(scores), options=ArrangementOptions(pages=1))


@pytest.mark.parametrize(
    "wrong",
    [
        {"solver": "magic"},
        {"pages": 0},
        {"pages": "many"},
        {"pages": True},
        {"time_limit": 0},
        {"page_width_mm": -1.0},
        {"tolerance": 0.0},
    ],
)
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        ArrangementOptions(**wrong)


def test_more_pages_than_shreds_are_refused():
    with pytest.raises(SettingsError, match="5 pages"):
        arrange(pile(np.zeros((3, 3), np.float32)), options=ArrangementOptions(pages=5))


def test_prices_are_lower_bounds_on_doing_without_a_join():
    rng = np.random.default_rng(3)
    n_priced = 0
    for _ in range(8):
        scores = rng.normal(size=(7, 7)).astype(np.float32)
        scores[np.arange(6), np.arange(1, 7)] += 3
        for n_pages in (1, 2):
            options = ArrangementOptions(pages=n_pages)
            best = arrange(pile(scores), options=options)
            for join in best.joins:
                without = Constraints(forbidden=frozenset({(join.left, join.right)}))
                assert join.price <= held_karp(pile(scores), without, n_pages) - best.cost + 1e-6
                n_priced += join.price > 1e-3
            for seam in best.breaks:
                joined = Constraints(required=frozenset({(seam.after, seam.before)}))
                assert seam.price <= held_karp(pile(scores), joined, n_pages) - best.cost + 1e-6
    assert n_priced > 20


def test_offsets_add_up_along_a_page():
    scores = np.full((3, 3), -5, np.float32)
    scores[0, 1] = scores[1, 2] = 5
    compatibility = pile(scores)
    offsets = np.array([[0, 4, 0], [0, 0, -7], [0, 0, 0]], np.int16)
    compatibility = type(compatibility)(compatibility.ids, scores, offsets)
    (page,) = arrange(compatibility, options=ArrangementOptions(pages=1)).pages
    assert [(slot.shred_id, slot.offset) for slot in page] == [("s0", 0), ("s1", 4), ("s2", -3)]
