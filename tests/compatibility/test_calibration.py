from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.compatibility.calibration import count_ties, find_leads, is_beaten, rate
from deshred.elements import Arrangement, Calibration, Compatibility, Join, Margins, PageBreak, Slot
from tests.arrangement.drawn_piles import to_sparse


def _compatibility(scores: list[list[float]]) -> Compatibility:
    matrix = np.array(scores, np.float32)
    np.fill_diagonal(matrix, -np.inf)
    return Compatibility(tuple("abcd"[: len(matrix)]), matrix, np.zeros(matrix.shape, np.int16))


def test_a_lead_is_the_log_odds_against_all_rivals_on_the_poorer_side() -> None:
    compatibility = _compatibility([[0, 5, 1], [0, 0, 0], [0, 5, 0]])
    # a -> b: 4 nats ahead of a -> c, but level with c -> b
    (lead,) = find_leads(compatibility, [(0, 1)])
    assert lead == pytest.approx(-np.log(np.exp(-4) + np.exp(0)), abs=1e-3)


def test_sparse_and_dense_leads_agree_when_all_joins_are_listed() -> None:
    rng = np.random.default_rng(0)
    dense = _compatibility(rng.normal(0, 3, (4, 4)).tolist())
    sparse = to_sparse(dense)
    pairs = [(0, 1), (1, 2), (3, 0)]
    np.testing.assert_allclose(find_leads(sparse, pairs), find_leads(dense, pairs), rtol=1e-5)


def test_joins_get_their_probability_and_verdict() -> None:
    compatibility = _compatibility([[0, 30, 0], [0, 0, 0.1], [0, 0, 0]])
    joins = (Join("a", "b", 30, 0), Join("b", "c", 0.1, 0))
    page = (Slot("a", 0), Slot("b", 0), Slot("c", 0))
    rated = rate(Arrangement((page,), joins, (), 0, 0), replace(compatibility, calibration=Calibration(1, 0)))
    assert [join.verdict for join in rated.joins] == ["sure", "open"]
    assert rated.joins[0].probability == pytest.approx(1, abs=1e-6)


def test_of_joins_that_tie_none_is_more_probable_than_its_share_of_them() -> None:
    # b and c are one and the same file: both fit a and d alike, and their order is a coin toss
    compatibility = _compatibility([[0, 30, 30, 0], [0, 0, 2, 30], [0, 2, 0, 30], [0, 0, 0, 0]])
    assert count_ties(compatibility, [(0, 1), (1, 2), (2, 3), (0, 3)]).tolist() == [2, 1, 2, 1]
    joins = (Join("a", "b", 30, 0), Join("b", "c", 2, 0), Join("c", "d", 30, 0))
    page = tuple(Slot(name, 0) for name in "abcd")
    certain = replace(compatibility, calibration=Calibration(1, 20))  # whatever leads: all but certain
    first, second, third = rate(Arrangement((page,), joins, (), 0, 0), certain).joins
    assert (first.probability, third.probability) == (0.5, 0.5)
    assert second.probability is not None
    assert second.probability > 0.9


def test_ties_of_listed_joins_are_those_of_the_full_matrix() -> None:
    rng = np.random.default_rng(0)
    dense = _compatibility(rng.integers(0, 3, (4, 4)).tolist())
    pairs = [(0, 1), (1, 2), (3, 0)]
    assert count_ties(to_sparse(dense), pairs).tolist() == count_ties(dense, pairs).tolist()


def test_without_a_calibration_there_is_no_probability() -> None:
    arrangement = Arrangement(((Slot("a", 0), Slot("b", 0)),), (Join("a", "b", 1, 0),), (), 0, 0)
    assert rate(arrangement, _compatibility([[0, 1], [0, 0]])).joins[0].probability is None


def test_an_impossible_join_has_probability_zero() -> None:
    compatibility = _compatibility([[0, -np.inf, 3], [0, 0, 0], [0, 0, 0]])
    assert Calibration(1, 0).probability(find_leads(compatibility, [(0, 1)]))[0] < 1e-9


def test_a_page_break_is_rated_in_the_same_unit_against_all_joins_of_its_edges() -> None:
    compatibility = _compatibility([[0, 2, 1], [0, 0, 0], [0, 5, 0]])
    margins = Margins(*np.array([[0, 4, 0], [3, 0, 0], [8, 8, 8]], np.float32))
    calibrated = replace(compatibility, margins=margins, calibration=Calibration(0.5, 0.1))
    pages = ((Slot("a", 0),), (Slot("b", 0), Slot("c", 0)))
    answer = Arrangement(pages, (Join("b", "c", 0, 0),), (PageBreak("a", "b"),), 0, 0)
    # the end of a (3 nats) and the start of b (4) against a -> b and a -> c, and against a -> b and c -> b
    forth, back = 7 - np.logaddexp(2, 1), 7 - np.logaddexp(2, 5)
    expected = 1 / (1 + np.exp(-(0.5 * -np.logaddexp(-forth, -back) + 0.1)))
    assert rate(answer, calibrated).breaks[0].probability == pytest.approx(expected, abs=1e-6)
    assert rate(answer, replace(calibrated, margins=None)).breaks[0].probability is None


def test_by_how_much_a_join_is_beaten_says_nothing_but_an_impossible_one_stays_impossible() -> None:
    slightly = _compatibility([[0, 1, 6], [0, 0, 0], [0, 0, 0]])
    utterly = _compatibility([[0, 1, 26], [0, 0, 0], [0, 0, 0]])
    never = _compatibility([[0, -np.inf, 6], [0, 0, 0], [0, 0, 0]])
    first, second, third = (find_leads(pile, [(0, 1)])[0] for pile in (slightly, utterly, never))
    assert first == second < 0
    assert third < first - 10


def test_a_beaten_join_is_as_probable_as_such_joins_were_found_to_be() -> None:
    compatibility = _compatibility([[0, 1, 26], [0, 0, 30], [0, 0, 0]])
    joins = (Join("a", "b", 1, 0), Join("b", "c", 30, 0))
    page = (Slot("a", 0), Slot("b", 0), Slot("c", 0))
    arrangement = Arrangement((page,), joins, (), 0, 0)
    on_curve = rate(arrangement, replace(compatibility, calibration=Calibration(1, 0)))
    counted = rate(arrangement, replace(compatibility, calibration=Calibration(1, 0, beaten=0.375)))
    assert counted.joins[0].probability == 0.375 != on_curve.joins[0].probability
    assert counted.joins[1] == on_curve.joins[1]


def test_a_join_that_cannot_be_is_not_called_beaten() -> None:
    never = _compatibility([[0, -np.inf, 6], [0, 0, 0], [0, 0, 0]])
    assert not is_beaten(find_leads(never, [(0, 1)]))[0]
