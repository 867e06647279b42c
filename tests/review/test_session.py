from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deshred.elements import Constraints
from deshred.errors import InputError
from deshred.review.session import (
    EVENT,
    Event,
    find_undone,
    fold,
    merge,
    next_redo,
    next_undo,
    read_event,
    read_events,
)
from deshred.review.statements import Statement, claims_of


def join(left: str, right: str) -> Statement:
    return Statement("join", (left, right))


def event(id_: str, *say: Statement, actor: str = "ann", unsay: tuple[Statement, ...] = ()) -> Event:
    return Event(id_, "pin", say, unsay, actor=actor)


def undo(id_: str, of: str, actor: str = "ann") -> Event:
    return Event(id_, "undo", of=of, actor=actor)


def redo(id_: str, of: str, actor: str = "ann") -> Event:
    return Event(id_, "redo", of=of, actor=actor)


def test_a_newer_statement_puts_the_older_aside_and_says_so() -> None:
    standing = fold([event("1", join("a", "b")), event("2", join("a", "c"))])
    assert standing.statements == (join("a", "c"),)
    assert standing.replaced["2"] == (join("a", "b"),)


def test_undo_brings_back_what_was_put_aside() -> None:
    standing = fold([event("1", join("a", "b")), event("2", join("a", "c")), undo("3", "2")])
    assert standing.statements == (join("a", "b"),)


def test_undo_of_an_old_event_leaves_what_came_later() -> None:
    standing = fold([event("1", join("a", "b")), event("2", join("b", "c")), undo("3", "1")])
    assert standing.statements == (join("b", "c"),)


def test_undo_does_not_bring_back_what_something_newer_contradicts() -> None:
    events = [event("1", join("a", "b")), event("2", join("a", "c")), event("3", join("d", "b"))]
    assert fold([*events, undo("4", "2")]).statements == (join("d", "b"),)


def test_redo_makes_it_stand_again() -> None:
    standing = fold([event("1", join("a", "b")), undo("2", "1"), redo("3", "1")])
    assert standing.constraints == Constraints(required={("a", "b")})


def test_unsaying_takes_back_one_statement_of_many() -> None:
    events = [event("1", join("a", "b"), join("b", "c")), event("2", unsay=(join("a", "b"),))]
    assert fold(events).statements == (join("b", "c"),)
    assert set(fold([*events, undo("3", "2")]).statements) == {join("a", "b"), join("b", "c")}


def test_a_page_that_is_done_opens_again_when_one_of_its_joins_is_denied() -> None:
    events = [event("1", Statement("done", ("a", "b", "c"))), event("2", Statement("no-join", ("a", "b")))]
    assert fold(events).constraints == Constraints(forbidden={("a", "b")})


def test_everyone_undoes_their_own_last_action() -> None:
    events = [event("1", join("a", "b")), event("2", join("c", "d"), actor="bob")]
    assert (found := next_undo(events, "ann")) is not None
    assert found.id == "1"
    assert next_undo([*events, undo("3", "1")], "ann") is None


def test_redo_goes_forward_again_in_order_until_something_new_is_said() -> None:
    events = [event("1", join("a", "b")), event("2", join("c", "d")), undo("3", "2"), undo("4", "1")]
    assert (found := next_redo(events, "ann")) is not None
    assert found.id == "1"
    events.append(redo("5", "1"))
    assert (found := next_redo(events, "ann")) is not None
    assert found.id == "2"
    assert next_redo([*events, event("6", join("e", "f"))], "ann") is None


def test_two_reviews_become_one_and_their_disagreements_are_listed() -> None:
    mine = [event("1", join("a", "b")), event("2", join("x", "y"))]
    theirs = [
        event("7", join("a", "z"), actor="bob"),
        event("8", join("a", "c"), join("p", "q"), actor="bob"),
    ]
    merged = merge(mine, theirs)
    assert set(fold(merged.events).statements) == {join("a", "b"), join("x", "y"), join("p", "q")}
    assert [(one.statement, other.statement) for one, other in merged.disagreements] == [
        (join("a", "b"), join("a", "c"))
    ]


def test_merging_a_review_with_itself_changes_nothing() -> None:
    mine = [event("1", join("a", "b")), undo("2", "1"), event("3", join("a", "c"))]
    assert merge(mine, mine).events == tuple(mine)


@dataclass(frozen=True)
class Line:
    number: int
    time: str
    event: str
    fields: dict[str, Any] = field(default_factory=dict)


def test_events_come_back_from_the_journal_with_its_time() -> None:
    said = event("1", join("a", "b"))
    lines = [Line(0, "t0", "begin"), Line(1, "t1", EVENT, said.to_fields())]
    (found,) = read_events(lines)
    assert (found.say, found.time, found.number) == (said.say, "t1", 1)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"id": "1"},
        {"id": 1, "action": "pin"},
        {"id": "1", "action": "pin", "of": "0"},
        {"id": "1", "action": "undo"},
        {"id": "1", "action": "pin", "say": {}},
        {"id": "1", "action": "pin", "path": "/etc"},
        {"id": "x" * 200, "action": "pin"},
        {"id": "1", "action": "pin", "cause": []},
    ],
)
def test_an_event_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        read_event(fields)


IDS = st.sampled_from("abcde")
STATEMENTS = st.one_of(
    st.tuples(st.sampled_from(["join", "no-join"]), st.lists(IDS, min_size=2, max_size=2, unique=True)),
    st.tuples(st.sampled_from(["first", "last", "aside"]), st.lists(IDS, min_size=1, max_size=1)),
    st.tuples(st.just("done"), st.lists(IDS, min_size=1, max_size=4, unique=True)),
).map(lambda drawn: Statement(drawn[0], tuple(drawn[1])))
STEPS = st.lists(
    st.one_of(STATEMENTS, st.sampled_from(["undo", "redo"]), st.tuples(st.just("undo"), st.integers(0, 20))),
    max_size=20,
)


def play(steps: list[Any]) -> list[Event]:
    events: list[Event] = []
    for number, step in enumerate(steps):
        id_ = str(number)
        if isinstance(step, Statement):
            events.append(event(id_, step))
        elif isinstance(step, tuple):
            events.append(undo(id_, str(step[1])))
        else:
            about = next_undo(events, "ann") if step == "undo" else next_redo(events, "ann")
            if about is not None:
                events.append(Event(id_, step, of=about.id, actor="ann"))
    return events


@given(STEPS)
@settings(max_examples=200, deadline=None)
def test_whatever_is_said_undone_and_redone_no_two_statements_contradict(steps: list[Any]) -> None:
    standing = fold(play(steps))
    claims: dict[tuple[str, ...], str] = {}
    for statement in standing.statements:
        for key, value in claims_of(statement).items():
            assert claims.setdefault(key, value) == value


@given(STEPS)
@settings(max_examples=200, deadline=None)
def test_undone_events_might_as_well_never_have_been(steps: list[Any]) -> None:
    events = play(steps)
    undone = find_undone(events)
    kept = [e for e in events if not e.is_reversal and e.id not in undone]
    assert fold(events).statements == fold(kept).statements


@given(STEPS)
@settings(max_examples=100, deadline=None)
def test_undoing_everything_leaves_nothing(steps: list[Any]) -> None:
    events = play(steps)
    while (about := next_undo(events, "ann")) is not None:
        events.append(undo(f"u{len(events)}", about.id))
    assert fold(events).statements == ()
