from deshred.cases import Entry
from deshred.review.protests import KEPT, SOLVED, Protest, read_protests
from deshred.review.session import Event

ANSWERED = Event("a", "answer")


def solved(name: str, rise: str = "5.5") -> Entry:
    return Entry(1, "", SOLVED, {"protest": name, "rise": rise}, "")


def test_a_dear_answer_waits_for_a_second_look() -> None:
    assert read_protests([solved("a")], [ANSWERED], ()) == {"a": Protest(ANSWERED, 5.5)}


def test_what_was_kept_or_taken_back_waits_no_more() -> None:
    kept = Event("k", KEPT, cause={"kept": "a"})
    assert not read_protests([solved("a")], [ANSWERED, kept], ())
    assert not read_protests([solved("a")], [ANSWERED], {"a"})


def test_a_change_of_mind_is_looked_at_and_an_equal_answer_is_not() -> None:
    changed, same = (Event(str(k), "control", cause={"control": "a", "same": k}) for k in (False, True))
    assert read_protests([], [ANSWERED, changed], ()) == {"a": Protest(ANSWERED, 0.0)}
    assert not read_protests([], [ANSWERED, same], ())
