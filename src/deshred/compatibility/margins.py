"""Edges in, the log-odds that a shred begins or ends a page out.

Where the text of a page begins, the outer edge of a shred carries next to no ink; inner edges cut through
lines of text. Blank shreds are set aside before, so the first shred that is left need not be the paper's
own border.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Compatibility, Edge, Margins, Shred, ShredSet
from deshred.imaging.edges import EdgePair

# Logistic regression on simulated shreds, `benchmarks/margins.py`; a ratio of likelihoods, without the prior
_BASE, _SLOPE = 2.2, 0.6
_NEAR = 16  # px inwards


def weigh_margins(shreds: ShredSet, edges: Sequence[EdgePair]) -> Margins:
    """Evidence from ink near the outer edges, and the widths that make up a page."""
    return Margins(
        np.array([_evidence(pair.left) for pair in edges], np.float32),
        np.array([_evidence(pair.right) for pair in edges], np.float32),
        np.array([shred.width_mm for shred in shreds], np.float32),
        np.array([_height_mm(shred) for shred in shreds], np.float32),
    )


def _height_mm(shred: Shred) -> float:
    return float(shred.mask.any(axis=1).sum()) / shred.dpi * 25.4


def level_margins(margins: Margins, compatibility: Compatibility) -> Margins:
    """Put the margins on the level of a pile's scores, where a page break can be weighed against a join.

    Contrastive scores are right up to a constant that differs from edge to edge: the more ink, the wider they
    range. A join that scores what the second best partner of its edges scores, a stranger as a rule, says
    nothing: there a page break of neutral margins costs the same.
    """
    half = np.float32(0.5)
    starts = margins.starts + half * _second_best(compatibility, axis=0)
    ends = margins.ends + half * _second_best(compatibility, axis=1)
    return replace(margins, starts=starts, ends=ends)


def _second_best(compatibility: Compatibility, axis: int) -> NDArray[np.float32]:
    """The second best score of every right-hand edge (axis 1) or left-hand edge (axis 0).

    An edge with fewer candidates gets the median of the others.
    """
    n, scores = len(compatibility), compatibility.scores
    second: NDArray[np.float32] = np.full(n, -np.inf, np.float32)
    if compatibility.row_starts is not None and compatibility.columns is not None:
        rows = np.repeat(np.arange(n), np.diff(compatibility.row_starts))
        edges = rows if axis == 1 else compatibility.columns
        order = np.lexsort((-scores, edges))
        first = np.searchsorted(edges[order], np.arange(n + 1))
        enough = np.diff(first) >= 2
        second[enough] = scores[order][first[:-1][enough] + 1]
    elif n > 1:
        second = np.asarray(np.partition(scores, -2, axis=axis).take(-2, axis=axis))
    known = np.isfinite(second)
    usual = np.median(second[known]) if known.any() else 0.0
    return np.where(known, second, usual).astype(np.float32)


def count_inked_rows(edge: Edge) -> int:
    """Rows of the edge with ink near the tear."""
    return int(edge.ink[:, :_NEAR].any(axis=1).sum())


def _evidence(edge: Edge) -> float:
    return _BASE - _SLOPE * float(np.log1p(count_inked_rows(edge)))
