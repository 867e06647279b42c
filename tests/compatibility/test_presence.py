"""Whether the neighbor of an edge is in the pile at all, and whether it is the one that was found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.compatibility.calibration import rate
from deshred.compatibility.presence import BeliefCurve, JoinFacts, PresenceCurve
from deshred.elements import Arrangement, Calibration, Compatibility, Join, Margins, Slot


def facts(leads: list[float], advantages: list[float], *, share: float = 1.0) -> JoinFacts:
    count = len(leads)
    return JoinFacts(np.array(leads), np.array(advantages), np.full(count, 30.0), np.full(count, share))


def test_a_join_must_fit_as_well_as_its_ink_lets_expect() -> None:
    """Two joins lead alike; of two edges full of ink, one beats a page break by as much as true joins do."""
    scores = np.full((4, 4), -90, np.float32)
    scores[0, 1], scores[2, 3] = 40, -75
    starts, ends = np.array([[0, -30, 0, -30], [-30, 0, -30, 0]], np.float32)
    margins = Margins(starts, ends, np.full(4, 8, np.float32))
    pile = Compatibility(tuple("abcd"), scores, np.zeros((4, 4), np.int16), margins=margins)
    joins = (Join("a", "b", 40.0, 0), Join("c", "d", -75.0, 0))
    pages = tuple((Slot(join.left, 0), Slot(join.right, 0)) for join in joins)
    arrangement = Arrangement(pages, joins, (), 0, 0)
    plain = rate(arrangement, replace(pile, calibration=Calibration(1, 0)))
    strict = rate(arrangement, replace(pile, calibration=Calibration(1, 0, asks_for_fit=True)))
    assert [join.verdict for join in plain.joins] == ["sure", "sure"]
    assert strict.joins[0].verdict == "sure"
    assert strict.joins[1].verdict != "sure"


def test_a_pile_that_lost_many_shreds_doubts_joins_that_a_complete_one_believes() -> None:
    """The same middling join, among joins that all fit, and among joins of which half do not."""
    good, bad, middling = 110.0, 20.0, 50.0
    complete = PresenceCurve().probability(facts([8.0] * 41, [good] * 40 + [middling]))
    lossy = PresenceCurve().probability(facts([8.0] * 41, [good, bad] * 20 + [middling]))
    assert complete[-1] > 0.8
    assert lossy[-1] < complete[-1] - 0.2
    assert lossy[0] > 0.99  # what fits is believed in either
    assert lossy[1] < 0.1


def test_a_join_that_few_likely_orders_make_is_doubted_however_well_it_fits() -> None:
    often, seldom = (PresenceCurve().probability(facts([20.0], [110.0], share=s))[0] for s in (1.0, 0.05))
    assert often > 0.99
    assert seldom < 0.3


def test_more_of_the_likely_orders_never_make_a_join_less_probable() -> None:
    curve = PresenceCurve()
    probabilities = [curve.probability(facts([3.0], [80.0], share=s))[0] for s in np.linspace(0, 1, 21)]
    assert (np.diff(probabilities) >= 0).all()


@pytest.mark.parametrize("share", [None, 1.0])
def test_a_join_without_a_share_is_not_believed_more_than_its_lead_allows(share: float | None) -> None:
    scores = np.full((3, 3), -90, np.float32)
    scores[0, 1], scores[2, 1] = 40, 39.9  # two that fit the same edge
    margins = Margins(*np.array([[0, -30, 0], [-30, 0, -30], [8, 8, 8]], np.float32))
    pile = Compatibility(tuple("abc"), scores, np.zeros((3, 3), np.int16), margins=margins)
    arrangement = Arrangement(
        ((Slot("a", 0), Slot("b", 0)),), (Join("a", "b", 40.0, 0, share=share),), (), 0, 0
    )
    rated = rate(arrangement, replace(pile, calibration=Calibration(1, 0, asks_for_fit=True)))
    assert (rated.joins[0].probability < 0.6) == (share is None)


def test_a_close_look_moves_a_probability_towards_what_it_saw() -> None:
    beliefs = np.array([-10.0, 0.0, 10.0])
    mixed = BeliefCurve().mix(np.full(3, 0.7), beliefs)
    assert (np.diff(mixed) > 0).all()
    assert mixed[0] < 0.2
    assert mixed[2] > 0.95


def test_a_join_that_is_not_among_the_best_of_its_edges_is_not_believed() -> None:
    mixed = BeliefCurve().mix(np.array([0.7]), np.array([np.nan]))
    assert mixed[0] < 0.5


def test_beliefs_count_where_joins_are_rated() -> None:
    scores = np.zeros((3, 3), np.float32)
    scores[0, 1] = 4
    margins = Margins(*np.zeros((2, 3), np.float32), np.full(3, 8, np.float32))
    pile = Compatibility(tuple("abc"), scores, np.zeros((3, 3), np.int16), margins=margins)
    pile = replace(pile, calibration=Calibration(1, 0, asks_for_fit=True))
    arrangement = Arrangement(((Slot("a", 0), Slot("b", 0)),), (Join("a", "b", 4.0, 0),), (), 0, 0)
    beliefs = np.full((3, 3), np.nan, np.float32)
    beliefs[0, 1] = -12
    doubted = replace(pile, beliefs=beliefs)
    plain, doubtful = (rate(arrangement, some).joins[0].probability for some in (pile, doubted))
    assert plain is not None
    assert doubtful is not None
    assert doubtful < 0.5 < 0.9 < plain
