"""What may stand on one page: shreds that must lie together or apart, and no more than fits its width."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deshred.arrangement.problem.fixings import Floats, Ints

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Room:
    """How wide each shred is, and how much fits side by side on one page."""

    widths: Floats  # (n,) or more: nodes beyond have none
    most: float

    def mapped(self, node_of: Ints) -> Room:
        """The widths of other nodes that these are parts of."""
        return replace(self, widths=self.widths_of(node_of))

    def widths_of(self, labels: Ints) -> Floats:
        """The width of each set of nodes, given the set that each node belongs to."""
        padded = np.zeros(len(labels))
        padded[: len(self.widths)] = self.widths
        total: Floats = np.bincount(labels, padded).astype(np.float64)
        return total

    def pages_for(self, width: float) -> int:
        """How many pages so much width needs at least."""
        return max(1, int(np.ceil(width / self.most - 1e-9)))


@dataclass(frozen=True, eq=False)
class PageRules:
    """Nodes that must lie on one page, nodes that must lie on different ones, and what fits on a page."""

    together: tuple[Ints, ...] = ()
    apart: tuple[Ints, ...] = ()
    room: Room | None = None

    def __bool__(self) -> bool:
        return bool(self.together or self.apart or self.room)

    def mapped(self, node_of: Ints) -> PageRules:
        """The rules in terms of other nodes; repeats stay, so that what clashed before clashes after."""
        return PageRules(
            tuple(np.unique(node_of[group]) for group in self.together),
            tuple(np.sort(node_of[group]) for group in self.apart),
            self.room and self.room.mapped(node_of),
        )

    def suspects(self, labels: Ints) -> Ints:
        """The sets of nodes that may break a rule, given the set that each node belongs to."""
        groups = [labels[group] for group in (*self.together, *self.apart)]
        if self.room is not None:
            groups.append(np.flatnonzero(self.room.widths_of(labels) > self.room.most))
        return np.unique(np.concatenate(groups))

    def pages_needed(self, inside: Mask) -> int:
        """A lower bound on the number of pages that cover a set."""
        return max(self.pages_apart(inside), self.pages_filled(inside))

    def pages_apart(self, inside: Mask) -> int:
        """The same from shreds that must lie apart alone."""
        return max((int(inside[group].sum()) for group in self.apart), default=1)

    def pages_filled(self, inside: Mask) -> int:
        """The same from widths alone."""
        if self.room is None:
            return 1
        return self.room.pages_for(float(self.room.widths[inside[: len(self.room.widths)]].sum()))

    def overfull(self) -> Ints:
        """Nodes, each a chain of shreds, that no page can hold."""
        found = [group[1:][group[1:] == group[:-1]] for group in self.apart]
        if self.room is not None:
            found.append(np.flatnonzero(self.room.widths > self.room.most))
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)

    def are_torn(self, inside: Mask) -> bool:
        """Some group that must lie together is partly in the set."""
        return any(0 < int(inside[group].sum()) < len(group) for group in self.together)

    def allow(self, page_of: Ints) -> bool:
        """Whether an assignment of nodes to pages obeys all rules."""
        return (
            all(len(np.unique(page_of[g])) == 1 for g in self.together)
            and all(len(np.unique(page_of[g])) == len(g) for g in self.apart)
            and (self.room is None or not (self.room.widths_of(page_of) > self.room.most).any())
        )
