"""The truth for small piles: Held-Karp over subsets, and plain enumeration where pages have groups."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise, permutations

import numpy as np

from deshred.arrangement.problem.costs import DenseCosts, PageEnds
from deshred.arrangement.problem.fixings import PageCount, fix
from deshred.arrangement.problem.rules import Room
from deshred.arrangement.problem.scores import score_range
from deshred.elements import Compatibility, Constraints, Margins


def pile(scores, margins: Margins | None = None) -> Compatibility:
    scores = np.asarray(scores)
    ids = tuple(f"s{i}" for i in range(len(scores)))
    return Compatibility(ids, scores, np.zeros(scores.shape, np.int16), margins=margins)


def join_costs(compatibility: Compatibility) -> np.ndarray:
    """max(C) - C, infinite on the diagonal."""
    scores = compatibility.scores.astype(np.float64)
    n = len(scores)
    off = ~np.eye(n, dtype=bool)
    finite = scores[off & np.isfinite(scores)]
    highest = finite.max() if finite.size else 0.0
    return np.where(off, highest - scores, np.inf)


def page_costs(compatibility: Compatibility) -> tuple[np.ndarray, np.ndarray]:
    """Costs to begin and to end a page with each shred."""
    n, margins = len(compatibility), compatibility.margins
    if margins is None:
        return np.zeros(n), np.zeros(n)
    scores = compatibility.scores[~np.eye(n, dtype=bool)].astype(np.float64)
    half = scores.max(initial=-np.inf) / 2 if np.isfinite(scores).any() else 0.0
    return half - margins.starts.astype(np.float64), half - margins.ends.astype(np.float64)


def constrained_costs(
    compatibility: Compatibility, constraints: Constraints
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Costs of joins, starts and ends with infinity where a constraint rules them out, groups left aside."""
    costs, (starts, ends) = join_costs(compatibility), page_costs(compatibility)
    starts, ends = starts.copy(), ends.copy()
    index = {id_: i for i, id_ in enumerate(compatibility.ids)}
    finite = costs[np.isfinite(costs)]
    dearest = finite.max() if finite.size else 0.0
    for a, b in ((index[a], index[b]) for a, b in constraints.forbidden):
        costs[a, b] = np.inf
    for a, b in ((index[a], index[b]) for a, b in constraints.required):
        kept = (
            costs[a, b]
            if np.isfinite(costs[a, b])
            or (compatibility.ids[a], compatibility.ids[b]) in (constraints.forbidden)
            else dearest
        )
        costs[a, :] = np.inf
        costs[:, b] = np.inf
        ends[a] = starts[b] = np.inf
        costs[a, b] = kept
    for i in (index[id_] for id_ in constraints.first):
        costs[:, i] = np.inf
    for i in (index[id_] for id_ in constraints.last):
        costs[i, :] = np.inf
    return costs, starts, ends


def held_karp(compatibility: Compatibility, constraints: Constraints, n_pages: int) -> float:
    """The cost of the cheapest cover by pages, groups left aside; infinite if there is none."""
    costs, starts, ends = constrained_costs(compatibility, constraints)
    n = len(costs)
    # best[pages][subset][last] with every page but the current one closed
    best = np.full((n_pages + 1, 1 << n, n), np.inf)
    for j in range(n):
        best[1, 1 << j, j] = starts[j]
    for subset in range(1, 1 << n):
        for pages in range(1, n_pages + 1):
            row = best[pages, subset]
            if not np.isfinite(row).any():
                continue
            closed = (row + ends).min()
            for j in range(n):
                if subset >> j & 1:
                    continue
                into = subset | 1 << j
                best[pages, into, j] = min(best[pages, into, j], (row + costs[:, j]).min())
                if pages < n_pages:
                    best[pages + 1, into, j] = min(best[pages + 1, into, j], closed + starts[j])
    return float((best[n_pages, -1] + ends).min())


