from __future__ import annotations

import numpy as np
import pytest

from deshred.compatibility.calibration import Calibration, find_margins, rate
from deshred.elements import Arrangement, Compatibility, Join, Slot


def _compatibility(scores: list[list[float]]) -> Compatibility:
    matrix = np.array(scores, np.float32)
    np.fill_diagonal(matrix, -np.inf)
    return Compatibility(tuple("abcd"[: len(matrix)]), matrix, np.zeros(matrix.shape, np.int16))


def test_a_margin_is_the_log_odds_against_all_rivals_on_the_poorer_side() -> None:
    compatibility = _compatibility([[0, 5, 1], [0, 0, 0], [0, 5, 0]])
    # a -> b: 4 nats ahead of a -> c, but level with c -> b
    (margin,) = find_margins(compatibility, [(0, 1)])
    assert margin == pytest.approx(-np.log(np.exp(-4) + np.exp(0)), abs=1e-3)


def test_sparse_and_dense_margins_agree_when_all_joins_are_listed() -> None:
    rng = np.random.default_rng(0)
    dense = _compatibility(rng.normal(0, 3, (4, 4)).tolist())
    rows, columns = np.nonzero(np.isfinite(dense.scores))
    sparse = Compatibility(
        dense.ids,
        dense.scores[rows, columns],
        dense.offsets[rows, columns],
        row_starts=np.searchsorted(rows, np.arange(5)),
        columns=columns.astype(np.int32),
    )
    pairs = [(0, 1), (1, 2), (3, 0)]
    np.testing.assert_allclose(find_margins(sparse, pairs), find_margins(dense, pairs), rtol=1e-5)


def test_joins_get_their_probability_and_verdict() -> None:
    compatibility = _compatibility([[0, 30, 0], [0, 0, 0.1], [0, 0, 0]])
    joins = (Join("a", "b", 30, 0), Join("b", "c", 0.1, 0))
    page = (Slot("a", 0), Slot("b", 0), Slot("c", 0))
    rated = rate(Arrangement((page,), joins, (), 0, 0), compatibility, Calibration(1, 0))
    assert [join.verdict for join in rated.joins] == ["sure", "open"]
    assert rated.joins[0].probability == pytest.approx(1, abs=1e-6)


def test_without_a_calibration_there_is_no_probability() -> None:
    arrangement = Arrangement(((Slot("a", 0), Slot("b", 0)),), (Join("a", "b", 1, 0),), (), 0, 0)
    assert rate(arrangement, _compatibility([[0, 1], [0, 0]]), None).joins[0].probability is None


def test_an_impossible_join_has_probability_zero() -> None:
    compatibility = _compatibility([[0, -np.inf, 3], [0, 0, 0], [0, 0, 0]])
    assert Calibration(1, 0).probability(find_margins(compatibility, [(0, 1)]))[0] < 1e-9
