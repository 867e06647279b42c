"""Components are the same whichever way they are found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from deshred.arrangement.proof.cuts import components, few_components


@pytest.mark.parametrize("seed", range(20))
def test_few_components_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 300))
    tails, heads = rng.integers(0, n, (2, int(rng.integers(0, n + 1))))
    graph = coo_matrix((np.ones(len(tails)), (tails, heads)), shape=(n, n))
    count, labels = connected_components(graph, directed=True, connection="weak")
    found = few_components(n, tails, heads)
    assert found[0] == count
    assert len({*zip(labels.tolist(), found[1].tolist(), strict=True)}) == count


def test_many_arcs_have_the_components_of_few():
    order = np.random.default_rng(0).permutation(4000)
    tails, heads = order[:3000], order[1:3001]
    (count, labels), (few, same) = components(4000, tails, heads), few_components(4000, tails, heads)
    assert count == few == 1000
    assert len({*zip(labels.tolist(), same.tolist(), strict=True)}) == 1000
