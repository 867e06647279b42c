from typing import Any

import pytest

from deshred.questions import Question
from deshred.review.queue import find_checks, merge_checks
from deshred.review.session import Event, fold
from deshred.review.statements import Statement

PAGES = [["a", "b", "c"]]
NEXT = Question("c", "right", None, (), 0.05, 0.02, 3.0, 0)


def answered(number: int, **cause: Any) -> Event:
    known = {"question": "right of a", "choice": "0", "shown": ["b", "end"], "now": "b", "last": ""}
    return Event(f"e{number}", "answer", cause={**known, "belief": "0.99", **cause})


def check(events: list[Event]) -> tuple[Question, ...]:
    return find_checks(events, fold(events), PAGES)


def test_the_answer_that_was_least_expected_is_asked_again_first_with_its_options_turned_round() -> None:
    first, second = check([answered(0), answered(1, belief="0.1")])
    assert (first.again, first.key) == ("e1", "again e1")
    assert [option.partner for option in first.options] == [None, "b"]
    assert first.doubt > 0.1 > 0.001 > second.doubt


def test_who_contradicts_himself_is_asked_more() -> None:
    slips = [Event(f"c{k}", "control", cause={"control": f"x{k}", "same": False}) for k in range(4)]
    steady = [Event(f"c{k}", "control", cause={"control": f"x{k}", "same": True}) for k in range(4)]
    assert check([answered(0), *slips])[0].doubt > 2 * check([answered(0), *steady])[0].doubt


@pytest.mark.parametrize("action", ["control", "kept"])
def test_what_was_confirmed_is_not_asked_a_third_time(action: str) -> None:
    cause = {"control" if action == "control" else "kept": "e0", "same": True}
    assert not check([answered(0, belief="0.1"), Event("c", action, cause=cause)])


def test_a_check_comes_when_it_is_worth_more_than_what_is_next_and_not_at_once() -> None:
    events = [answered(0, belief="0.05"), *(answered(k) for k in range(1, 5))]
    assert merge_checks([NEXT], check(events), events)[0].again == "e0"
    assert merge_checks([NEXT], check(events[:3]), events[:3]) == (NEXT,)
    assert merge_checks([], check(events[:3]), events[:3])[0].again == "e0", "nothing else is left to ask"


def test_sure_answers_are_left_alone_but_for_one_in_twenty() -> None:
    events = [answered(k) for k in range(19)]
    assert merge_checks([NEXT], check(events), events) == (NEXT,)
    events.append(answered(19))
    assert merge_checks([NEXT], check(events), events)[0].again == "e0"
    events.append(Event("c", "control", cause={"control": "e0", "same": True}))
    assert merge_checks([NEXT], check(events), events) == (NEXT,)


def test_what_cannot_be_asked_again_is_passed_over() -> None:
    odd = [answered(0, choice="cannot-tell"), answered(1, shown=["gone"]), answered(2, question="page of a")]
    assert [one.again for one in check([*odd, answered(3)])] == ["e3"]


def test_answers_that_stand_no_more_are_not_checked() -> None:
    said = Event("e0", "answer", (Statement("join", ("a", "b")),), cause=answered(0).cause)
    assert check([said])
    assert not check([said, Event("u", "undo", of="e0")])
    assert not check([said, Event("n", "x", (Statement("no-join", ("a", "b")),))])


def test_that_a_page_continues_is_asked_again_once_nothing_fits_there() -> None:
    cause = {"question": "page of a", "choice": "right", "shown": [], "last": "c", "belief": "0.9"}
    glance = Event("e0", "answer", (Statement("first", ("a",)), Statement("not-last", ("c",))), cause=cause)
    assert check([glance])[0].doubt < 0.1
    said = (Statement("no-join", ("c", "b")),)
    none = Event(
        "e1", "answer", said, cause={**answered(1).cause, "question": "right of c", "choice": "none"}
    )
    found = {one.again: one.doubt for one in check([glance, none])}
    assert found["e0"] >= 0.5


def test_a_plain_no_is_asked_again_once_its_shred_fits_nowhere_else() -> None:
    def refuse(number: int, shred: str, *shown: str) -> Event:
        said = tuple(Statement("no-join", (shred, one)) for one in shown)
        cause = {"question": f"right of {shred}", "choice": "none", "shown": list(shown), "belief": "0.8"}
        return Event(f"e{number}", "answer", said, cause=cause)

    events = [refuse(0, "a", "b"), refuse(1, "c", "b", "a")]
    assert {one.again: one.doubt > 0.4 for one in check(events)} == {"e0": False, "e1": False}
    events.append(refuse(2, "a", "c", "b"))
    assert {one.again: one.doubt > 0.4 for one in check(events)} == {"e0": True, "e1": False, "e2": False}
