"""Quick looks at the full matrix find what slow ones find."""

from __future__ import annotations

import numpy as np
import pytest
from brute_force import pile

from deshred.arrangement.costs import DenseCosts, PageEnds, score_range
from deshred.arrangement.fixings import PageCount, fix
from deshred.elements import Constraints


@pytest.fixture(params=[np.float32, np.float64])
def costs(request):
    rng = np.random.default_rng(0)
    scores = rng.normal(-1000, 1e-3, (40, 40)).astype(request.param)  # hardly told apart in float32
    scores[rng.random((40, 40)) < 0.1] = -np.inf
    scores[3, 7] = -np.inf
    np.fill_diagonal(scores, np.nan)
    shreds = pile(scores.astype(np.float32))
    made = DenseCosts(scores, PageEnds(*rng.normal(size=(2, 40))), PageCount(1, 4), score_range(shreds))
    constraints = Constraints(
        required=frozenset({("s3", "s7")}),
        forbidden=frozenset({("s1", "s2"), ("s9", "s2")}),
        first=frozenset({"s5"}),
        last=frozenset({"s6"}),
    )
    made.fix(fix(shreds.ids, constraints, made.pages))
    return made


@pytest.mark.parametrize("threshold", [-1e-3, 0.0, 1e-3, 1e-2])
def test_arcs_below_a_threshold_are_those_of_the_slow_twin(costs, threshold):
    out, into = 1e-3 * np.random.default_rng(1).normal(size=(2, 41))
    quick, slow = costs.arcs_below(out, into, threshold), costs.all_arcs_below(out, into, threshold)
    assert quick.tails.tolist() == slow.tails.tolist()
    assert quick.heads.tolist() == slow.heads.tolist()
    np.testing.assert_allclose(quick.reduced, slow.reduced, atol=1e-12)


def test_columns_are_those_of_the_rows(costs):
    rows = np.stack([costs.row(i) for i in range(41)])
    np.testing.assert_array_equal(
        np.stack([costs.column(j) for j in range(41)], axis=1)[:, :40], rows[:, :40]
    )
    costs.fix(
        fix(tuple(f"s{i}" for i in range(40)), Constraints(forbidden=frozenset({("s1", "s2")})), costs.pages)
    )
    rows = np.stack([costs.row(i) for i in range(41)])
    np.testing.assert_array_equal(
        np.stack([costs.column(j) for j in range(41)], axis=1)[:, :40], rows[:, :40]
    )


def test_least_reduced_costs_are_those_of_all_arcs_but_the_tours(costs):
    out, into = 1e-3 * np.random.default_rng(1).normal(size=(2, 41))
    right = np.append(np.roll(np.arange(40), -1), -1)
    full = np.stack([costs.row(i) for i in range(41)]) - out[:, None] - into
    full[np.arange(40), right[:40]] = np.inf
    least = costs.least_reduced(out, into, right)
    np.testing.assert_allclose(least.out, full.min(axis=1))
    np.testing.assert_allclose(least.into, full.min(axis=0))
