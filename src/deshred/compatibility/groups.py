"""Shreds of a pile in, the groups that they are described and compared in out.

A group is the unit of what is kept: its descriptions, and its evidence with every other group. A pile is made
of groups that a store knows already, where it can, and of new ones for the rest. So a pile that grows, or
that is mixed of documents seen before, only needs what is new.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.cases.store import Store, make_key
from deshred.compatibility.contract import Rows
from deshred.elements import combine_fingerprints

_KEY = make_key("groups 1")


@dataclass(frozen=True, eq=False)
class Group:
    """Some shreds of a pile, in an order of their own."""

    members: Rows  # indices of the shreds in the pile
    key: str  # the same for the same paper in the same order, wherever it lies

    def __len__(self) -> int:
        return len(self.members)


def find_groups(fingerprints: Sequence[str], store: Store, size: int) -> list[Group]:
    """Part a pile into groups that the store knows, and new ones of at most `size`; the store learns them."""
    places: dict[str, deque[int]] = defaultdict(deque)
    for place, fingerprint in enumerate(fingerprints):
        places[fingerprint].append(place)
    known = _load(store)
    chosen = [members for group in known if (members := _take(group, places)) is not None]
    rest = sorted(place for left in places.values() for place in left)
    new = [rest[start : start + size] for start in range(0, len(rest), size)]
    if new:
        _save(store, [*known, *([fingerprints[i] for i in members] for members in new)])
    return [
        Group(np.array(members, np.intp), combine_fingerprints(fingerprints[i] for i in members))
        for members in (*chosen, *new)
    ]


def _take(group: Sequence[str], places: dict[str, deque[int]]) -> list[int] | None:
    """The places of all members of a group, taken out of what is left; None when one is missing."""
    taken: list[int] = []
    for fingerprint in group:
        if not places.get(fingerprint):
            for place, back in zip(reversed(taken), reversed(group[: len(taken)]), strict=True):
                places[back].appendleft(place)
            return None
        taken.append(places[fingerprint].popleft())
    return taken


@dataclass(frozen=True, eq=False)
class Kin:
    """A group that a store knows, and which of its members others are."""

    group: Group  # its members have no place in the pile
    own: Rows  # places among those others
    theirs: Rows  # places in the group


class KnownGroups:
    """Where paper lies among the groups that a store knows."""

    def __init__(self, store: Store, *, but: Collection[str]) -> None:
        known = [(combine_fingerprints(members), members) for members in _load(store)]
        self._groups = [(key, members) for key, members in known if key not in but]
        self._places: dict[str, tuple[int, int]] = {}
        for number, (_, members) in enumerate(self._groups):
            self._places.update((paper, (number, row)) for row, paper in enumerate(members))

    def find_kin(self, fingerprints: Sequence[str]) -> list[Kin]:
        """The groups that hold some of this paper, each place once."""
        rows: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for own, paper in enumerate(fingerprints):
            if paper in self._places:
                number, row = self._places[paper]
                rows[number].append((own, row))
        found = []
        for number, pairs in rows.items():
            key, members = self._groups[number]
            own_rows, their_rows = np.array(pairs, np.intp).T
            found.append(Kin(Group(np.full(len(members), -1), key), own_rows, their_rows))
        return found


def _load(store: Store) -> list[list[str]]:
    """The groups a store knows, the largest first: fewer groups are fewer blocks."""
    kept = store.load(_KEY)
    if kept is None:
        return []
    names, lengths = kept.get("members"), kept.get("lengths")
    if names is None or lengths is None or not _can_be(names, lengths):  # a store may come from a stranger
        return []
    members = [member.decode("ascii", "replace") for member in names.tolist()]
    stops = np.cumsum(lengths).tolist()
    groups = [members[start:stop] for start, stop in zip([0, *stops[:-1]], stops, strict=True)]
    return sorted((group for group in groups if group), key=len, reverse=True)


def _can_be(names: NDArray[Any], lengths: NDArray[Any]) -> bool:
    if names.dtype.kind != "S" or lengths.dtype != np.int64 or names.ndim != 1 or lengths.ndim != 1:
        return False
    return bool((lengths >= 0).all() and (lengths <= len(names)).all() and lengths.sum() == len(names))


def _save(store: Store, groups: Sequence[Sequence[str]]) -> None:
    members = [member.encode() for group in groups for member in group]
    lengths = np.array([len(group) for group in groups], np.int64)
    store.save(_KEY, {"members": np.array(members, np.bytes_), "lengths": lengths})
