"""Work out from all events of a review what holds now, with undo, redo and merging.

An event says some statements and takes some back. A newer statement puts aside older ones that contradict
it. Undo takes an event out of the fold, whatever came later: what it had put aside stands again, unless
something newer contradicts it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

from deshred.elements import Constraints
from deshred.errors import InputError
from deshred.review.statements import Statement, claims_of, read_statement, to_constraints

EVENT = "review"  # in the journal
REVERSALS = ("undo", "redo")
_MOST_NAME = 120


@dataclass(frozen=True)
class Event:
    """One action of a person."""

    id: str  # chosen by who sends it: a repeat is harmless
    action: str
    say: tuple[Statement, ...] = ()
    unsay: tuple[Statement, ...] = ()
    of: str = ""  # what an undo or redo is about
    actor: str = ""
    cause: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    time: str = ""  # as the journal has it
    number: int = -1

    def __post_init__(self) -> None:
        for name in ("id", "action", "of", "actor"):
            value = getattr(self, name)
            if not isinstance(value, str) or len(value) > _MOST_NAME:
                raise InputError(f"the {name} of an event is text of up to {_MOST_NAME} characters.")
        if not self.id or not self.action:
            raise InputError("an event needs an id and an action.")
        if (self.action in REVERSALS) != bool(self.of):
            raise InputError("an undo or redo, and nothing else, names the event it is about.")

    @property
    def is_reversal(self) -> bool:
        return self.action in REVERSALS

    def to_fields(self) -> dict[str, Any]:
        """As the journal keeps it; time and number are the journal's own."""
        return {
            "id": self.id,
            "action": self.action,
            "say": [statement.to_json() for statement in self.say],
            "unsay": [statement.to_json() for statement in self.unsay],
            "of": self.of,
            "actor": self.actor,
            "cause": dict(self.cause),
        }


def read_event(fields: Mapping[str, Any], *, time: str = "", number: int = -1) -> Event:
    """The inverse of `to_fields`, for what came from a file or over a wire."""
    unknown = set(fields) - {"id", "action", "say", "unsay", "of", "actor", "cause"}
    if unknown:
        raise InputError(f"an event has no {', '.join(sorted(map(str, unknown))[:5])}.")
    for name in ("say", "unsay"):
        if not isinstance(fields.get(name, []), list):
            raise InputError(f"{name} is a list of statements.")
    cause = fields.get("cause", {})
    if not isinstance(cause, Mapping):
        raise InputError("the cause of an event is a table.")
    return Event(
        id=fields.get("id", ""),
        action=fields.get("action", ""),
        say=tuple(map(read_statement, fields.get("say", []))),
        unsay=tuple(map(read_statement, fields.get("unsay", []))),
        of=fields.get("of", ""),
        actor=fields.get("actor", ""),
        cause=MappingProxyType(dict(cause)),
        time=time,
        number=number,
    )


class Line(Protocol):
    """What a review reads of an entry of the journal."""

    @property
    def number(self) -> int: ...
    @property
    def time(self) -> str: ...
    @property
    def event(self) -> str: ...
    @property
    def fields(self) -> Mapping[str, Any]: ...


def read_events(lines: Iterable[Line]) -> tuple[Event, ...]:
    """The events of a review among all lines of a journal."""
    return tuple(
        read_event(line.fields, time=line.time, number=line.number) for line in lines if line.event == EVENT
    )


@dataclass(frozen=True)
class Said:
    """A statement that stands, and the event that made it."""

    statement: Statement
    event: Event


@dataclass(frozen=True, eq=False)
class Standing:
    """What a review amounts to after all its events."""

    said: tuple[Said, ...]  # in the order in which they were said
    undone: frozenset[str]  # events that do not count
    replaced: Mapping[str, tuple[Statement, ...]]  # by event: what it put aside
    base: Constraints

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        return tuple(one.statement for one in self.said)

    @cached_property
    def constraints(self) -> Constraints:
        return to_constraints(self.statements, self.base)

    @cached_property
    def by_join(self) -> Mapping[tuple[str, str], Said]:
        """Who stated a join that stands."""
        return {join: one for one in self.said for join in one.statement.joins}

    def of_kind(self, *kinds: str) -> tuple[Said, ...]:
        """The statements of some kinds."""
        return tuple(one for one in self.said if one.statement.kind in kinds)


