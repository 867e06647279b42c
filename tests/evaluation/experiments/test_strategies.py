"""Which join is asked first, on piles small enough to see it."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.elements import Join
from deshred.evaluation.experiments.strategies import STRATEGIES, Question, believe
from tests.arrangement.brute_force import pile


def question(joins: tuple[Join, ...] = (), asked: frozenset[tuple[int, int]] = frozenset()) -> Question:
    costs = np.random.default_rng(0).uniform(0, 5, (4, 4))
    pairs = np.array([[0, 1], [1, 2], [2, 3]])
    return Question(costs, pairs, joins, np.full((4, 4), 0.1), asked, np.random.default_rng(1))


JOINS = (
    Join("a", "b", 1.0, 0, 0.9, 0.5),
    Join("b", "c", 1.0, 0, 0.2, 3.0),
    Join("c", "d", 1.0, 0, 0.6, 0.1),
)


def test_uncertain_rows_are_asked_first_and_decided_ones_last() -> None:
    costs = np.array([[np.inf, 0.0, 5.0], [5.0, np.inf, 4.9], [3.0, 0.0, np.inf]])
    pairs = np.array([[0, 1], [1, 2]])
    question = Question(costs, pairs, (), np.zeros((3, 3)), frozenset(), np.random.default_rng(0))
    assert STRATEGIES["unc-l"](question).tolist() == [1, 0]
    assert STRATEGIES["opt-l"](question).tolist() == [0, 1]
    costs[1] = np.inf
    costs[1, 2] = -np.inf
    assert STRATEGIES["unc-l"](question).tolist() == [0, 1]


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_puts_every_join_in_line_once(name: str) -> None:
    assert sorted(STRATEGIES[name](question(JOINS)).tolist()) == [0, 1, 2]


def test_the_least_probable_and_the_cheapest_come_first_and_what_was_asked_last() -> None:
    assert STRATEGIES["probability"](question(JOINS)).tolist() == [1, 2, 0]
    assert STRATEGIES["price"](question(JOINS)).tolist() == [2, 0, 1]
    assert STRATEGIES["probability"](question(JOINS, frozenset({(1, 2)}))).tolist() == [2, 0, 1]


def test_belief_is_the_share_of_row_or_column_whichever_is_poorer() -> None:
    scores = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    np.fill_diagonal(scores, -np.inf)
    found = believe(pile(scores))
    weights = np.exp(scores.astype(float))
    for i in range(4):
        for j in range(4):
            poorer = min(weights[i, j] / weights[i].sum(), weights[i, j] / weights[:, j].sum())
            assert found[i, j] == pytest.approx(poorer)
