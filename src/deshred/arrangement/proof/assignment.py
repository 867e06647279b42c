"""The assignment relaxation: every shred gets one right neighbor, circles allowed.

It supplies the first duals and the first tour to patch. Its duals need not be exact: every bound is
recomputed from them on the full matrix, and the LP continues from there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from deshred.arrangement.problem.costs import Arcs, Costs, DenseCosts
from deshred.arrangement.problem.deadlines import NEVER, Deadline
from deshred.arrangement.problem.fixings import Floats, Ints
from deshred.integersets import are_among

_PRICED = 5  # per row and round
_COPIES = 20  # of the outside that take part in the matching; more pages than that cost a price each instead
_BISECTIONS = 10  # to find that price
_DENSE_SECONDS, _SPARSE_SECONDS = 4e-9, 4e-4  # times size ** 2.5, times the number of shreds


@dataclass(frozen=True)
class AssignmentOptions:
    """Beyond so many nodes, a matching over so many candidates that are priced on the full matrix."""

    dense_limit: int = 3000
    candidates: int = 10


@dataclass(frozen=True, eq=False)
class Assignment:
    """Right neighbors and the prices that prove them cheapest."""

    right: Ints  # (n,): may hold circles; -1 where the page ends or no candidate is left
    out_duals: Floats  # (N,)
    in_duals: Floats  # (N,)
    rounds: int = 1  # of matching


def assign(
    costs: Costs,
    n_pages: int,
    deadline: Deadline = NEVER,
    *,
    options: AssignmentOptions = AssignmentOptions(),  # noqa: B008 - frozen
) -> Assignment:
    """Cheapest right neighbors for a number of pages; arcs of infinite cost only where unavoidable.

    Large ones are not the cheapest where the deadline is past.
    """
    if isinstance(costs, DenseCosts) and costs.n + n_pages <= options.dense_limit:
        return assign_densely(costs, n_pages)
    return assign_sparsely(costs, n_pages, deadline, options.candidates)


def seconds_expected(costs: Costs, n_pages: int, options: AssignmentOptions) -> float:
    """About how long `assign` takes, which looks at the clock rarely or never."""
    size = costs.n + n_pages
    if isinstance(costs, DenseCosts) and size <= options.dense_limit:
        return float(_DENSE_SECONDS * size**2.5)
    return _SPARSE_SECONDS * costs.n


def assign_densely(costs: DenseCosts, n_pages: int) -> Assignment:
    """Over the full matrix."""
    n, size = costs.n, costs.n + n_pages
    matrix = np.empty((size, size))
    for start, stop in costs.blocks():
        matrix[start:stop, : n + 1] = costs.rows(start, stop)
    matrix[n + 1 :, : n + 1] = matrix[n, : n + 1]
    matrix[:, n + 1 :] = matrix[:, n : n + 1]
    finite = np.isfinite(matrix)
    big = (float(np.abs(matrix[finite]).max(initial=0.0)) + 1) * 4 * size
    matrix[~finite] = big
    _, right = linear_sum_assignment(matrix)
    right = right.astype(np.int64)
    own = matrix[np.arange(size), right]
    left = np.empty(size, np.int64)
    left[right] = np.arange(size)
    in_duals = np.zeros(size)
    rows = np.arange(size)
    for _ in range(3 * size):  # shortest paths by label correction, only from rows that changed
        if not len(rows):
            break
        lowered = in_duals.copy()
        for at in range(0, len(rows), 512):
            some = rows[at : at + 512]
            through = matrix[some] + (in_duals[right[some]] - own[some])[:, None]
            np.minimum(lowered, through.min(axis=0), out=lowered)
        changed = np.flatnonzero(lowered < in_duals - 1e-11)
        in_duals = lowered
        rows = left[changed]
    out_duals = own - in_duals[right]
    shreds = np.where((right < n) & (own < big / 2), right, -1)[:n]
    return Assignment(
        shreds, np.append(out_duals[:n], out_duals[n:].min()), np.append(in_duals[:n], in_duals[n:].min())
    )


def assign_sparsely(costs: Costs, n_pages: int, deadline: Deadline, candidates: int) -> Assignment:
    """Match over candidates; a shred without partner goes to the outside or the hub, whichever is cheaper."""
    arcs = costs.candidates(candidates)
    n, width = costs.n, costs.n_nodes
    copies = n_pages if costs.pages.is_fixed and n_pages <= _COPIES else 0
    leave, enter = _loose(costs, copies)
    if n_pages > _COPIES and costs.pages.is_fixed and costs.hub is None:
        leave, enter = _loose_for(arcs, costs, n_pages, deadline)
    matched, rounds = None, 0
    while True:
        rounds += 1
        matched = _match(_with_copies(arcs, n, copies), leave, enter, matched)
        out_duals, in_duals = np.zeros(width), np.zeros(width)
        out_duals[:n], in_duals[:n] = matched.out_duals[:n], matched.in_duals[:n]
        if costs.hub is not None:
            break
        _price_outside(costs, out_duals, in_duals)
        missed = costs.arcs_below(out_duals, in_duals, -1e-6)
        missed = missed.take((missed.tails < n) & (missed.heads < n))
        missed = missed.take(~are_among(missed.tails * width + missed.heads, arcs.tails * width + arcs.heads))
        if not len(missed) or deadline.is_past:
            break
        more = missed.lowest(_PRICED)
        tails, heads = np.append(arcs.tails, more.tails), np.append(arcs.heads, more.heads)
        arcs = Arcs(tails, heads, costs.at(tails, heads))
    right = matched.right[:n]
    return Assignment(np.where(right < n, right, -1), out_duals, in_duals, rounds)


def _price_outside(costs: Costs, out_duals: Floats, in_duals: Floats) -> None:
    """As much as the page ends bear; an open number of pages would multiply what is below nothing."""
    n, ends = costs.n, costs.page_ends
    least = -np.inf if costs.pages.is_fixed else 0.0
    begin, end = ends.starts - in_duals[:n], ends.ends - out_duals[:n]
    out_duals[n] = max(least, begin.min(initial=costs.dearest, where=np.isfinite(begin)))
    in_duals[n] = max(least, end.min(initial=costs.dearest, where=np.isfinite(end)))


def _with_copies(arcs: Arcs, n: int, copies: int) -> Arcs:
    """Arcs between shreds, and those of the outside once for each of its copies."""
    inner = arcs.take((arcs.tails < n) & (arcs.heads < n))
    begin, end = arcs.take(arcs.tails == n), arcs.take(arcs.heads == n)
    many = n + np.arange(copies)
    return Arcs(
        np.concatenate([inner.tails, np.repeat(many, len(begin)), np.tile(end.tails, copies)]),
        np.concatenate([inner.heads, np.tile(begin.heads, copies), np.repeat(many, len(end))]),
        np.concatenate([inner.reduced, np.tile(begin.reduced, copies), np.tile(end.reduced, copies)]),
    )


def _loose(costs: Costs, copies: int) -> tuple[Floats, Floats]:
    """What a shred without a right, without a left neighbor is charged; copies of the outside need one.

    Half the dearest join each, or its page end where evidence makes that cheaper; ends that are free for
    all would leave nothing to match.
    """
    ends = costs.page_ends
    half, never = np.full(costs.n, costs.dearest / 2), np.full(copies, np.inf)
    if not ends.differ or copies:
        return np.append(half, never), np.append(half, never)
    return np.minimum(half, ends.ends), np.minimum(half, ends.starts)


def _loose_for(arcs: Arcs, costs: Costs, n_pages: int, deadline: Deadline) -> tuple[Floats, Floats]:
    """The same at a price per page that leaves about so many shreds without a right neighbor."""
    inner = _with_copies(arcs, costs.n, 0)
    low, high, matched = -costs.spread, costs.spread, None
    for _ in range(_BISECTIONS):
        price = (low + high) / 2
        leave, enter = costs.page_ends.ends + price / 2, costs.page_ends.starts + price / 2
        if deadline.is_past:
            break
        matched = _match(inner, leave, enter, matched)
        if (matched.right[: costs.n] >= costs.n).sum() > n_pages:
            low = price
        else:
            high = price
    return leave, enter


def _match(arcs: Arcs, leave: Floats, enter: Floats, known: Assignment | None) -> Assignment:
    """Each shred takes a right neighbor or leaves; the mirror image of the graph closes the matching.

    Costs less prices that are known, even if only roughly, are much quicker to match. The weights are
    integers because SciPy's matcher can loop forever on fractions.
    """
    n = len(leave)
    nodes, mirror = np.arange(n), n + np.arange(n)
    rows = np.concatenate([arcs.tails, nodes, mirror, n + arcs.heads])
    columns = np.concatenate([arcs.heads, mirror, nodes, n + arcs.tails])
    plain = np.concatenate([arcs.reduced, leave, enter, np.zeros(len(arcs))])
    possible = np.isfinite(plain)
    low, high = float(plain.min(initial=0.0, where=possible)), float(plain.max(initial=0.0, where=possible))
    scale = 2.0 ** np.round(np.log2(2**34 / max(high - low, 1e-9)))
    plain[~possible] = (high - low + 1) * 8
    weights = np.round(plain * scale)
    out_prices = np.zeros(2 * n) if known is None else np.round(known.out_duals * scale)
    in_prices = np.zeros(2 * n) if known is None else np.round(known.in_duals * scale)
    weights -= out_prices[rows] + in_prices[columns]
    shift = weights.min() - 1
    weights -= shift
    graph = csr_matrix((weights, (rows, columns)), shape=(2 * n, 2 * n))
    matched_rows, matched_columns = min_weight_full_bipartite_matching(graph)
    right = np.empty(2 * n, np.int64)
    right[matched_rows] = matched_columns
    own = np.asarray(graph[np.arange(2 * n), right]).ravel()
    order = np.argsort(columns, kind="stable")
    tails, heads = rows[order], columns[order]
    step = weights[order] - own[tails]
    starts = np.flatnonzero(np.append(True, heads[1:] != heads[:-1]))
    ends = heads[starts]
    in_duals = np.zeros(2 * n)
    for _ in range(6 * n):
        through = np.minimum.reduceat(in_duals[right[tails]] + step, starts)
        lower = through < in_duals[ends] - 0.5
        if not lower.any():
            break
        in_duals[ends[lower]] = through[lower]
    out_duals = own - in_duals[right] + shift
    return Assignment(right, (out_duals + out_prices) / scale, (in_duals + in_prices) / scale)
