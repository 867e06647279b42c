"""Distances between characters in, the letters of the pile out: k-medoids by random swaps (CLARANS).

Ng and Han, "CLARANS: a method for clustering objects for spatial data mining", IEEE Transactions on
Knowledge and Data Engineering 14 (2002).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Distances = NDArray[np.float32]  # (n, n), symmetric
Indices = NDArray[np.int64]

# swaps that are priced at once; the first good one counts, as if one came after the other
_FIRST_BATCH, _MOST_BATCH = 4, 256
_LESS = 1 - 1e-6  # a swap must save more than rounding does


@dataclass(frozen=True)
class AlphabetOptions:
    """How many letters, and how long they are looked for."""

    letters: int = 52
    searches: int = 2
    patience: float = 0.0125  # share of all swaps that may fail in a row


def learn_alphabet(distances: Distances, rng: np.random.Generator, options: AlphabetOptions) -> Indices:
    """The characters that stand for the others best; those that stand for themselves alone are left out."""
    searches = [_search(distances, rng, options) for _ in range(options.searches)]
    medoids = min(searches, key=lambda search: search.cost).medoids
    sizes = np.bincount(distances[medoids].argmin(axis=0), minlength=len(medoids))
    shared = medoids[sizes > 1]
    return shared if len(shared) else medoids


class _Clusters:
    """Medoids, and how far every character is from the nearest and the second nearest of them.

    Until a swap is made the prices of swaps do not change: those of a newcomer for all medoids come from one
    product, and are kept. Random swaps ask for the same newcomers many times.
    """

    def __init__(self, medoids: Indices, distances: Distances) -> None:
        self.medoids = medoids
        self._distances = distances
        to_medoids = distances[medoids]
        owner = to_medoids.argmin(axis=0)
        every = np.arange(len(owner))
        self._nearest = to_medoids[owner, every]
        to_medoids[owner, every] = np.inf
        self._second = to_medoids.min(axis=0)
        # sparse: threads of a small dense product would only wait for each other
        self._members = csr_array(
            (np.ones(len(owner), np.float32), (owner, every)), (len(medoids), len(owner))
        )
        self._prices = np.full(distances.shape[:1] + medoids.shape, np.nan)

    @property
    def cost(self) -> float:
        return float(self._nearest.sum(dtype=np.float64))

    def price(self, slots: Indices, newcomers: Indices) -> NDArray[np.float64]:
        """The cost after each swap of the medoid in a slot for a newcomer."""
        fresh = np.unique(newcomers[np.isnan(self._prices[newcomers, 0])])
        if len(fresh):
            to_newcomers = self._distances[fresh]
            kept = np.minimum(to_newcomers, self._nearest)
            lost = np.minimum(to_newcomers, self._second) - kept  # where a character loses its medoid
            self._prices[fresh] = kept.sum(axis=1, dtype=np.float64)[:, None] + (self._members @ lost.T).T
        return np.asarray(self._prices[newcomers, slots])


def _search(distances: Distances, rng: np.random.Generator, options: AlphabetOptions) -> _Clusters:
    """Swap until too many random swaps in a row do not help."""
    n = len(distances)
    k = min(n, options.letters)
    limit = int(options.patience * n * (n - k))
    shuffled = rng.permutation(n)
    clusters = _Clusters(shuffled[:k], distances)
    others = shuffled[k:].copy()
    failures, batch = 1, _FIRST_BATCH
    while failures <= limit and len(others):
        size = min(batch, limit - failures + 1)
        slots, places = rng.integers(k, size=size), rng.integers(len(others), size=size)
        better = clusters.price(slots, others[places]) < clusters.cost * _LESS
        if not better.any():
            failures, batch = failures + size, min(2 * batch, _MOST_BATCH)
            continue
        first = int(better.argmax())
        slot, place = int(slots[first]), int(places[first])
        medoids = clusters.medoids.copy()
        medoids[slot], others[place] = others[place], medoids[slot]
        clusters = _Clusters(medoids, distances)
        failures, batch = 1, _FIRST_BATCH
    return clusters
