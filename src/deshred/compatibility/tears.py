"""An outline in, its quick part out: what the tear adds to the smooth course of an edge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct, idct

from deshred.elements import EdgePair

SLOW_ROWS = 40.0  # rows over which an outline is smoothed to find its slow part
CLIP_PX = 12.0  # beyond, paper is missing or too much was masked
_TORN = 0.1  # px of raggedness: less on most edges, and the shreds are rectangular crops
_LOOKED_AT = 60  # shreds of a pile


def remove_slow_part(
    outline: NDArray[np.float32], slow_rows: float = SLOW_ROWS, clip: float = CLIP_PX
) -> NDArray[np.float64]:
    """The outline around its own smooth course; zero where there is no paper."""
    missing = np.isnan(outline)
    if missing.all():
        return np.zeros(len(outline))
    full = outline.astype(np.float64)
    if missing.any():
        rows = np.arange(len(outline))
        full = np.interp(rows, rows[~missing], full[~missing])
    # a Gaussian filter that reflects at both ends is a product in the cosine transform, however long it is
    spectrum = dct(full)
    spectrum *= _pass_quick(len(full), slow_rows)
    quick: NDArray[np.float64] = np.clip(idct(spectrum), -clip, clip)
    quick[missing] = 0.0
    return quick


@lru_cache(maxsize=8)
def _pass_quick(rows: int, slow_rows: float) -> NDArray[np.float64]:
    """What is left of every frequency of an outline; the same for all of a pile."""
    passed: NDArray[np.float64] = -np.expm1(-0.5 * (np.pi * slow_rows / rows * np.arange(rows)) ** 2)
    passed.flags.writeable = False
    return passed


def measure_raggedness(outline: NDArray[np.float32]) -> float:
    """How far a tear strays from its smooth course, in px (root mean square over the rows with paper)."""
    there = ~np.isnan(outline)
    if not there.any():
        return 0.0
    # pairs of rows: half a pixel up and down is the grid of the scanner, not the tear
    quick = remove_slow_part(outline)[there]
    pairs = quick[: len(quick) // 2 * 2].reshape(-1, 2).mean(axis=1)
    return float(np.sqrt(np.mean(pairs**2))) if len(pairs) else 0.0


def are_torn(edges: Sequence[EdgePair]) -> bool:
    """Whether the outlines of a pile show tears; those of rectangular crops do not."""
    places = np.linspace(0, len(edges) - 1, min(len(edges), _LOOKED_AT)).astype(int).tolist()
    return float(np.median([measure_raggedness(edges[i].left.outline) for i in places])) > _TORN
