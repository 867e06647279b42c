"""Describe the edges of each group of a pile as a scorer sees them; a store keeps the result by content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.cases.store import Store, make_key
from deshred.compatibility.contract import EdgeScorer
from deshred.compatibility.groups import Group
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

    def describe_all(self, groups: Sequence[Group], progress: Progress | None) -> list[DescribedGroup]:
        described = []
        for done, group in enumerate(groups, 1):
            described.append(self.recall(group) or self.describe(self.see(group)))
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
        described = DescribedGroup(
            seen.group,
            self.scorer.describe_rights(seen.rights, self.executor),
            self.scorer.describe_lefts(seen.lefts, self.executor),
            seen.tops,
            seen.borders,
        )
        arrays = {
            **described.rights.to_arrays("rights."),
            **described.lefts.to_arrays("lefts."),
            "tops": described.tops,
            **described.borders.to_arrays("borders."),
        }
        self.store.save(self._key(seen.group), arrays)
        return described

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
