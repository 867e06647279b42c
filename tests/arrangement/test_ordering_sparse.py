"""Lists of candidates instead of a full matrix."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, arrange
from deshred.elements import Compatibility, Constraints
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
