"""Describe the edges of each group of a pile as a scorer sees them; a store keeps the result by content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.cases.store import Store, make_key
from deshred.compatibility.contract import EdgeScorer, Rows
from deshred.compatibility.groups import Group, KnownGroups
from deshred.compatibility.margins import Borders, observe_borders
from deshred.elements import Edge, Pile
from deshred.executors import Executor, Progress, SerialExecutor
from deshred.imaging.edges import crop_edge
from deshred.versions import VERSION

_FORMAT = "description 3"  # part of keys
_PAPER = "blank paper"  # the key of a group of one: an edge with nothing on it


@dataclass(frozen=True, eq=False)
class DescribedGroup:
    """A group of shreds as a scorer sees it; no pixels any more."""

    group: Group
    rights: Any  # Descriptions of the scorer's own type
    lefts: Any
    tops: NDArray[np.int32]  # (n,): the shred's row that is row 0 of its edges
    borders: Borders

    def take(self, rows: Rows) -> DescribedGroup:
        """Some of the shreds; they are no group that a store knows."""
        group = Group(self.group.members[rows], "")
        return DescribedGroup(group, self.rights[rows], self.lefts[rows], self.tops[rows], self.borders[rows])


@dataclass(frozen=True, eq=False)
class SeenGroup:
    """A group of shreds before a scorer has looked at it: edges as the scorer wants them, and borders."""

    group: Group
    rights: Sequence[Edge]
    lefts: Sequence[Edge]
    tops: NDArray[np.int32]
    borders: Borders


@dataclass(frozen=True, eq=False)
class Describing:
    """All that describing edges needs."""

    pile: Pile
    scorer: EdgeScorer
    store: Store
    executor: Executor

    def describe_all(
        self,
        groups: Sequence[Group],
        progress: Progress | None,
        *,
        keep: Callable[[DescribedGroup], DescribedGroup] | None = None,
    ) -> list[DescribedGroup]:
        """All groups; `keep` puts each away as soon as it is described."""
        described = []
        known: KnownGroups | None = None
        for done, group in enumerate(groups, 1):
            recalled = self.recall(group)
            if recalled is None:
                known = known or KnownGroups(self.store, but={one.key for one in groups})
                recalled = self._assemble(group, known) or self.describe(self.see(group))
            described.append(recalled if keep is None else keep(recalled))
            if progress:
                progress("encoding", done, len(groups))
        return described

    def recall(self, group: Group) -> DescribedGroup | None:
        """A group as the store has it; None when it has not, or nothing sound."""
        kept = self.store.load(self._key(group))
        if kept is None:
            return None
        kind, like, count = self.scorer.description_type, self._paper, len(group)
        rights = kind.recall(kept, like.rights, count, "rights.")
        lefts = kind.recall(kept, like.lefts, count, "lefts.")
        borders = Borders.recall(kept, like.borders, count, "borders.")
        tops = kept.get("tops")
        if rights is None or lefts is None or borders is None or tops is None:
            return None
        if tops.dtype != like.tops.dtype or tops.shape != (count,):
            return None
        return DescribedGroup(group, rights, lefts, tops, borders)

    def _assemble(self, group: Group, known: KnownGroups) -> DescribedGroup | None:
        """A group of which the store knows a part, in other groups; only the rest is described."""
        parts: list[DescribedGroup] = []
        places: list[Rows] = []
        for kin in known.find_kin([self.pile.shreds[i].fingerprint for i in group.members.tolist()]):
            recalled = self.recall(kin.group)
            if recalled is not None:
                parts.append(recalled.take(kin.theirs))
                places.append(kin.own)
        if not parts:
            return None
        rest = np.setdiff1d(np.arange(len(group)), np.concatenate(places))
        if len(rest):
            parts.append(self._look_at(self.see(Group(group.members[rest], ""))))
        order = np.argsort(np.concatenate([*places, rest]))
        assembled = DescribedGroup(
            group,
            type(parts[0].rights).concatenate([part.rights for part in parts], 0)[order],
            type(parts[0].lefts).concatenate([part.lefts for part in parts], 0)[order],
            np.concatenate([part.tops for part in parts])[order],
            Borders.concatenate([part.borders for part in parts], 0)[order],
        )
        self._keep(assembled)
        return assembled

    def see(self, group: Group) -> SeenGroup:
        """What a group of the pile shows."""
        wanted = self.scorer.edge_options
        pairs = [self.pile.edges[i] for i in group.members.tolist()]
        lefts = [crop_edge(pair.left, wanted) for pair in pairs]
        rights = [crop_edge(pair.right, wanted) for pair in pairs]
        tops = np.array([left.top for left in lefts], np.int32)
        borders = observe_borders([self.pile.shreds[i] for i in group.members.tolist()], pairs)
        return SeenGroup(group, rights, lefts, tops, borders)

    def describe(self, seen: SeenGroup) -> DescribedGroup:
        """Describe a group, and keep that in the store."""
        described = self._look_at(seen)
        self._keep(described)
        return described

    def _look_at(self, seen: SeenGroup) -> DescribedGroup:
        return DescribedGroup(
            seen.group,
            self.scorer.describe_rights(seen.rights, self.executor),
            self.scorer.describe_lefts(seen.lefts, self.executor),
            seen.tops,
            seen.borders,
        )

    def _keep(self, described: DescribedGroup) -> None:
        arrays = {
            **described.rights.to_arrays("rights."),
            **described.lefts.to_arrays("lefts."),
            "tops": described.tops,
            **described.borders.to_arrays("borders."),
        }
        self.store.save(self._key(described.group), arrays)

    def _key(self, group: Group) -> str:
        return make_key(_FORMAT, VERSION, self.scorer.card.fingerprint, group.key)

    @cached_property
    def _paper(self) -> DescribedGroup:
        return describe_paper(self.scorer)


def describe_paper(scorer: EdgeScorer) -> DescribedGroup:
    """An edge of blank paper, as a group of its own."""
    rows, width = scorer.edge_options.rows, scorer.edge_options.width
    white = np.full((rows, 3), 255, np.uint8)
    paper = Edge(np.zeros((rows, width), np.uint8), np.zeros(rows, np.float32), white, 0)
    nothing = np.zeros(1, np.float32)
    return DescribedGroup(
        Group(np.zeros(1, np.intp), _PAPER),
        scorer.describe_rights([paper], SerialExecutor()),
        scorer.describe_lefts([paper], SerialExecutor()),
        np.zeros(1, np.int32),
        Borders(nothing, nothing, nothing, nothing),
    )
