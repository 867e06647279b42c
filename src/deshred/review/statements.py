"""What people say about a pile, one fact each, and what they exclude.

A statement names shreds and, for some kinds, carries a value as text. It claims something about the sides of
these shreds; two statements contradict each other when they claim different things about the same side. What
only a solver can see, such as joins in a circle, is left to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from deshred.elements import Constraints
from deshred.errors import InputError

MOST_TEXT = 2_000  # characters of a note or title
MOST_SHREDS = 5_000  # of one page
MOST_MM = 2_000
MOST_PX = 30_000
_NOTHING = "nothing"  # what stands beside the end of a page


@dataclass(frozen=True)
class Kind:
    """How many shreds a statement names, and what its value is."""

    least: int
    most: int
    value: str = ""  # "", "px", "mm" or "text"


KINDS = {
    "join": Kind(2, 2),  # the second stands right of the first
    "no-join": Kind(2, 2),
    "first": Kind(1, 1),  # begins a page
    "last": Kind(1, 1),  # ends one
    "not-first": Kind(1, 1),  # the page goes on at the left
    "not-last": Kind(1, 1),  # and at the right
    "together": Kind(2, MOST_SHREDS),
    "apart": Kind(2, MOST_SHREDS),
    "aside": Kind(1, 1),  # no part of any page
    "gap": Kind(2, 2, "mm"),  # something is missing between the two, which lie on one page
    "blank": Kind(2, 2),  # the first, a blank shred, stands right of the second
    "flipped": Kind(1, 1),
    "offset": Kind(2, 2, "px"),
    "title": Kind(1, 1, "text"),  # of the page that the shred lies on
    "note": Kind(1, 2, "text"),
    "cannot-tell": Kind(1, 2),
    "looked": Kind(1, MOST_SHREDS),  # at a page of exactly these
    "done": Kind(1, MOST_SHREDS),  # a page is exactly these, from left to right
}
_LIMITS = {"px": MOST_PX, "mm": MOST_MM}


@dataclass(frozen=True, order=True)
class Statement:
    """One fact about shreds."""

    kind: str
    shreds: tuple[str, ...]
    value: str = ""

    def __post_init__(self) -> None:
        kind = KINDS.get(self.kind)
        if kind is None:
            raise InputError(f"there is no statement {self.kind!r}. The known ones are: {', '.join(KINDS)}.")
        if not kind.least <= len(self.shreds) <= kind.most:
            raise InputError(f"{self.kind} names {_range(kind)}, got {len(self.shreds)}.")
        if len(set(self.shreds)) != len(self.shreds):
            raise InputError(f"{self.kind} names a shred twice: {', '.join(self.shreds[:5])}.")
        _check_value(self.kind, kind.value, self.value)

    def to_json(self) -> list[Any]:
        """As the journal keeps it."""
        return [self.kind, list(self.shreds), self.value] if self.value else [self.kind, list(self.shreds)]

    @property
    def joins(self) -> tuple[tuple[str, str], ...]:
        """The joins it asserts."""
        if self.kind == "join":
            return ((self.shreds[0], self.shreds[1]),)
        return tuple(pairwise(self.shreds)) if self.kind == "done" else ()


def read_statement(content: Any) -> Statement:
    """The inverse of `to_json`, for what came from a file or over a wire."""
    if not isinstance(content, list) or not 2 <= len(content) <= 3:
        raise InputError("a statement is a list: its kind, its shreds and, for some kinds, a value.")
    kind, shreds, *value = content
    if not isinstance(kind, str) or not isinstance(shreds, list) or not all(map(_is_text, [*shreds, *value])):
        raise InputError("the kind of a statement and its value are text, its shreds a list of ids.")
    return Statement(kind, tuple(shreds), value[0] if value else "")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _range(kind: Kind) -> str:
    if kind.least == kind.most:
        return f"{kind.least} shred" + "s" * (kind.least > 1)
    return f"{kind.least} to {kind.most} shreds"


def _check_value(name: str, kind: str, value: str) -> None:
    if not kind and value:
        raise InputError(f"{name} has no value, got {value[:40]!r}.")
    if kind == "text" and len(value) > MOST_TEXT:
        raise InputError(f"{name} has {len(value)} characters; at most {MOST_TEXT} are kept.")
    if kind in _LIMITS:
        limit = _LIMITS[kind]
        digits = value.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 7 and abs(int(value)) <= limit):
            raise InputError(f"{name} needs a whole number of {kind} up to {limit}, got {value[:40]!r}.")


Claims = dict[tuple[str, ...], str]


def claims_of(statement: Statement) -> Claims:
    """What it says about sides, pairs and shreds; nothing, where nothing can contradict it."""
    return _CLAIMS.get(statement.kind, _no_claims)(statement)


def _no_claims(_: Statement) -> Claims:
    return {}


def _of_joins(statement: Statement) -> Claims:
    claims: Claims = {}
    for left, right in statement.joins:
        claims |= {("right", left): right, ("left", right): left, ("pair", left, right): "yes"}
    return claims


def _of_done(statement: Statement) -> Claims:
    first, last = statement.shreds[0], statement.shreds[-1]
    return _of_joins(statement) | _of_ends(first, last)


def _of_ends(first: str, last: str) -> Claims:
    """A page begins and ends here."""
    return {
        ("left", first): _NOTHING,
        ("starts", first): "yes",
        ("right", last): _NOTHING,
        ("ends", last): "yes",
    }


def _of_gap(statement: Statement) -> Claims:
    left, right = statement.shreds
    return {("right", left): f"gap before {right}", ("left", right): f"gap after {left}"}


_CLAIMS: dict[str, Callable[[Statement], Claims]] = {
    "join": _of_joins,
    "done": _of_done,
    "gap": _of_gap,
    "no-join": lambda said: {("pair", *said.shreds): "no"},
    "first": lambda said: {("left", *said.shreds): _NOTHING, ("starts", *said.shreds): "yes"},
    "last": lambda said: {("right", *said.shreds): _NOTHING, ("ends", *said.shreds): "yes"},
    "not-first": lambda said: {("starts", *said.shreds): "no"},
    "not-last": lambda said: {("ends", *said.shreds): "no"},
    "aside": lambda said: _of_ends(said.shreds[0], said.shreds[0]),
    "blank": lambda said: {("place", said.shreds[0]): said.shreds[1]},
    "offset": lambda said: {("offset", *said.shreds): said.value},
    "title": lambda said: {("title", *said.shreds): said.value},
    "looked": lambda said: {("looked", said.shreds[0]): "\n".join(said.shreds)},
}


def to_constraints(statements: Iterable[Statement], base: Constraints | None = None) -> Constraints:
    """What the solver must obey, on top of what was known before."""
    base = base or Constraints()
    required, forbidden = set(base.required), set(base.forbidden)
    first, last = set(base.first), set(base.last)
    not_first, not_last = set(base.not_first), set(base.not_last)
    together, apart = set(base.together), set(base.apart)
    turned = set(base.turned)
    for said in statements:
        required |= set(said.joins)
        if said.kind == "no-join":
            forbidden.add((said.shreds[0], said.shreds[1]))
        if said.kind in ("first", "aside", "done"):
            first.add(said.shreds[0])
        if said.kind in ("last", "aside", "done"):
            last.add(said.shreds[-1])
        if said.kind == "gap":
            last.add(said.shreds[0])
            first.add(said.shreds[1])
        if said.kind == "not-first":
            not_first.add(said.shreds[0])
        if said.kind == "not-last":
            not_last.add(said.shreds[0])
        if said.kind == "together":
            together.add(frozenset(said.shreds))
        if said.kind == "apart":
            apart.add(frozenset(said.shreds))
        if said.kind == "flipped":
            turned ^= set(said.shreds)  # against the way up that is known, which may be turned itself
    return Constraints(
        frozenset(required),
        frozenset(forbidden),
        frozenset(first),
        frozenset(last),
        frozenset(not_first),
        frozenset(not_last),
        frozenset(together),
        frozenset(apart),
        frozenset(turned),
    )