def fold(events: Iterable[Event], base: Constraints | None = None) -> Standing:
    """What stands after these events."""
    events = tuple(events)
    undone = find_undone(events)
    standing: dict[Statement, Said] = {}
    holders: dict[tuple[str, ...], dict[Statement, str]] = {}
    replaced: dict[str, tuple[Statement, ...]] = {}

    def drop(statement: Statement) -> None:
        del standing[statement]
        for key in claims_of(statement):
            del holders[key][statement]

    for event in events:
        if event.is_reversal or event.id in undone:
            continue
        for statement in event.unsay:
            if statement in standing:
                drop(statement)
        aside: list[Statement] = []
        for statement in event.say:
            claims = claims_of(statement)
            rivals = {
                other
                for key, value in claims.items()
                for other, held in holders.get(key, {}).items()
                if held != value
            }
            for rival in sorted(rivals):
                drop(rival)
                aside.append(rival)
            if statement not in standing:
                standing[statement] = Said(statement, event)
                for key, value in claims.items():
                    holders.setdefault(key, {})[statement] = value
        replaced[event.id] = tuple(aside)
    return Standing(tuple(standing.values()), undone, replaced, base or Constraints())


def find_undone(events: Iterable[Event]) -> frozenset[str]:
    """Events whose last reversal is an undo."""
    undone: set[str] = set()
    for event in events:
        if event.action == "undo":
            undone.add(event.of)
        elif event.action == "redo":
            undone.discard(event.of)
    return frozenset(undone)


def next_undo(events: Sequence[Event], actor: str) -> Event | None:
    """The last action of a person that still counts."""
    undone = find_undone(events)
    own = (e for e in reversed(events) if e.actor == actor and not e.is_reversal and e.id not in undone)
    return next(own, None)


def next_redo(events: Sequence[Event], actor: str) -> Event | None:
    """What a person's last undo took back; nothing, once they have acted since."""
    undone = find_undone(events)
    by_id = {event.id: event for event in events}
    for event in reversed(events):
        if event.actor != actor:
            continue
        if not event.is_reversal:
            return None
        if event.action == "undo" and event.of in undone:
            return by_id.get(event.of)
    return None


@dataclass(frozen=True)
class Merged:
    """Two reviews of one pile as one, and where they disagree."""

    events: tuple[Event, ...]
    disagreements: tuple[tuple[Said, Said], ...]  # mine, theirs


def merge(mine: Sequence[Event], theirs: Sequence[Event]) -> Merged:
    """What stands in either review; where they contradict each other mine holds, and the pair is listed."""
    known = {event.id for event in mine}
    here, there = fold(mine), fold(theirs)
    claims = {key: (value, one) for one in here.said for key, value in claims_of(one.statement).items()}
    clashing: dict[Statement, tuple[Said, Said]] = {}
    for one in there.said:
        for key, value in claims_of(one.statement).items():
            if key in claims and claims[key][0] != value:
                clashing.setdefault(one.statement, (claims[key][1], one))
    welcome = {one.statement for one in there.said} - set(clashing)
    added = (_bring(event, known, welcome) for event in theirs if event.id not in known)
    return Merged((*mine, *(event for event in added if event is not None)), tuple(clashing.values()))


def _bring(event: Event, known: set[str], welcome: set[Statement]) -> Event | None:
    """What of an event counts in another review: what stands, and reversals of what both share."""
    if event.is_reversal:
        return event if event.of in known else None
    say = tuple(statement for statement in event.say if statement in welcome)
    return replace(event, say=say, unsay=()) if say else None
