"""Good orders quickly: nearest neighbor (the baseline), closing fragments, patching circles, local search.

A tour is an array of successors over n shreds and k copies of the outside (nodes n .. n+k-1): one
circle through all of them, which the copies cut into k pages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from deshred.arrangement.problem.costs import Costs, DenseCosts
from deshred.arrangement.problem.deadlines import Deadline
from deshred.arrangement.problem.fixings import Floats, Ints
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.proof.cuts import Support, components

Tour = Ints
_CLOSE_LIMIT = 4000  # loose ends that are matched; beyond, fragments are strung together as they come
_PACK_LIMIT = 2000
_FOLD_LIMIT = 10_000_000  # shreds times pages: 160 MB
_GREEDY_WORK = 2e9
_NEVER = 1e6  # times the dearest arc: what cannot be, in numbers that can be subtracted


def tour_cost(costs: Costs, tour: Tour) -> float:
    """What a tour costs; infinite if it uses an arc that cannot be."""
    nodes = np.minimum(np.arange(len(tour)), costs.n)
    return float(costs.at(nodes, np.minimum(tour, costs.n)).sum())


def pages_of(tour: Tour, n: int) -> list[Ints]:
    """The pages of a tour, left to right."""
    pages = []
    for copy in range(n, len(tour)):
        page, at = [], int(tour[copy])
        while at < n:
            page.append(at)
            at = int(tour[at])
        pages.append(np.array(page, np.int64))
    return pages


def tour_of(pages: list[Ints], n: int) -> Tour:
    """The inverse of `pages_of`."""
    tour = np.empty(n + len(pages), np.int64)
    for k, page in enumerate(pages):
        walk = np.concatenate([[n + k], page, [n + (k + 1) % len(pages)]]).astype(np.int64)
        tour[walk[:-1]] = walk[1:]
    return tour


def link(costs: Costs, support: Support, n_pages: int) -> Tour | None:
    """Chain arcs greedily by their share in the LP, then close the fragments."""
    n = costs.n
    inner = (support.tails < n) & (support.heads < n)
    tails, heads, values = support.tails[inner], support.heads[inner], support.values[inner]
    order = np.lexsort((costs.at(tails, heads), -values))
    fragments = _Fragments(n, costs.room)
    fragments.join(tails[order], heads[order])
    if costs.room is None:
        return close(costs, fragments.right, n_pages)
    return _pack(costs, fragments)


class _Fragments:
    """Paths that grow together, none wider than a page where that is known."""

    def __init__(self, n: int, room: Room | None) -> None:
        self.right, self._left = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
        self._other_end = np.arange(n)
        self._widths = np.zeros(n) if room is None else room.widths[:n].copy()  # valid at the ends
        self._most = np.inf if room is None else room.most

    @property
    def ends(self) -> tuple[Ints, Ints]:
        """First and last shred of every path."""
        starts = np.flatnonzero(self._left < 0)
        return starts, self._other_end[starts]

    def join(self, tails: Ints, heads: Ints, most_joins: int | None = None) -> None:
        """Make the joins, first come first served, that are possible."""
        left_over = len(tails) if most_joins is None else most_joins
        for a, b in zip(tails.tolist(), heads.tolist(), strict=True):
            width = self._widths[a] + self._widths[b]
            possible = self.right[a] < 0 and self._left[b] < 0 and self._other_end[b] != a
            if not possible or width > self._most or not left_over:
                continue
            self.right[a], self._left[b] = b, a
            start, end = self._other_end[a], self._other_end[b]
            self._other_end[start], self._other_end[end] = end, start
            self._widths[start] = self._widths[end] = width
            left_over -= 1


def _pack(costs: Costs, fragments: _Fragments) -> Tour | None:
    """Join fragments to pages, each time where that saves most, as long as it does or there are too many."""
    n, pages = costs.n, costs.pages
    starts, ends = fragments.ends
    size = len(starts)
    if size > _PACK_LIMIT:
        return None
    outside = np.full(size, n)
    tails, heads = np.repeat(ends, size), np.tile(starts, size)
    begin, end = costs.at(outside, starts), costs.at(ends, outside)
    joins = costs.at(tails, heads)
    saved = np.full(size * size, -np.inf)
    np.subtract(np.repeat(end, size) + np.tile(begin, size), joins, out=saved, where=np.isfinite(joins))
    order = np.argsort(-saved, kind="stable")
    worth = int((saved > 0).sum())
    fragments.join(tails[order[:worth]], heads[order[:worth]], max(0, size - pages.least))
    size = len(fragments.ends[0])
    if size > pages.most:
        rest = order[worth:][np.isfinite(saved[order[worth:]])]
        fragments.join(tails[rest], heads[rest], size - pages.most)
    walks = [follow(fragments.right, first) for first in fragments.ends[0].tolist()]
    return tour_of(walks, n)


def follow(right: Ints, at: int) -> Ints:
    """A node and all to its right."""
    walk = []
    while at >= 0:
        walk.append(at)
        at = int(right[at])
    return np.array(walk, np.int64)


def close(costs: Costs, right: Ints, n_pages: int) -> Tour | None:
    """Join loose fragments to each other and to the outside; circles are patched in. None if it cannot."""
    n = costs.n
    right = _cut(costs, right, n_pages - int((right < 0).sum()))
    has_left = np.zeros(n, bool)
    has_left[right[right >= 0]] = True
    starts = np.flatnonzero(~has_left)
    ends = np.array([_end_of(right, start) for start in starts.tolist()], np.int64)
    outside = n + np.arange(n_pages)
    tails, heads = np.append(ends, outside), np.append(starts, outside)
    if len(tails) <= _CLOSE_LIMIT:
        chosen = _match_ends(costs, tails, heads, n)
    else:
        chosen = np.roll(np.arange(len(tails)), -1)  # fragment after fragment, k empty pages among them
        spots = np.linspace(0, len(starts), n_pages, endpoint=False).astype(np.int64)
        order = np.argsort(np.append(np.arange(len(starts)), spots - 0.5), kind="stable")
        chosen[order] = np.roll(order, -1)
    tour = np.append(right, np.full(n_pages, -1))
    tour[tails] = heads[chosen]
    return patch(costs, tour)


def _cut(costs: Costs, right: Ints, count: int) -> Ints:
    """Without so many joins, those that save most: each page needs a fragment of its own."""
    if count <= 0:
        return right
    tails = np.flatnonzero(right >= 0)
    heads, outside = right[tails], np.full(len(tails), costs.n)
    ends = costs.at(tails, outside) + costs.at(outside, heads)
    kept = right.copy()
    kept[tails[np.argsort(ends - costs.at(tails, heads), kind="stable")[:count]]] = -1
    return kept


def _end_of(right: Ints, at: int) -> int:
    while right[at] >= 0:
        at = int(right[at])
    return at


def _match_ends(costs: Costs, tails: Ints, heads: Ints, n: int) -> Ints:
    size = len(tails)
    pairs = costs.at(np.minimum(np.repeat(tails, size), n), np.minimum(np.tile(heads, size), n)).reshape(
        size, size
    )
    finite = np.isfinite(pairs)
    big = (float(np.abs(pairs[finite]).max(initial=0.0)) + 1) * 4 * size
    pairs[~finite] = big
    pairs[np.arange(size), np.arange(size)] += big  # a fragment does not follow itself
    chosen: Ints = linear_sum_assignment(pairs)[1].astype(np.int64)
    return chosen


def patch(costs: Costs, tour: Tour) -> Tour | None:
    """Merge circles into one, smallest first, each by the cheapest exchange of two arcs (Karp)."""
    n, size = costs.n, len(tour)
    tour = tour.copy()
    nodes = np.arange(size)
    plain = np.minimum(nodes, n)
    count, labels = components(size, nodes, tour)
    sizes = np.bincount(labels, minlength=count).astype(float)
    own = costs.at(plain, np.minimum(tour, n))
    own[~np.isfinite(own)] = 4 * costs.spread + 1  # better lost than kept, but comparable
    while count > 1:
        label = int(np.argmin(np.where(sizes > 0, sizes, np.inf)))
        outer = labels != label
        best, first, second = np.inf, -1, -1
        right = np.minimum(tour, n)
        for i in np.flatnonzero(~outer)[:400].tolist():
            change = costs.row(int(plain[i]))[right] + costs.column(int(right[i]))[plain] - own[i] - own
            change[~outer] = np.inf
            j = int(change.argmin())
            if change[j] < best:
                best, first, second = float(change[j]), i, j
        if first < 0:
            return None
        tour[first], tour[second] = tour[second], tour[first]
        for k in (first, second):
            own[k] = costs.at(plain[[k]], np.minimum(tour[[k]], n))[0]
        target = labels[second]
        sizes[target] += sizes[label]
        sizes[label] = 0
        labels[labels == label] = target
        count -= 1
    return tour


def fold(costs: Costs, tour: Tour, room: Room) -> Tour | None:
    """Take all pages as one long path and break it at the cheapest places, so that no page is too wide."""
    n, pages = costs.n, costs.pages
    path = np.concatenate(pages_of(tour, n))
    most = min(pages.most, max(pages.least, 2 * room.pages_for(float(room.widths[path].sum()))))
    if n * most > _FOLD_LIMIT:
        return None
    joins = costs.at(path[:-1], path[1:])
    joins[~np.isfinite(joins)] = _NEVER * (costs.spread + 1)
    along = np.concatenate([[0.0, 0.0], np.cumsum(joins)])
    reach = np.concatenate([[0.0], np.cumsum(room.widths[path])])
    outside = np.full(n, n)
    begin, end = costs.at(outside, path), costs.at(path, outside)
    best = np.full((n + 1, most + 1), np.inf)  # the first i shreds on k pages
    best[0, 0] = 0.0
    last_break = np.zeros((n + 1, most + 1), np.int64)
    for stop in range(1, n + 1):
        first = int(np.searchsorted(reach, reach[stop] - room.most * (1 - 1e-9)))
        starts = np.arange(min(first, stop - 1), stop)
        page = begin[starts] + (along[stop] - along[starts + 1]) + end[stop - 1]
        through = best[starts, :-1] + page[:, None]
        choice = through.argmin(axis=0)
        best[stop, 1:] = through[choice, np.arange(most)]
        last_break[stop, 1:] = starts[choice]
    n_pages = int(best[n, pages.least :].argmin()) + pages.least
    if not np.isfinite(best[n, n_pages]):
        return None
    spots, at = [], n
    for k in range(n_pages, 0, -1):
        spots.append(at := int(last_break[at, k]))
    return tour_of(np.split(path, spots[-2::-1]), n)


def nearest_neighbor(costs: Costs, n_pages: int) -> Tour | None:
    """Start with a shred and go on to the cheapest one left; the best over the starts tried.

    All shreds are tried as the start as long as that stays below 2e9 look-ups (n = 1,250), then as many,
    evenly spread. More pages than one: the path is cut where that saves most.
    """
    n = costs.n
    n_starts = int(min(n, max(1, _GREEDY_WORK // (n * n))))
    starts = np.unique(np.linspace(0, n - 1, n_starts).astype(np.int64))
    best, best_cost = None, np.inf
    for some in np.array_split(starts, max(1, len(starts) * n // 2_000_000)):
        for path in _walks(costs, some):
            pages = _cut_path(costs, path, n_pages)
            tour = tour_of(pages, n)
            cost = tour_cost(costs, tour)
            if cost < best_cost:
                best, best_cost = tour, cost
    return best


def _walks(costs: Costs, starts: Ints) -> Ints:
    """Greedy walks from several starts at once: (starts, n)."""
    n, lanes = costs.n, np.arange(len(starts))
    free = np.ones((len(starts), n), bool)
    at = starts.copy()
    paths = np.empty((len(starts), n), np.int64)
    for step in range(n):
        paths[:, step] = at
        free[lanes, at] = False
        if step == n - 1:
            break
        rows = (
            np.stack([costs.row(int(i))[:n] for i in at])
            if not isinstance(costs, DenseCosts)
            else np.concatenate([costs.rows(i, i + 1)[:, :n] for i in at.tolist()])
        )
        # the last resort among shreds that cannot follow is the first one left
        rows[~np.isfinite(rows)] = 1e300
        rows[~free] = np.inf
        at = rows.argmin(axis=1)
    return paths


def _cut_path(costs: Costs, path: Ints, n_pages: int) -> list[Ints]:
    if n_pages == 1:
        return [path]
    joins = costs.at(path[:-1], path[1:])
    ends, starts = costs.page_ends.ends[path[:-1]], costs.page_ends.starts[path[1:]]
    saved = np.where(np.isfinite(joins), joins, 1e300) - ends - starts
    spots = np.sort(np.argsort(-saved, kind="stable")[: n_pages - 1]) + 1
    return [np.asarray(page) for page in np.split(path, spots)]


@dataclass(frozen=True, eq=False)
class Matrix:
    """All costs at hand for local search, (n + 1, n + 1), and for each node its cheapest heads."""

    costs: Floats
    neighbors: Ints  # (n + 1, m)

    @staticmethod
    def of(costs: DenseCosts, n_neighbors: int = 10) -> Matrix:
        """Build it from blocks."""
        full = np.concatenate([costs.rows(start, stop) for start, stop in costs.blocks()])
        n_neighbors = min(n_neighbors, costs.n)
        full[~np.isfinite(full)] = _NEVER * (costs.spread + 1)
        near = np.argpartition(full, n_neighbors - 1, axis=1)[:, :n_neighbors]
        near = np.take_along_axis(
            near, np.argsort(np.take_along_axis(full, near, 1), axis=1, kind="stable"), 1
        )
        return Matrix(full, near.astype(np.int64))


class LocalSearch:
    """Moves segments (Or-opt at any length) and turns them round (each arc at its own direction's cost)."""

    def __init__(self, matrix: Matrix, tour: Tour, n: int) -> None:
        self._costs, self._neighbors, self._n = matrix.costs, matrix.neighbors, n
        self._never = float(matrix.costs[n, n])
        walk = [n]
        while len(walk) < len(tour):
            walk.append(int(tour[walk[-1]]))
        self.sequence = np.array(walk, np.int64)
        self._place = np.empty(len(tour), np.int64)
        self._refresh()

    @property
    def tour(self) -> Tour:
        tour = np.empty(len(self.sequence), np.int64)
        tour[self.sequence] = np.roll(self.sequence, -1)
        return tour

    @property
    def cost(self) -> float:
        return float(self._forward.sum())

    def _refresh(self) -> None:
        size = len(self.sequence)
        self._place[self.sequence] = np.arange(size)
        self._plain = np.minimum(self.sequence, self._n)
        following = np.roll(self._plain, -1)
        self._forward = self._costs[self._plain, following]
        backward = self._costs[following, self._plain]
        blocked = backward >= self._never
        self._gain = np.concatenate([[0.0], np.cumsum(self._forward - np.where(blocked, 0.0, backward))])
        self._blocked = np.concatenate([[0], np.cumsum(blocked)])

    def run(self, deadline: Deadline, start: Ints | None = None) -> None:
        """Improve until nothing helps or time is up."""
        queue = list(self.sequence if start is None else start)[::-1]
        waiting = np.zeros(len(self.sequence), bool)
        waiting[queue] = True
        while queue and not deadline.is_past:
            node = int(queue.pop())
            waiting[node] = False
            touched = self._move_segment(node) or self._turn_segment(node)
            for again in touched:
                if not waiting[again]:
                    waiting[again] = True
                    queue.append(again)

    def shake(self, n_kicks: int, deadline: Deadline) -> None:
        """Swap neighboring stretches at random places, improve around them, keep what is better."""
        size = len(self.sequence)
        rng = np.random.default_rng(0)
        for _ in range(n_kicks if size >= 8 else 0):
            if deadline.is_past:
                return
            before, cost = self.sequence, self.cost
            start = int(rng.integers(size))
            a, b, c = np.sort(rng.choice(np.arange(1, min(size, 50)), 3, replace=False)).tolist()
            rolled = np.roll(before, -start)
            ends = rolled[[0, a - 1, a, b - 1, b, c - 1, c % size]]
            self.sequence = np.concatenate([rolled[:a], rolled[b:c], rolled[a:b], rolled[c:]])
            self._refresh()
            self.run(deadline, np.unique(ends))
            if not self.cost < cost - 1e-12:
                self.sequence = before
                self._refresh()

    def _rotate(self, node: int) -> None:
        """Let the sequence end with the node."""
        shift = self._place[node] + 1
        if shift % len(self.sequence):
            self.sequence = np.roll(self.sequence, -shift)
            self._refresh()

    def _move_segment(self, a: int) -> list[int]:
        """Give a a better right neighbor x; what stood between them goes elsewhere, as it is."""
        costs, size = self._costs, len(self.sequence)
        row = costs[min(a, self._n)]
        base = self._forward[self._place[a]]
        promising = [x for x in self._neighbors[min(a, self._n)].tolist() if row[x] < base - 1e-9]
        best, best_cut, best_spot = 1e-9, -1, -1
        if promising:
            self._rotate(a)
        for x in promising:
            for copy in (x,) if x < self._n else range(self._n, size):
                cut = int(self._place[copy])
                if cut == 0 or cut == size - 1:
                    continue
                first, last = self._plain[0], self._plain[cut - 1]
                gain = base - row[x] + self._forward[cut - 1]
                spots = slice(cut, size - 1)
                gains = (
                    gain
                    + self._forward[spots]
                    - costs[self._plain[spots], first]
                    - costs[last, self._plain[cut + 1 : size]]
                )
                spot = int(gains.argmax()) if len(gains) else -1
                if spot >= 0 and gains[spot] > best:
                    best, best_cut, best_spot = float(gains[spot]), cut, cut + spot
                if copy != x:
                    break
        if best_cut < 0:
            return []
        old = self.sequence
        ends = [old[0], old[best_cut - 1], old[best_cut], old[best_spot], old[best_spot + 1], a]
        self.sequence = np.concatenate([old[best_cut : best_spot + 1], old[:best_cut], old[best_spot + 1 :]])
        self._refresh()
        return [int(node) for node in ends]

    def _turn_segment(self, a: int) -> list[int]:
        """Turn round what follows a, up to where it saves most."""
        costs, size = self._costs, len(self.sequence)
        if size < 4:
            return []
        self._rotate(a)
        before = self._plain[-1]
        first = self._plain[0]
        ends = slice(1, size - 1)  # the turned segment is 0 .. end
        gains = (
            self._forward[-1]
            + self._forward[ends]
            + self._gain[1 : size - 1]
            - costs[before, self._plain[ends]]
            - costs[first, self._plain[2:size]]
        )
        gains[self._blocked[1 : size - 1] > 0] = -np.inf
        spot = int(gains.argmax())
        if not gains[spot] > 1e-9:
            return []
        end = spot + 1
        touched = [int(node) for node in (a, self.sequence[0], self.sequence[end], self.sequence[end + 1])]
        self.sequence = np.concatenate([self.sequence[: end + 1][::-1], self.sequence[end + 1 :]])
        self._refresh()
        return touched