def held_karp_on_pages(
    compatibility: Compatibility, constraints: Constraints, n_pages: int, most_mm: float
) -> float:
    """The same with no page wider than `most_mm`; the price of pages of known width is not included."""
    costs, starts, ends = constrained_costs(compatibility, constraints)
    widths = compatibility.margins.widths_mm.astype(float)
    n = len(costs)
    paths = np.full((1 << n, n), np.inf)  # (subset, last)
    for subset in range(1, 1 << n):
        inside = [j for j in range(n) if subset >> j & 1]
        for j in inside:
            rest = subset ^ 1 << j
            paths[subset, j] = (paths[rest] + costs[:, j]).min() if rest else starts[j]
    fits = np.array(
        [widths[[j for j in range(n) if subset >> j & 1]].sum() <= most_mm for subset in range(1 << n)]
    )
    page = np.where(fits, (paths + ends).min(axis=1), np.inf)
    best = np.where(np.arange(1 << n) == 0, 0.0, np.inf)
    for _ in range(n_pages):
        longer = np.full(1 << n, np.inf)
        for subset in range(1, 1 << n):
            some = subset
            while some:  # all its subsets
                longer[subset] = min(longer[subset], best[subset ^ some] + page[some])
                some = (some - 1) & subset
        best = longer
    return float(best[-1])


def enumerate_orders(
    compatibility: Compatibility, constraints: Constraints, n_pages: int, *, most_mm: float = np.inf
) -> float:
    """The cost of the cheapest cover that obeys all constraints, by trying every one (n <= 7).

    No page is wider than `most_mm`; the price of pages in piles of known width is not included.
    """
    costs, (starts, ends) = join_costs(compatibility), page_costs(compatibility)
    ids, n = compatibility.ids, len(costs)
    dearest = costs[np.isfinite(costs)].max(initial=0.0)
    for a, b in constraints.required:  # a person overrules a scorer that rules a join out
        i, j = ids.index(a), ids.index(b)
        costs[i, j] = costs[i, j] if np.isfinite(costs[i, j]) else dearest
    widths = np.zeros(n) if compatibility.margins is None else compatibility.margins.widths_mm.astype(float)
    cheapest = np.inf
    for order in permutations(range(n)):
        for cuts in combinations(range(1, n), n_pages - 1):
            bounds = (0, *cuts, n)
            pages = [order[a:b] for a, b in pairwise(bounds)]
            if n_pages > 1 and any(a[0] > b[0] for a, b in pairwise(pages)):
                continue
            if any(widths[list(page)].sum() > most_mm for page in pages):
                continue
            if not obeys([[ids[i] for i in page] for page in pages], constraints):
                continue
            joins = sum(costs[i, j] for page in pages for i, j in pairwise(page))
            cheapest = min(cheapest, joins + sum(starts[p[0]] + ends[p[-1]] for p in pages))
    return float(cheapest)


def obeys(pages: list[list[str]], constraints: Constraints) -> bool:
    """Whether pages of ids fulfil all constraints."""
    joins = {pair for page in pages for pair in pairwise(page)}
    page_of = {id_: k for k, page in enumerate(pages) for id_ in page}
    return (
        constraints.required <= joins
        and not constraints.forbidden & joins
        and constraints.first <= {page[0] for page in pages}
        and constraints.last <= {page[-1] for page in pages}
        and all(len({page_of[id_] for id_ in group}) == 1 for group in constraints.together)
        and all(len({page_of[id_] for id_ in group}) == len(group) for group in constraints.apart)
    )


def best_of(scores, n_best: int, margins: Margins | None = None) -> tuple[Compatibility, Compatibility]:
    """The best candidates of every row and column, and the full matrix that they stand for."""
    n = len(scores)
    open_ = np.where(np.eye(n, dtype=bool), -np.inf, scores)
    kept = np.zeros((n, n), bool)
    np.put_along_axis(kept, np.argsort(-open_, axis=1)[:, :n_best], True, 1)
    np.put_along_axis(kept, np.argsort(-open_, axis=0)[:n_best], True, 0)
    np.fill_diagonal(kept, False)
    tails, heads = np.nonzero(kept)
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    sparse = Compatibility(
        tuple(f"s{i}" for i in range(n)),
        scores[tails, heads].astype(np.float32),
        np.zeros(len(tails), np.int16),
        row_starts=starts.astype(np.int64),
        columns=heads.astype(np.int32),
        margins=margins,
    )
    return sparse, pile(np.where(kept, scores, scores[kept].min()).astype(np.float32), margins)


