"""The assignment relaxation: every shred gets one right neighbor, circles allowed.

It supplies the first duals and the first tour to patch. Its duals need not be exact: every bound is
recomputed from them on the full matrix, and the LP continues from there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from deshred.arrangement.costs import Arcs, Costs, DenseCosts
from deshred.arrangement.fixings import Floats, Ints

_DENSE_LIMIT = 6000  # nodes; beyond, a matching over candidates that are priced on the full matrix
_CANDIDATES = 10
_DENSE_SECONDS, _SPARSE_SECONDS = 4e-9, 2e-4  # times size ** 2.5, times the number of shreds


@dataclass(frozen=True, eq=False)
class Assignment:
    """Right neighbors and the prices that prove them cheapest."""

    right: Ints  # (n,): may hold circles; -1 where the page ends or no candidate is left
    out_duals: Floats  # (N,)
    in_duals: Floats  # (N,)


def assign(costs: Costs, n_pages: int, deadline: float = np.inf) -> Assignment:
    """Cheapest right neighbors for a number of pages; arcs of infinite cost only where unavoidable.

    Large ones are not the cheapest where the deadline is past.
    """
    if isinstance(costs, DenseCosts) and costs.n + n_pages <= _DENSE_LIMIT:
        return _assign_dense(costs, n_pages)
    return _assign_sparse(costs, deadline)


def seconds_expected(costs: Costs, n_pages: int) -> float:
    """About how long `assign` takes, which looks at the clock rarely or never."""
    size = costs.n + n_pages
    if isinstance(costs, DenseCosts) and size <= _DENSE_LIMIT:
        return float(_DENSE_SECONDS * size**2.5)
    return _SPARSE_SECONDS * costs.n


def _assign_dense(costs: DenseCosts, n_pages: int) -> Assignment:
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


def _assign_sparse(costs: Costs, deadline: float) -> Assignment:
    """Match over candidates; a shred without partner goes to the outside or the hub, whichever is cheaper."""
    arcs = costs.candidates(_CANDIDATES)
    n, width = costs.n, costs.n_nodes
    while True:
        inner = (arcs.tails < n) & (arcs.heads < n)
        leave, enter = _loose(costs)
        matched = _match(arcs.take(inner), leave, enter)
        out_duals = np.concatenate([matched.out_duals, np.zeros(width - n)])
        in_duals = np.concatenate([matched.in_duals, np.zeros(width - n)])
        if costs.hub is not None:
            break
        missed = costs.arcs_below(out_duals, in_duals, -1e-6)
        missed = missed.take((missed.tails < n) & (missed.heads < n))
        missed = missed.take(~np.isin(missed.tails * width + missed.heads, arcs.tails * width + arcs.heads))
        if not len(missed) or time.monotonic() > deadline:
            break
        arcs = _with_lowest(arcs, missed, costs, 5)
    return Assignment(matched.right, out_duals, in_duals)


def _loose(costs: Costs) -> tuple[Floats, Floats]:
    """What a shred without a right, without a left neighbor is charged.

    Half the dearest join each, or its page end where evidence makes that cheaper; ends that are free for
    all would leave nothing to match.
    """
    ends = costs.page_ends
    half = np.full(costs.n, costs.dearest / 2)
    if not ends.differ:
        return half, half
    return np.minimum(half, ends.ends), np.minimum(half, ends.starts)


def _with_lowest(arcs: Arcs, more: Arcs, costs: Costs, per_row: int) -> Arcs:
    order = np.lexsort((more.reduced, more.tails))
    tails, heads = more.tails[order], more.heads[order]
    rank = np.arange(len(tails)) - np.searchsorted(tails, tails)
    kept = rank < per_row
    tails, heads = np.append(arcs.tails, tails[kept]), np.append(arcs.heads, heads[kept])
    return Arcs(tails, heads, costs.at(tails, heads))


def _match(arcs: Arcs, leave: Floats, enter: Floats) -> Assignment:
    """Each shred takes a right neighbor or leaves; the mirror image of the graph closes the matching.

    The weights are integers because SciPy's matcher can loop forever on fractions.
    """
    n = len(leave)
    finite = np.concatenate([arcs.reduced, leave[np.isfinite(leave)], enter[np.isfinite(enter)]])
    low, high = float(finite.min(initial=0.0)), float(finite.max(initial=0.0))
    scale = 2.0 ** np.round(np.log2(2**34 / max(high - low, 1e-9)))
    big = (high - low + 1) * 8
    leave, enter = np.where(np.isfinite(leave), leave, big), np.where(np.isfinite(enter), enter, big)
    nodes = np.arange(n)
    rows = np.concatenate([arcs.tails, nodes, n + nodes, n + arcs.heads])
    columns = np.concatenate([arcs.heads, n + nodes, nodes, n + arcs.tails])
    plain = np.concatenate([arcs.reduced, leave, enter, np.zeros(len(arcs))])
    weights = np.round(plain * scale)
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
    out_duals = (own - in_duals[right] + shift) / scale
    partner = np.where(right[:n] < n, right[:n], -1)
    return Assignment(partner, out_duals[:n], in_duals[:n] / scale)
