"""Answers that are worth a second look: the evidence contradicts them, or a second answer does."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from deshred.cases import Entry
from deshred.review.lessons import CONTROL
from deshred.review.session import Event

SOLVED = "review-solved"  # in the journal: an order was found, and which answer made it dear
KEPT = "kept"  # the action of a person who was asked twice and stands by an answer


@dataclass(frozen=True)
class Protest:
    """An answer that makes the best order worse by so many nats; 0 if a person later changed their mind."""

    event: Event
    rise: float


def read_protests(
    entries: Iterable[Entry], events: Sequence[Event], undone: Collection[str]
) -> dict[str, Protest]:
    """Second looks that were asked for and not taken before the board was closed."""
    kept = {str(event.cause.get("kept", "")) for event in events if event.action == KEPT}
    open_ = {event.id: event for event in events if event.id not in kept and event.id not in undone}
    doubted = [event.cause.get("control") for event in events if _changed_mind(event)]
    found = {str(name): Protest(open_[str(name)], 0.0) for name in doubted if name in open_}
    for entry in entries:
        name = str(entry.fields.get("protest", "")) if entry.event == SOLVED else ""
        if name in open_:
            found[name] = Protest(open_[name], float(entry.fields.get("rise", 0.0)))
    return found


def _changed_mind(event: Event) -> bool:
    return event.action == CONTROL and not event.cause.get("same", True)
