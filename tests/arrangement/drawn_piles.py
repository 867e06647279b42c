"""Piles of scores with known pages, dense and sparse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Compatibility, Margins
from tests.arrangement.brute_force import pile


def documents(seed, n_pages=4, length=12, weak=0.15):
    """Pages of shreds with log-odds for joins and margins; the outer edges fit each other somewhat."""
    rng = np.random.default_rng(seed)
    n = n_pages * length
    scores = rng.normal(-4, 1.5, (n, n)).astype(np.float32)
    inner = np.array([i for i in range(n - 1) if (i + 1) % length])
    scores[inner, inner + 1] = np.where(rng.random(len(inner)) < weak, 0.0, 5.0) + rng.normal(
        0, 1, len(inner)
    )
    firsts, lasts = np.arange(0, n, length), np.arange(length - 1, n, length)
    scores[np.ix_(lasts, firsts)] = rng.normal(1, 1, (n_pages, n_pages))
    starts, ends = rng.normal(-4, 1, n), rng.normal(-4, 1, n)
    starts[firsts], ends[lasts] = rng.normal(4, 1, n_pages), rng.normal(4, 1, n_pages)
    widths = np.full(n, 210 / length)
    margins = Margins(*(a.astype(np.float32) for a in (starts, ends, widths)))
    return pile(scores, margins), {f"s{i}" for i in firsts}


def draw_pile(rng: np.random.Generator, n: int = 24, per_page: int = 6, noise: float = 3.0) -> Compatibility:
    """Pages of equal length whose true joins score some nats more than the others."""
    scores = rng.normal(-8, noise, (n, n)).astype(np.float32)
    starts, ends = (rng.normal(-6, noise, n).astype(np.float32) for _ in range(2))
    for i in range(n):
        if i % per_page == 0:
            starts[i] += 7
        if i % per_page == per_page - 1:
            ends[i] += 7
        else:
            scores[i, i + 1] += 14
    np.fill_diagonal(scores, -np.inf)
    ids = tuple(f"s{i:02d}" for i in range(n))
    margins = Margins(starts, ends, np.full(n, 30, np.float32))
    return Compatibility(ids, scores, np.zeros((n, n), np.int16), margins=margins)


def to_sparse(dense: Compatibility, kept: NDArray[np.bool_] | None = None) -> Compatibility:
    """The same scores as a list of those kept, or of all that can be."""
    rows, columns = np.nonzero(np.isfinite(dense.scores) if kept is None else kept)
    return replace(
        dense,
        scores=dense.scores[rows, columns],
        offsets=dense.offsets[rows, columns],
        row_starts=np.searchsorted(rows, np.arange(len(dense) + 1)).astype(np.int64),
        columns=columns.astype(np.int32),
    )
