"""Lists of candidates instead of a full matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, arrange
from deshred.elements import Compatibility, Constraints, Margins
from deshred.errors import InfeasibleError, InputError
from tests.arrangement.brute_force import best_of, enumerate_orders, held_karp, obeys, pile


def test_the_cost_is_that_of_the_full_matrix_whose_other_joins_score_as_the_lowest_listed():
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = int(rng.integers(2, 9))
        scores = np.round(rng.normal(size=(n, n)), int(rng.integers(1, 6))).astype(np.float32)
        sparse, full = best_of(scores, int(rng.integers(1, 3)))
        n_pages = int(rng.integers(1, min(3, n) + 1))
        found = arrange(sparse, options=ArrangementOptions(pages=n_pages))
        assert found.is_optimal
        assert sorted(found.order) == sorted(sparse.ids)
        assert found.cost == pytest.approx(held_karp(full, Constraints(), n_pages), abs=2e-6)


def test_constraints_hold_on_candidates_too():
    rng = np.random.default_rng(1)
    n_solved = 0
    for _ in range(30):
        scores = rng.normal(size=(7, 7)).astype(np.float32)
        sparse, full = best_of(scores, 2)
        a, b, c, d = (sparse.ids[i] for i in rng.choice(7, 4, replace=False))
        constraints = Constraints(
            required=frozenset({(a, b)}), forbidden=frozenset({(c, d), (b, c)}), first=frozenset({d})
        )
        truth = held_karp(full, constraints, 2)
        try:
            found = arrange(sparse, constraints, options=ArrangementOptions(pages=2))
        except InfeasibleError:
            assert truth == np.inf
            continue
        n_solved += found.is_optimal
        assert obeys([[slot.shred_id for slot in page] for page in found.pages], constraints)
        assert found.bound <= truth + 1e-6 <= found.cost + 2e-6
    assert n_solved > 20


def test_groups_hold_on_candidates_too():
    rng = np.random.default_rng(4)
    for at in range(40):
        sparse, full = best_of(np.round(rng.normal(size=(5, 5)), 1).astype(np.float32), 2)
        a, b, c = (sparse.ids[i] for i in rng.choice(5, 3, replace=False))
        constraints = (
            Constraints(together=frozenset({frozenset({a, b})}), apart=frozenset({frozenset({b, c})}))
            if at % 2
            else Constraints(apart=frozenset({frozenset({a, b}), frozenset({b, c})}))
        )
        truth = enumerate_orders(full, constraints, 2)
        found = arrange(sparse, constraints, options=ArrangementOptions(pages=2))
        assert obeys([[slot.shred_id for slot in page] for page in found.pages], constraints)
        assert found.is_optimal
        assert found.cost == pytest.approx(truth, abs=2e-6)


def test_sparse_and_dense_agree_where_all_joins_worth_having_are_listed():
    rng = np.random.default_rng(2)
    n = 300
    scores = rng.normal(size=(n, n)).astype(np.float32)
    scores[np.arange(n - 1), np.arange(1, n)] += 8
    sparse, _ = best_of(scores, 12)
    listed = arrange(sparse, options=ArrangementOptions(pages=1))
    full = arrange(pile(scores), options=ArrangementOptions(pages=1))
    assert listed.order == full.order
    assert listed.cost == pytest.approx(full.cost, abs=1e-5)


@pytest.mark.parametrize("wrong", ["starts", "columns"])
def test_damaged_lists_are_refused(wrong):
    sparse, _ = best_of(np.random.default_rng(3).normal(size=(5, 5)), 2)
    starts, columns = sparse.row_starts.copy(), sparse.columns.copy()
    if wrong == "starts":
        starts[-1] += 3
    else:
        columns[0] = 9
    damaged = Compatibility(sparse.ids, sparse.scores, sparse.offsets, row_starts=starts, columns=columns)
    with pytest.raises(InputError, match="candidate lists"):
        arrange(damaged)


def test_a_score_that_is_no_number_is_found_in_lists_too():
    sparse, _ = best_of(np.random.default_rng(3).normal(size=(5, 5)), 2)
    scores = sparse.scores.copy()
    scores[4] = np.nan
    with pytest.raises(InputError, match="is nan"):
        arrange(
            Compatibility(
                sparse.ids, scores, sparse.offsets, row_starts=sparse.row_starts, columns=sparse.columns
            )
        )


def draw_pages(seed: int, pages: int, size: int) -> tuple[Compatibility, Compatibility]:
    """Pages whose shreds mostly find each other, as a full matrix and as its best few of every edge."""
    rng = np.random.default_rng(seed)
    n = pages * size
    scores = rng.normal(-20, 4, (n, n)).astype(np.float32)
    inside = np.flatnonzero(np.arange(1, n) % size)
    scores[inside, inside + 1] += rng.uniform(6, 40, len(inside)).astype(np.float32)
    starts, ends = rng.normal(-12, 1, (2, n)).astype(np.float32)
    starts[::size] += 8
    ends[size - 1 :: size] += 8
    margins = Margins(starts, ends, np.full(n, 210 / size, np.float32), np.full(n, 297, np.float32))
    full = pile(scores, margins)
    return full, replace(best_of(scores, 4)[0], margins=margins)


@pytest.mark.parametrize("seed", range(4))
def test_lists_give_the_pages_of_the_full_matrix_where_unlikely_joins_are_ruled_out(seed):
    full, sparse = draw_pages(seed, pages=4, size=6)
    found, truth = arrange(sparse), arrange(full)
    assert found.is_optimal
    assert found.pages == truth.pages
    assert found.cost - truth.cost == pytest.approx(0, abs=1e-4)


def test_a_join_that_is_not_listed_is_not_made_where_unlikely_ones_are_ruled_out():
    # nothing fits right of 1 or left of 2; a page costs more than the lowest join that is listed
    scores = np.array([5.0, -9.0, 5.0, -9.0], np.float32)
    starts, columns = np.array([0, 2, 2, 4, 4]), np.array([1, 3, 3, 1], np.int32)
    margins = Margins(*np.full((2, 4), -6, np.float32), np.full(4, 8, np.float32))
    listed = Compatibility(
        tuple("abcd"), scores, np.zeros(4, np.int16), row_starts=starts, columns=columns, margins=margins
    )
    joins = {(join.left, join.right) for join in arrange(listed).joins}
    assert joins == {("a", "b"), ("c", "d")}
    assert len(arrange(listed, options=ArrangementOptions(least_share=0)).joins) == 3
