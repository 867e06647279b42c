"""Edges in, the log-odds that a shred begins or ends a page out.

Where the text of a page begins, the outer edge of a shred carries next to no ink; inner edges cut through
lines of text. Blank shreds are set aside before, so the first shred that is left need not be the paper's
own border.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Compatibility, Edge, Margins, ShredSet
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


def level_margins(margins: Margins, compatibility: Compatibility) -> Margins:
    """Put the margins on the level of a pile's scores, where a page break can be weighed against a join.

    Contrastive scores are right up to a constant. A join that scores what the second best partner of an edge
    scores, a stranger as a rule, says nothing: there a page break of neutral margins costs the same.
    """
    second = [best[0] for best in _best_two(compatibility) if len(best) == 2]
    half = np.float32(np.median(second) / 2) if second else np.float32(0)
    return replace(margins, starts=margins.starts + half, ends=margins.ends + half)


def _best_two(compatibility: Compatibility) -> Iterator[NDArray[np.float32]]:
    """The two best scores of every right-hand edge, in rising order."""
    for i in range(len(compatibility)):
        if compatibility.row_starts is None:
            row = compatibility.scores[i]
        else:
            row = compatibility.scores[compatibility.row_starts[i] : compatibility.row_starts[i + 1]]
        row = row[np.isfinite(row)]
        yield np.partition(row, -2)[-2:] if len(row) > 1 else row


def count_inked_rows(edge: Edge) -> int:
    """Rows of the edge with ink near the tear."""
    return int(edge.ink[:, :_NEAR].any(axis=1).sum())


def _evidence(edge: Edge) -> float:
    return _BASE - _SLOPE * float(np.log1p(count_inked_rows(edge)))
