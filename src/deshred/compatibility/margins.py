"""Edges in, the log-odds that a shred begins or ends a page out.

Where the text of a page begins, the outer edge of a shred carries next to no ink; inner edges cut through
lines of text. Blank shreds are set aside before, so the first shred that is left need not be the paper's
own border.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deshred.elements import Edge, Margins, ShredSet
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
    )


def count_inked_rows(edge: Edge) -> int:
    """Rows of the edge with ink near the tear."""
    return int(edge.ink[:, :_NEAR].any(axis=1).sum())


def _evidence(edge: Edge) -> float:
    return _BASE - _SLOPE * float(np.log1p(count_inked_rows(edge)))