def random_scores(rng: np.random.Generator, n: int) -> np.ndarray:
    """Scores with ties, negatives, symmetric or impossible joins, depending on the draw."""
    kind = rng.integers(5)
    if kind == 0:
        scores = rng.normal(size=(n, n))
    elif kind == 1:
        scores = rng.integers(0, 4, (n, n)).astype(float)
    elif kind == 2:
        scores = rng.normal(size=(n, n)) - 5
        scores = scores + scores.T
    elif kind == 3:
        scores = np.full((n, n), 0.5)
    else:
        scores = np.round(rng.random((n, n)), 1)
    if rng.random() < 0.25:
        scores[rng.random((n, n)) < 0.3] = -np.inf
    return scores.astype(np.float32)


def random_constraints(rng: np.random.Generator, ids: tuple[str, ...], *, groups: bool) -> Constraints:
    """A few constraints, often at odds with each other."""

    def pairs(most: int) -> frozenset[tuple[str, str]]:
        chosen = [rng.choice(len(ids), 2, replace=False) for _ in range(rng.integers(0, most + 1))]
        return frozenset((ids[a], ids[b]) for a, b in chosen)

    def some(most: int) -> frozenset[str]:
        return frozenset(ids[i] for i in rng.choice(len(ids), rng.integers(0, most + 1), replace=False))

    def sets() -> frozenset[frozenset[str]]:
        return frozenset(
            frozenset(ids[i] for i in rng.choice(len(ids), rng.integers(2, 4), replace=False))
            for _ in range(rng.integers(0, 3))
        )

    if len(ids) < 3:
        return Constraints()
    return Constraints(
        required=pairs(2),
        forbidden=pairs(4),
        first=some(1),
        last=some(1),
        together=sets() if groups else frozenset(),
        apart=sets() if groups else frozenset(),
    )


def costs_of(scores: np.ndarray, ends: PageEnds, pages: PageCount, room: Room | None = None) -> DenseCosts:
    """Costs without constraints."""
    compatibility = pile(scores)
    costs = DenseCosts(scores, ends, pages, score_range(compatibility), room)
    return costs.fix(fix(compatibility.ids, Constraints(), pages))


def random_costs(rng: np.random.Generator, n: int, pages: PageCount, room: Room | None = None) -> DenseCosts:
    """Costs without constraints, of joins and page ends drawn at random."""
    return costs_of(rng.normal(size=(n, n)), PageEnds(*rng.uniform(0, 1, (2, n))), pages, room)


def all_covers(n: int, pages: PageCount) -> Iterator[list[tuple[int, ...]]]:
    """Every way to lay n shreds on so many pages, each once."""
    for n_pages in range(pages.least, pages.most + 1):
        for order in permutations(range(n)):
            for cuts in combinations(range(1, n), n_pages - 1):
                cover = [order[a:b] for a, b in pairwise((0, *cuts, n))]
                if all(a[0] < b[0] for a, b in pairwise(cover)):
                    yield cover


def arcs_of(cover: list[tuple[int, ...]], n: int) -> list[tuple[int, int]]:
    """The joins of a cover, and its page ends as arcs from and to the outside."""
    return [arc for page in cover for arc in pairwise((n, *page, n))]


def full_matrix(costs: DenseCosts) -> np.ndarray:
    """All costs, the outside last."""
    return np.stack([costs.row(node) for node in range(costs.n + 1)])


def cover_cost(matrix: np.ndarray, cover: list[tuple[int, ...]]) -> float:
    """What a cover costs, arc by arc."""
    return float(sum(matrix[arc] for arc in arcs_of(cover, len(matrix) - 1)))
