"""Scores that stand for numbers of a few decimals are taken as those."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.arrangement.problem.scores import in_decimals, score_range
from tests.arrangement.brute_force import pile


@pytest.mark.parametrize("decimals", [0, 1, 2, 3])
def test_scores_of_few_decimals_are_taken_as_such(decimals):
    exact = np.round(np.random.default_rng(2).uniform(-3, 3, (30, 30)), decimals)
    exact[3, 4] = -np.inf
    shreds = pile(exact.astype(np.float32))
    scores, range_ = in_decimals(shreds.scores, score_range(shreds))
    assert (scores == exact).all()
    assert range_.step == pytest.approx(10.0**-decimals)
    off_diagonal = exact[~np.eye(30, dtype=bool)]
    assert range_.highest == off_diagonal.max()
    assert range_.lowest == off_diagonal[np.isfinite(off_diagonal)].min()


def test_other_scores_stay_as_they_are():
    shreds = pile(np.random.default_rng(3).normal(size=(30, 30)).astype(np.float32))
    scores, range_ = in_decimals(shreds.scores, score_range(shreds))
    assert scores is shreds.scores
    assert range_.step == 0
    large = pile(np.full((30, 30), 123456.0, np.float32))  # no room for decimals in single precision
    assert in_decimals(large.scores, score_range(large))[1].step == 0
