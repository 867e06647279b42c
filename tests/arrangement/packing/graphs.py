"""Small graphs of chains for the tests of this room."""

from __future__ import annotations

import numpy as np

from deshred.arrangement.packing.graph import PageGraph
from deshred.arrangement.problem.rules import Room


def random_graph(rng, size):
    """Chains a fifth to a half of the paper wide; some joins cannot be."""
    joins = rng.uniform(0, 4, (size, size))
    joins[rng.random((size, size)) < 0.2] = np.inf
    np.fill_diagonal(joins, np.inf)
    begins, ends = rng.uniform(0, 2, (2, size))
    begins[rng.random(size) < 0.2] = np.inf
    return PageGraph(joins, begins, ends, Room(rng.uniform(20, 50, size), 100.0))
