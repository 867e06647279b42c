"""Linear inequalities that every order satisfies, and the search for those that an LP solution breaks.

For a set S of nodes and x the share of each arc:
  connected   x(arcs inside S) <= degree(S) - rank; rank 1 forbids subtours, more says that S needs so
              many pages, for its width or because of shreds that must lie apart
  same page   2 x(arcs inside S) + x(arcs between S and the outside) <= 2 |S| - 1: S is no set of whole
              pages, because a shred in it must lie together with one not in it
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from deshred.arrangement.problem.fixings import Floats, Ints, PageCount
from deshred.arrangement.problem.rules import Mask, PageRules, Room
from deshred.integersets import distinct

_THRESHOLDS = (0.15, 0.3, 0.5, 0.7)
_MIN_CUT_NODES = 900  # the quadratic min cut is left out beyond: cuts only speed things up
_VIOLATION = 1e-4
_FEW_ARCS = 1500
_GROWN_SETS, _GROWN_SIZE = 400, 40


@dataclass(frozen=True, eq=False)
class Cut:
    """An inequality over the set of its members."""

    members: Ints  # sorted
    rank: int = 1
    same_page: bool = False
    holds_always: bool = True  # it does not depend on constraints

    @property
    def key(self) -> bytes:
        return bytes((self.rank % 256, self.same_page)) + self.members.tobytes()


@dataclass(frozen=True, eq=False)
class Degrees:
    """How many arcs leave and enter each node."""

    least: Floats
    most: Floats
    depot: int

    @staticmethod
    def of(n: int, pages: PageCount, has_hub: bool) -> Degrees:
        """n shreds or chains of shreds, then the outside, then the hub."""
        least, most = np.ones(n + 1 + has_hub), np.ones(n + 1 + has_hub)
        least[n], most[n] = pages.least, pages.most
        if has_hub:
            least[-1], most[-1] = 0, n
        return Degrees(least, most, n)

    @property
    def n_nodes(self) -> int:
        return len(self.least)

    @property
    def free(self) -> Ints:
        """Nodes whose degree is open: the LP has a column for each."""
        return np.flatnonzero(self.least < self.most)

    @property
    def fixed(self) -> Floats:
        """Degrees of the others, 0 for these."""
        return np.where(self.least < self.most, 0.0, self.least)

    def right_hand_side(self, cut: Cut) -> float:
        """The constant of the inequality; the columns of free degrees do the rest."""
        if cut.same_page:
            return 2.0 * len(cut.members) - 1
        return float(self.fixed[cut.members].sum()) - cut.rank

    def smaller_side(self, members: Mask) -> Cut:
        """The subtour inequality of a set, which equals that of its complement."""
        chosen = members if 2 * members.sum() <= len(members) else ~members
        return Cut(np.flatnonzero(chosen))


def coefficients(cut: Cut, tails: Ints, heads: Ints, depot: int, n_nodes: int) -> tuple[Ints, Floats]:
    """Which of these arcs the cut weighs, and how much."""
    member = np.zeros(n_nodes, bool)
    member[cut.members] = True
    inside = member[tails] & member[heads]
    if not cut.same_page:
        hits = np.flatnonzero(inside)
        return hits, np.ones(len(hits))
    outer = (member[tails] & (heads == depot)) | (member[heads] & (tails == depot))
    hits = np.flatnonzero(inside | outer)
    return hits, np.where(inside[hits], 2.0, 1.0)


def components(n_nodes: int, tails: Ints, heads: Ints) -> tuple[int, Ints]:
    """Connected components, directions aside."""
    if len(tails) < _FEW_ARCS:
        return few_components(n_nodes, tails, heads)
    graph = coo_matrix((np.ones(len(tails), np.int8), (tails, heads)), shape=(n_nodes, n_nodes))
    count, labels = connected_components(graph, directed=True, connection="weak")
    return int(count), labels.astype(np.int64)


def few_components(n_nodes: int, tails: Ints, heads: Ints) -> tuple[int, Ints]:
    """The same without SciPy, which spends milliseconds on checking its input."""
    labels = np.arange(n_nodes)
    while True:
        one, other = labels[tails], labels[heads]
        apart = one != other
        if not apart.any():
            break
        one, other = one[apart], other[apart]
        np.minimum.at(labels, np.maximum(one, other), np.minimum(one, other))
        while (labels[labels] != labels).any():  # a component is known by its lowest node
            labels = labels[labels]
    number = np.cumsum(labels == np.arange(n_nodes)) - 1
    return int(number[-1]) + 1, number[labels]


@dataclass(frozen=True, eq=False)
class Support:
    """The arcs that an LP solution uses, and how much."""

    tails: Ints
    heads: Ints
    values: Floats


def violated(support: Support, degrees: Degrees, rules: PageRules, *, quickly: bool = False) -> list[Cut]:
    """Cuts that the solution breaks; an integral solution that breaks none is an order.

    Quickly: without minimum cuts, so that a fractional solution may break some that are not found.
    """
    cuts = _violated_subtours(support, degrees, quickly)
    if rules:
        cuts += _violated_rules(support, degrees, rules)
    return cuts


def _violated_subtours(support: Support, degrees: Degrees, quickly: bool) -> list[Cut]:
    """Look at components, then at those of the strong arcs, then for a minimum cut; first find wins."""
    sure = support.values > 1 - 1e-9
    # sure arcs cross no violated set, so all work is done with their ends shrunk into one node
    count, node_of = components(degrees.n_nodes, support.tails[sure], support.heads[sure])
    tails, heads = node_of[support.tails[~sure]], node_of[support.heads[~sure]]
    small = Support(tails, heads, support.values[~sure])
    must = np.zeros(count, bool)
    must[node_of[support.tails[degrees.least[support.tails] > 0]]] = True
    must[node_of[support.heads[degrees.least[support.heads] > 0]]] = True
    sets: dict[bytes, Cut] = {}

    def collect(masks: Iterable[Mask]) -> None:
        for mask in masks:
            if (must & mask).any() and (must & ~mask).any():  # else the set may stay idle, as the hub does
                cut = degrees.smaller_side(mask[node_of])
                sets.setdefault(cut.key, cut)

    for threshold in (0.0, *_THRESHOLDS):
        strong = small.values > threshold
        size, labels = components(count, tails[strong], heads[strong])
        crossing = labels[tails] != labels[heads]
        leaving = np.bincount(labels[tails[crossing]], small.values[crossing], minlength=size)
        collect(labels == label for label in np.flatnonzero(leaving < 1 - 1e-3))
        if threshold == 0.0 and sets:
            return list(sets.values())
    if not sets and not quickly:
        collect(_min_cuts(small, count))
    return list(sets.values())


def _min_cuts(support: Support, n_nodes: int) -> list[Mask]:
    """Sets that less than one arc leaves, by a minimum cut on the graph with its sure pairs shrunk."""
    low = np.minimum(support.tails, support.heads)
    high = np.maximum(support.tails, support.heads)
    kept = low != high
    low, high, weights = low[kept], high[kept], support.values[kept]
    node_of = np.arange(n_nodes)
    while len(low):
        keys, inverse = np.unique(low * n_nodes + high, return_inverse=True)
        weights = np.bincount(inverse, weights)
        low, high = np.divmod(keys, n_nodes)
        sure = weights >= 1 - 1e-7
        if not sure.any():
            break
        _, labels = components(n_nodes, low[sure], high[sure])
        node_of, low, high = labels[node_of], labels[low], labels[high]
        kept = low != high
        weights = weights[kept]
        low, high = np.minimum(low, high)[kept], np.maximum(low, high)[kept]
    used = distinct([low, high])
    if not 3 <= len(used) <= _MIN_CUT_NODES:
        return []
    place = np.full(n_nodes, -1)
    place[used] = np.arange(len(used))
    dense = np.zeros((len(used), len(used)))
    np.add.at(dense, (place[low], place[high]), weights)
    phases = _stoer_wagner(dense + dense.T, 2 - _VIOLATION)
    where = place[node_of]
    return [(where >= 0) & side[where] for side in phases[:200]]


def _stoer_wagner(weights: Floats, threshold: float) -> list[Mask]:
    """All cuts of a phase lighter than the threshold, lightest first."""
    size = len(weights)
    weights = weights.copy()
    merged = np.eye(size, dtype=bool)
    alive = np.arange(size)
    found: list[tuple[float, Mask]] = []
    while len(alive) > 1:
        local = weights[alive][:, alive]
        reach = local[0].copy()
        reach[0] = -np.inf
        last = previous = 0
        value = 0.0
        for _ in range(len(alive) - 1):
            previous, last = last, int(reach.argmax())
            value = float(reach[last])
            reach += local[last]
            reach[last] = -np.inf
        a, b = alive[previous], alive[last]
        if value < threshold:
            found.append((value, merged[b].copy()))
        weights[a] += weights[b]
        weights[:, a] += weights[:, b]
        weights[a, a] = 0
        merged[a] |= merged[b]
        alive = np.delete(alive, last)
    found.sort(key=lambda entry: entry[0])
    return [side for _, side in found]


def _violated_rules(support: Support, degrees: Degrees, rules: PageRules) -> list[Cut]:
    """Look at components of the strong arcs, and at sets grown along them; the outside is left out."""
    n_nodes, depot = degrees.n_nodes, degrees.depot
    inner = (support.tails < depot) & (support.heads < depot)
    sure = support.values > 1 - 1e-9
    # as above, shrunk: for a set of chains the inequalities keep their form
    count, node_of = components(n_nodes, support.tails[inner & sure], support.heads[inner & sure])
    rest = inner & ~sure
    tails, heads, values = node_of[support.tails[rest]], node_of[support.heads[rest]], support.values[rest]
    outer = np.zeros(count)
    for near, far in ((support.tails, support.heads), (support.heads, support.tails)):
        np.add.at(outer, node_of[near[far == depot]], support.values[far == depot])
    chains = rules.mapped(node_of)
    cuts: dict[bytes, Cut] = {}

    def check(inside: Mask) -> None:
        size = int(inside.sum())
        within = float(values[inside[tails] & inside[heads]].sum())
        filled = chains.pages_filled(inside)
        rank = max(filled, rules.pages_apart(inside[node_of]))
        if rank > 1 and within > size - rank + _VIOLATION:
            cut = Cut(np.flatnonzero(inside[node_of]), rank, holds_always=rank == filled)
            cuts.setdefault(cut.key, cut)
        if 2 * within + outer[inside].sum() > 2 * size - 1 + _VIOLATION and chains.are_torn(inside):
            cut = Cut(np.flatnonzero(inside[node_of]), same_page=True, holds_always=False)
            cuts.setdefault(cut.key, cut)

    for threshold in (0.0, *_THRESHOLDS):
        strong = values > threshold
        _, labels = components(count, tails[strong], heads[strong])
        for label in chains.suspects(labels):
            check(labels == label)
    if chains.room is not None:
        for inside in _grow(Support(tails, heads, values), count, chains.room):
            check(inside)
    return list(cuts.values())


def _grow(support: Support, n_nodes: int, room: Room) -> list[Mask]:
    """Sets that hold more than fits on their pages: from each node on, the strongest neighbor is added."""
    used = distinct([support.tails, support.heads])
    if not len(used):
        return []
    place = np.full(n_nodes, -1)
    place[used] = np.arange(len(used))
    links = np.zeros((len(used), len(used)))
    np.add.at(links, (place[support.tails], place[support.heads]), support.values)
    links += links.T
    seeds = np.arange(min(len(used), _GROWN_SETS))
    member = np.zeros((len(seeds), len(used)), bool)
    member[seeds, seeds] = True
    width, within, reach = room.widths[used[seeds]], np.zeros(len(seeds)), links[seeds].copy()
    found: list[Mask] = []
    for size in range(2, min(len(used), _GROWN_SIZE) + 1):
        reach[member] = -1.0
        nearest = reach.argmax(axis=1)
        gain = reach[seeds, nearest]
        within += gain
        width += room.widths[used[nearest]]
        member[seeds, nearest] = True
        reach += links[nearest]
        rank = np.maximum(np.ceil(width / room.most - 1e-9), 1)
        for seed in np.flatnonzero((rank > 1) & (within > size - rank + _VIOLATION)):
            inside = np.zeros(n_nodes, bool)
            inside[used[member[seed]]] = True
            found.append(inside)
    return found
