from itertools import pairwise, permutations

import numpy as np

from deshred.compatibility.classical.words.composition import join_greedily, match_ends, order_groups


def test_the_best_pairs_are_joined_and_no_ring_closes() -> None:
    assert join_greedily([(0, 1), (1, 2), (2, 0), (0, 3), (3, 4)], 5) == [(0, 1, 2), (3, 4)]


def test_the_matching_is_the_best_of_all_and_every_circle_is_cut_at_its_lightest_arc() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        weights = rng.random((5, 5))
        np.fill_diagonal(weights, -np.inf)
        groups = match_ends(weights)
        assert sorted(i for group in groups for i in group) == list(range(5))
        arcs = [(a, b) for group in groups for a, b in zip(group, (*group[1:], group[0]), strict=True)]
        best = max(sum(weights[range(5), order]) for order in permutations(range(5)))
        assert np.isclose(sum(weights[arc] for arc in arcs), best)
        for group in groups:
            inner = [weights[a, b] for a, b in pairwise(group)]
            assert weights[group[-1], group[0]] <= min(inner)


def test_groups_follow_the_best_one_left_and_none_comes_twice() -> None:
    weights = np.full((3, 3), 0.1)
    np.fill_diagonal(weights, -np.inf)
    weights[2, 0], weights[0, 1] = 0.9, 0.8
    assert order_groups([(0,), (1,), (2,)], weights) == (2, 0, 1)
