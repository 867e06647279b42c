"""Read `arrangement.json` and `inputs.json` of a case back into our own types.

A case may come from a stranger. Whatever is of another kind than `describe` writes, or cannot be together, is
an InputError before anything is made of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any

from deshred.cases.records import read_constraints
from deshred.compatibility.contract import ScorerCard
from deshred.elements import Arrangement, Constraints, Join, PageBreak, Slot
from deshred.errors import InputError
from deshred.settings import Settings, settings_from

_FARTHEST = 100_000  # px that a shred is moved down, or up
_REMEDY = "Run reconstruct --force again."


@dataclass(frozen=True)
class RecordedFile:
    """A file that was read, by the path that the case has recorded."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Recorded:
    """What `arrangement.json` says."""

    arrangement: Arrangement
    turned: frozenset[str]
    blank: tuple[str, ...]
    constraints: Constraints
    scorer: ScorerCard
    settings: Settings
    seconds: Mapping[str, float]
    inputs: tuple[RecordedFile, ...]


def read_recorded(content: Mapping[str, Any], ids: Sequence[str], where: object) -> Recorded:
    """The record of a case whose scores are those of `ids`; `where` names its file in errors."""
    record = _Table(content, where)
    settings = settings_from(record.table("settings").content, str(where))
    pages = record.tables("pages")
    placed = [[_read_slot(shred) for shred in page.tables("shreds")] for page in pages]
    _check(all(placed), where, "a page without shreds")
    named = [slot.shred_id for slot in chain.from_iterable(placed)]
    _check(sorted(named) == sorted(ids), where, "pages and scores do not have the same shreds")
    joins = [_read_joins(page, slots) for page, slots in zip(pages, placed, strict=True)]
    blank = tuple(shred.text("id") for shred in record.tables("blank"))
    _check(not set(blank) & set(named) and len(set(blank)) == len(blank), where, "a shred is there twice")
    turned = [shred for page in pages for shred in page.tables("shreds") if shred.truth("turned")]
    return Recorded(
        Arrangement(
            tuple(map(tuple, placed)),
            tuple(chain.from_iterable(joins)),
            tuple(_read_break(one, ids) for one in record.tables("breaks")),
            record.number("cost"),
            -math.inf if content.get("bound") is None else record.number("bound"),
            settings.arrangement.tolerance,
        ),
        frozenset(shred.text("id") for shred in turned),
        blank,
        read_constraints(record.table("constraints").content, where),
        _read_scorer(record.table("scorer")),
        settings,
        MappingProxyType(record.table("seconds").numbers()),
        read_files(record.tables("inputs")),
    )


def read_inputs(content: Mapping[str, Any], where: object) -> tuple[RecordedFile, ...]:
    """The files that `inputs.json` lists."""
    return read_files(_Table(content, where).tables("files"))


def read_files(entries: Sequence[_Table]) -> tuple[RecordedFile, ...]:
    """Files with their digests."""
    return tuple(RecordedFile(entry.text("path"), entry.text("sha256")) for entry in entries)


def _read_slot(shred: _Table) -> Slot:
    offset = shred.whole("offset")
    _check(abs(offset) <= _FARTHEST, shred.where, f"a shred is moved by {offset} px")
    return Slot(shred.text("id"), offset)


def _read_joins(page: _Table, slots: Sequence[Slot]) -> list[Join]:
    joins = [
        Join(
            join.text("left"),
            join.text("right"),
            -math.inf if join.content.get("score") is None else join.number("score"),
            join.whole("offset"),
            join.probability("probability"),
            join.number_or_none("price"),
            join.probability("share"),
            join.truth("is_required"),
        )
        for join in page.tables("joins")
    ]
    wanted = [(one.shred_id, other.shred_id) for one, other in pairwise(slots)]
    _check(
        [(join.left, join.right) for join in joins] == wanted, page.where, "joins that are not on the page"
    )
    return joins


def _read_break(one: _Table, ids: Sequence[str]) -> PageBreak:
    after, before = one.text("after"), one.text("before")
    _check({after, before} <= set(ids), one.where, "a page break of shreds that do not exist")
    return PageBreak(after, before, one.number_or_none("price"), one.probability("probability"))


def _read_scorer(card: _Table) -> ScorerCard:
    known = {field.name for field in fields(ScorerCard)}
    _check(set(card.content) <= known, card.where, "a scorer with more than a scorer has")
    model, digest = (
        None if card.content.get(key) is None else card.text(key) for key in ("model", "model_sha256")
    )
    return ScorerCard(card.text("name"), card.text("fingerprint"), model, digest)


def _check(holds: bool, where: object, told: str) -> None:
    if not holds:
        raise InputError(f"{where}: the file is damaged ({told}). {_REMEDY}")


@dataclass(frozen=True)
class _Table:
    """A table of a record, whose values must be of the kind that is asked for."""

    content: Mapping[str, Any]
    where: object

    def __post_init__(self) -> None:
        _check(isinstance(self.content, Mapping), self.where, "a table is missing")

    def table(self, key: str) -> _Table:
        return _Table(self._get(key), self.where)

    def tables(self, key: str) -> list[_Table]:
        found = self._get(key)
        _check(isinstance(found, list), self.where, f"{key} is not a list")
        return [_Table(one, self.where) for one in found]

    def text(self, key: str) -> str:
        found = self._get(key)
        _check(isinstance(found, str), self.where, f"{key} is not text")
        return str(found)

    def whole(self, key: str) -> int:
        found = self._get(key)
        _check(
            isinstance(found, int) and not isinstance(found, bool), self.where, f"{key} is not a whole number"
        )
        return int(found)

    def number(self, key: str) -> float:
        found = self._get(key)
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        _check(is_number and math.isfinite(found), self.where, f"{key} is not a number")
        return float(found)

    def number_or_none(self, key: str) -> float | None:
        return None if self.content.get(key) is None else self.number(key)

    def probability(self, key: str) -> float | None:
        found = self.number_or_none(key)
        _check(found is None or 0 <= found <= 1, self.where, f"{key} is not a probability")
        return found

    def truth(self, key: str) -> bool:
        found = self.content.get(key, False)
        _check(isinstance(found, bool), self.where, f"{key} is neither true nor false")
        return bool(found)

    def numbers(self) -> dict[str, float]:
        return {key: self.number(key) for key in self.content}

    def _get(self, key: str) -> Any:
        _check(key in self.content, self.where, f"{key} is missing")
        return self.content[key]
