"""An order in, what the board draws out: pages with every shred at its place, and what is known of each join.

Pages are laid out join by join: how far the right shred lies from the left one is found once per join and
remembered, so that a changed page costs no more than its new joins.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from deshred.compatibility.alignment import align
from deshred.elements import Arrangement, Constraints, Join, Placement, ShredSet, Slot
from deshred.imaging.composition import compose
from deshred.pipeline import Reconstruction


@dataclass(frozen=True)
class Step:
    """Where the right shred of a join lies, seen from the left one."""

    x: int
    y: int


@dataclass(frozen=True)
class Sheet:
    """A page as the board draws it."""

    placements: tuple[Placement, ...]
    joins: tuple[Join, ...]

    @property
    def shreds(self) -> tuple[str, ...]:
        return tuple(placement.shred_id for placement in self.placements)


class Placer:
    """Finds and remembers the step of every join."""

    def __init__(self, composed: Reconstruction, done: Reconstruction, turned: Collection[str] = ()) -> None:
        """What was composed is known, but for shreds that lie another way up now."""
        self._done = done
        self._steps: dict[tuple[str, str], Step] = {}
        for page in composed.pages:
            for left, right in pairwise(page.placements):
                if left.shred_id in turned or right.shred_id in turned:
                    continue
                self._steps[left.shred_id, right.shred_id] = Step(right.x - left.x, right.y - left.y)

    def step(self, left: str, right: str) -> Step:
        """Lay the two side by side, at the offset where they fit best."""
        found = self._steps.get((left, right))
        if found is None:
            found = self._steps[left, right] = self._measure(left, right)
        return found

    def _measure(self, left: str, right: str) -> Step:
        done, pile = self._done, self._done.compatibility
        shreds = done.shreds
        i, j = shreds.index_of(left), shreds.index_of(right)
        offset = pile.offset(i, j)
        join = Join(left, right, pile.score(i, j), offset)
        pair = Arrangement(((Slot(left, 0), Slot(right, offset)),), (join,), (), 0.0, 0.0)
        pair = align(pair, shreds, done.pile.edges)
        small = ShredSet([shreds[i], shreds[j]])
        page = compose(small, pair, options=done.settings.composition)[0]
        a, b = page.placements
        return Step(b.x - a.x, b.y - a.y)

    def lay_out(
        self,
        ids: Sequence[str],
        joins: Mapping[tuple[str, str], Join],
        offsets: Mapping[tuple[str, str], int],
    ) -> Sheet:
        """A page of these shreds; stated offsets count more than measured ones."""
        x = y = 0
        places = [Placement(ids[0], 0, 0)]
        for left, right in pairwise(ids):
            step = self.step(left, right)
            x, y = x + step.x, y + offsets.get((left, right), step.y)
            places.append(Placement(right, x, y))
        least_x, least_y = min(place.x for place in places), min(place.y for place in places)
        moved = tuple(Placement(place.shred_id, place.x - least_x, place.y - least_y) for place in places)
        return Sheet(moved, tuple(self._join(pair, joins) for pair in pairwise(ids)))

    def _join(self, pair: tuple[str, str], joins: Mapping[tuple[str, str], Join]) -> Join:
        step = self.step(*pair)
        if pair in joins:
            return replace(joins[pair], offset=step.y)
        pile, index = self._done.compatibility, self._done.shreds.index_of
        return Join(*pair, pile.score(index(pair[0]), index(pair[1])), step.y)


def _leads_to(right: Mapping[str, str], start: str, target: str) -> bool:
    """Whether the joins so far lead from one shred to the other: joining them the other way is a circle."""
    at: str | None = start
    while at is not None and at != target:
        at = right.get(at)
    return at == target


def obey(pages: Sequence[Sequence[str]], constraints: Constraints) -> list[list[str]]:
    """The pages as a person's word leaves them, before anything is solved: cut where it is contradicted,
    joined where it asks for it.
    """
    right = dict(constraints.required)
    taken = set(right.values())
    for page in pages:
        for a, b in pairwise(page):
            if (
                a not in right
                and b not in taken
                and (a, b) not in constraints.forbidden
                and a not in constraints.last
                and b not in constraints.first
                and not _leads_to(right, b, a)
            ):
                right[a] = b
                taken.add(b)
    found, seen = [], set()
    for page in pages:
        for start in page:
            if start in taken or start in seen:
                continue
            chain = [start]
            while (following := right.get(chain[-1])) is not None and following not in seen:
                chain.append(following)
                seen.add(following)
            seen.add(start)
            found.append(chain)
    left_over = [id_ for page in pages for id_ in page if id_ not in seen]  # of joins in a circle
    return [*found, *([id_] for id_ in left_over)]
