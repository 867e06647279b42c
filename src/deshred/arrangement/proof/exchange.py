"""Arcs with reduced costs -> those that an order within some slack of the bound can use at all.

A shred that takes an arc displaces another, which has to go elsewhere, and so on, until the neighbor that
was left alone first is taken again: a circle of exchanges, each at its reduced cost. The cheapest such
circle is found by shortest paths from the arcs that cost nothing.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra, maximum_bipartite_matching

from deshred.arrangement.problem.fixings import Floats, Ints
from deshred.arrangement.problem.rules import Mask

_FREE = 1e-9  # reduced costs up to this count as none
_MOST_NODES = 1000  # beyond, distances between all pairs take longer than they save


def are_usable(tails: Ints, heads: Ints, reduced: Floats, n_nodes: int, slack: float) -> Mask:
    """Whether each arc is part of some cheap set of arcs, one from and one to each node; if unsure, yes.

    Cheap means reduced costs within the slack; what is negative counts as none.
    """
    everything = np.ones(len(tails), bool)
    if n_nodes > _MOST_NODES:
        return everything
    costs = np.maximum(reduced, 0.0)
    free = costs <= _FREE
    shape = (n_nodes, n_nodes)
    graph = csr_matrix((np.ones(int(free.sum())), (tails[free], heads[free])), shape=shape)
    mate = maximum_bipartite_matching(graph, perm_type="column").astype(np.int64)
    if (mate < 0).any():
        return everything
    displaced = np.empty(n_nodes, np.int64)
    displaced[mate] = np.arange(n_nodes)
    others = mate[tails] != heads
    # explicit zeros are arcs to SciPy, unlike entries that are missing
    steps = csr_matrix((costs[others], (tails[others], displaced[heads[others]])), shape=shape)
    back = dijkstra(steps, limit=slack + _FREE)[displaced[heads], tails]
    back[~others] = 0.0
    usable: Mask = costs + back <= slack + _FREE
    return usable
