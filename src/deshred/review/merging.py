"""The reviews of two people in, one review out, and the questions that are left between them.

Each has reviewed a copy of one case. What either says counts; where they contradict each other, mine holds
until somebody has looked at both and settled it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deshred.arrangement import Atom, check_constraints, split
from deshred.cases import ARRANGEMENT, COMPATIBILITY, Case, Entry, open_case
from deshred.elements import Constraints
from deshred.errors import InfeasibleError, InputError, MismatchError
from deshred.review.session import EVENT, Event, Merged, Said, fold, merge, read_events
from deshred.review.statements import Statement, claims_of, read_statement, to_constraints

MERGED = "review-merged"
_BINARY = ("pair", "starts", "ends")  # claims that are a yes or a no


@dataclass(frozen=True)
class Agreement:
    """How far two people agree where both have spoken."""

    shared: int
    agreed: int
    kappa: float  # 1 is perfect, 0 is chance

    @property
    def share(self) -> float:
        return self.agreed / self.shared if self.shared else 1.0


@dataclass(frozen=True)
class MergeResult:
    """What a merge has brought."""

    events: int
    disputes: int
    agreement: Agreement


@dataclass(frozen=True)
class Dispute:
    """Two statements of which one is wrong."""

    number: int  # in the order of all that were merged
    mine: Statement
    theirs: Statement
    who_mine: str
    who_theirs: str


def merge_review(case: Case, other: str, ids: tuple[str, ...], base: Constraints) -> MergeResult:
    """Bring the review of a copy of this case into it."""
    theirs_case = open_case(other)
    _check_same(case, theirs_case)
    check = theirs_case.journal.check()
    if not check.is_sound:
        raise InputError(f"{other}: its journal is damaged: {check.problems[0]}. Nothing was merged.")
    entries = case.journal.read()
    mine, theirs = read_events(entries), read_events(theirs_case.journal.read())
    merged = merge_soundly(mine, theirs, ids, base)
    added = merged.events[len(mine) :]
    for event in added:
        case.journal.append(EVENT, **_with_origin(event).to_fields())
    agreement = compare(mine, theirs)
    known = sum(len(entry.fields.get("disputes", [])) for entry in entries if entry.event == MERGED)
    case.journal.append(
        MERGED,
        source=theirs_case.path.resolve().name,
        head=check.head,
        events=len(added),
        shared=agreement.shared,
        agreed=agreement.agreed,
        kappa=f"{agreement.kappa:.4f}",
        disputes=[_to_json(known + k, *pair) for k, pair in enumerate(merged.disagreements)],
    )
    return MergeResult(len(added), len(merged.disagreements), agreement)


def _check_same(mine: Case, theirs: Case) -> None:
    for name in (ARRANGEMENT, COMPATIBILITY):
        if mine.results.get(name) != theirs.results.get(name):
            raise MismatchError(
                f"{theirs.path}: its {name} is different. Only reviews of copies of one case can be merged."
            )


def _with_origin(event: Event) -> Event:
    said = {"time": event.time, "entry": event.number}
    return replace(event, cause={**event.cause, "merged": said})


def merge_soundly(
    mine: Sequence[Event], theirs: Sequence[Event], ids: tuple[str, ...], base: Constraints
) -> Merged:
    """`merge`, and what only an order can show to be at odds is left out and listed as well."""
    left_out: set[Statement] = set()
    extra: list[tuple[Said, Said]] = []
    while True:
        merged = merge(mine, [_without(event, left_out) for event in theirs])
        standing = fold(merged.events, base)
        try:
            check_constraints(ids, standing.constraints)
        except InfeasibleError as error:
            own = {one.statement for one in fold(mine, base).said}
            said = [one for one in standing.said if _is_part(one.statement, error.clash)]
            foreign = [one for one in said if one.statement not in own]
            if not foreign:
                return replace(merged, disagreements=(*merged.disagreements, *extra))
            rivals = [one for one in said if one is not foreign[-1]]
            extra.append((rivals[0] if rivals else foreign[-1], foreign[-1]))
            left_out.add(foreign[-1].statement)
        else:
            return replace(merged, disagreements=(*merged.disagreements, *extra))


def _without(event: Event, left_out: Collection[Statement]) -> Event:
    return replace(event, say=tuple(one for one in event.say if one not in left_out))


def _is_part(statement: Statement, clash: Iterable[object]) -> bool:
    """Whether a statement is behind one of the constraints at odds."""
    return any(isinstance(atom, Atom) and stands_behind(statement, atom) for atom in clash)


def stands_behind(statement: Statement, atom: Atom) -> bool:
    """Whether a constraint follows from a statement."""
    return atom in split(to_constraints([statement]))


def compare(mine: Sequence[Event], theirs: Sequence[Event]) -> Agreement:
    """How far two reviews agree on what both of them say yes or no to; Cohen's kappa."""
    here, there = _binary_claims(mine), _binary_claims(theirs)
    both = sorted(here.keys() & there.keys())
    agreed = sum(here[key] == there[key] for key in both)
    if not both:
        return Agreement(0, 0, 1.0)
    yes_here, yes_there = (sum(claims[key] == "yes" for key in both) / len(both) for claims in (here, there))
    chance = yes_here * yes_there + (1 - yes_here) * (1 - yes_there)
    kappa = 1.0 if chance >= 1 else (agreed / len(both) - chance) / (1 - chance)
    return Agreement(len(both), agreed, kappa)


def _binary_claims(events: Sequence[Event]) -> dict[tuple[str, ...], str]:
    return {
        key: value
        for one in fold(events).said
        for key, value in claims_of(one.statement).items()
        if key[0] in _BINARY
    }


def _to_json(number: int, mine: Said, theirs: Said) -> dict[str, Any]:
    return {
        "number": number,
        "mine": mine.statement.to_json(),
        "theirs": theirs.statement.to_json(),
        "who_mine": mine.event.actor,
        "who_theirs": theirs.event.actor,
    }


def open_disputes(
    merges: Iterable[Entry], events: Iterable[Event], undone: Collection[str]
) -> tuple[Dispute, ...]:
    """The disputes of all merges that nobody has settled."""
    settled = {event.cause.get("settles") for event in events if event.id not in undone}
    found = [
        Dispute(
            one["number"],
            read_statement(one["mine"]),
            read_statement(one["theirs"]),
            one["who_mine"],
            one["who_theirs"],
        )
        for entry in merges
        for one in entry.fields.get("disputes", [])
    ]
    return tuple(one for one in found if one.number not in settled)
