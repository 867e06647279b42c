from __future__ import annotations

import numpy as np

from deshred.integersets import are_among, distinct


def test_keys_of_several_runs_come_out_sorted_and_once_each() -> None:
    runs = [np.array([4, 7, 9]), np.array([1, 4]), np.zeros(0, np.int64), np.array([9, 2])]
    assert distinct(runs).tolist() == [1, 2, 4, 7, 9]
    assert distinct([np.zeros(0, np.int64)]).tolist() == []


def test_keys_are_among_others_or_not() -> None:
    rng = np.random.default_rng(4)
    for size in (0, 1, 50):
        keys, others = rng.integers(0, 60, 40), rng.integers(0, 60, size)
        assert are_among(keys, others).tolist() == np.isin(keys, others).tolist()
    assert are_among(np.zeros(0, np.int64), np.array([1])).tolist() == []
