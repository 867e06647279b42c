"""Where every shred truly belongs: what simulations know, collections tell and metrics compare with.

Nothing that solves imports this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from deshred.errors import MismatchError


@dataclass(frozen=True)
class Place:
    """Where a shred truly belongs."""

    document: str
    position: int  # only its order among the shreds of the document counts
    drop: int | None = None  # px at 300 dpi that the shred hangs too low in its image, where known


@dataclass(frozen=True)
class Truth:
    """The true place of every shred, by id."""

    places: Mapping[str, Place]

    def restrict(self, ids: Iterable[str]) -> Truth:
        """The truth about these shreds only: what is left out no longer stands between its neighbors."""
        try:
            return Truth({id_: self.places[id_] for id_ in ids})
        except KeyError as error:
            raise MismatchError(
                f"the truth says nothing about shred {error.args[0]!r}. Evaluate the shreds it was made for."
            ) from None

    @cached_property
    def documents(self) -> dict[str, tuple[str, ...]]:
        """The ids of each document, left to right."""
        found: dict[str, list[str]] = {}
        for id_ in sorted(self.places, key=lambda id_: self.places[id_].position):
            found.setdefault(self.places[id_].document, []).append(id_)
        return {document: tuple(ids) for document, ids in sorted(found.items())}

    @cached_property
    def joins(self) -> frozenset[tuple[str, str]]:
        """All (left, right) that stand side by side in a document."""
        return frozenset(pair for ids in self.documents.values() for pair in pairwise(ids))

    @cached_property
    def firsts(self) -> frozenset[str]:
        """The leftmost shred of each document."""
        return frozenset(ids[0] for ids in self.documents.values())

    @cached_property
    def lasts(self) -> frozenset[str]:
        """The rightmost shred of each document."""
        return frozenset(ids[-1] for ids in self.documents.values())

    def matches(self, left: str, right: str) -> bool:
        """The paper's criterion: neighbors in one document, or the end of one and the start of another."""
        if (left, right) in self.joins:
            return True
        ends_meet = left in self.lasts and right in self.firsts
        return ends_meet and self.places[left].document != self.places[right].document
