from typing import Any

from deshred.review.queue import find_control
from deshred.review.session import Event

PAGES = [["a", "b", "c"]]


def answered(number: int, **cause: Any) -> Event:
    known = {"question": "right of a", "choice": "0", "shown": ["b", "end"], "now": "b", "last": ""}
    return Event(f"e{number}", "answer", cause={**known, **cause})


def test_one_in_twenty_answers_is_asked_again_with_its_options_turned_round() -> None:
    events = [answered(k) for k in range(20)]
    assert find_control(events[:19], (), PAGES) is None
    control = find_control(events, (), PAGES)
    assert control is not None
    assert (control.again, control.key) == ("e0", "again e0")
    assert [option.partner for option in control.options] == [None, "b"]
    checked = Event("c", "control", cause={"control": "e0", "same": True})
    assert find_control([*events, checked], (), PAGES) is None


def test_what_cannot_be_asked_again_is_passed_over() -> None:
    odd = [answered(0, choice="cannot-tell"), answered(1, shown=["gone"]), answered(2, question="page of a")]
    control = find_control([*odd, *(answered(k) for k in range(3, 20))], (), PAGES)
    assert control is not None
    assert control.again == "e3"


def test_answers_that_were_taken_back_do_not_count() -> None:
    events = [answered(k) for k in range(20)]
    assert find_control(events, {"e5"}, PAGES) is None
