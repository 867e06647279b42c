from __future__ import annotations

import pytest

from deshred.questions import QuestionOptions
from deshred.review.lessons import Answered, Consistency, learn, measure_consistency, read_answers
from deshred.review.session import Event

PLAIN = QuestionOptions()


def joins(trust: float, held: bool, count: int, seconds: float = 0.0) -> list[Answered]:
    return [Answered("right", False, trust, held, 1, seconds)] * count


def ends(trust: float, held: bool, count: int) -> list[Answered]:
    return [Answered("left", True, trust, held, 3, 0.0)] * count


def test_without_answers_nothing_is_learned() -> None:
    assert learn([], PLAIN) == PLAIN


def test_answers_as_expected_change_little() -> None:
    found = learn([*joins(0.8, True, 8), *joins(0.8, False, 2)], PLAIN)
    assert found.trust_slope == pytest.approx(1, abs=0.1)
    assert found.trust_intercept == pytest.approx(0, abs=0.1)


def test_a_machine_that_is_always_right_is_trusted_more_but_not_at_once() -> None:
    few, many = (learn(joins(0.8, True, count), PLAIN) for count in (3, 60))
    odds = 1.386
    told = [one.trust_slope * odds + one.trust_intercept for one in (few, many)]
    assert odds < told[0] < told[1]
    assert told[0] < odds + 0.3


def test_page_ends_that_do_not_hold_are_doubted_from_then_on() -> None:
    assert learn(ends(0.9, False, 6), PLAIN).end_nats < -1
    assert learn(ends(0.6, True, 6), PLAIN).end_nats > 0
    assert learn(ends(0.6, True, 6), PLAIN).trust_slope == 1


def test_times_are_those_of_the_people_at_work() -> None:
    assert learn(joins(0.8, True, 6, seconds=7.0), PLAIN).seconds == 7
    assert learn(joins(0.8, True, 3, seconds=7.0), PLAIN).seconds == PLAIN.seconds


@pytest.mark.parametrize(
    ("side", "choice", "now", "held"),
    [
        ("right", "0", "b", True),
        ("right", "1", "b", False),
        ("right", "none", "b", False),
        ("left", "end", None, True),
        ("left", "end", "b", False),
        ("page", "whole", None, True),
        ("page", "left", None, False),
    ],
)
def test_an_answer_tells_whether_the_board_was_right(
    side: str, choice: str, now: str | None, held: bool
) -> None:
    cause = {"question": f"{side} of a", "choice": choice, "now": now, "shown": ["b", "end"], "doubt": "0.25"}
    event = Event("1", "answer", cause=cause)
    (found,) = read_answers([event])
    assert found.held is held
    assert found.trust == 0.75
    assert not read_answers([event], {"1"})


def test_who_cannot_tell_teaches_nothing() -> None:
    cause = {"question": "right of a", "choice": "cannot-tell", "now": "b", "shown": ["b"], "doubt": "0.2"}
    assert not read_answers([Event("1", "answer", cause=cause)])


def test_consistency_counts_questions_that_came_twice() -> None:
    controls = [Event(str(k), "control", cause={"control": "x", "same": k > 0}) for k in range(3)]
    assert measure_consistency(controls) == Consistency(3, 2)
