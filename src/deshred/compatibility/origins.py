"""Weigh the compatibility of a pile by which shreds lay on the same sheet.

Whoever scanned a pile often kept shreds of one page together, on one sheet or on two. How far that goes, the
pile tells itself: joins that are sure without it are counted between every two sheets, against what chance
would give. Where sheets say nothing, every join stays as it was but for a fraction of a nat.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.calibration import find_leads
from deshred.elements import Compatibility, Shred

_SURE = 4.0  # nats by which a join leads that sheets are judged by
_DOUBT = (
    0.5  # joins that every two sheets are taken to have had on top of those counted, by chance and in truth
)

Sheets = NDArray[np.intp]  # (n,): which sheet each shred lay on


def weigh_origins(compatibility: Compatibility, shreds: Sequence[Shred]) -> Compatibility:
    """Add to every join what the sheets of its two shreds say about it, in nats."""
    sheets = number_sheets([(shred.source.path, shred.source.frame) for shred in shreds])
    if len(np.unique(sheets)) in (1, len(sheets)):
        return compatibility  # one sheet for all, or each shred a file of its own: nothing to tell
    ratios = np.log(_compare(compatibility, sheets)).astype(np.float32)
    rows, columns = compatibility.list_joins()
    added = ratios[sheets[rows], sheets[columns]].reshape(compatibility.scores.shape)
    return replace(compatibility, scores=compatibility.scores + added)


def number_sheets(names: Sequence[Hashable]) -> Sheets:
    """Sheets counted in the order they appear in."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.intp)


def _compare(compatibility: Compatibility, sheets: Sheets) -> NDArray[np.float64]:  # (sheets, sheets)
    """How many times more joins than by chance there are between two sheets, either way round."""
    pairs = find_mutual(compatibility)
    leads = find_leads(compatibility, pairs)
    sure = np.array(pairs, np.intp).reshape(-1, 2)[leads >= _SURE]
    sizes = np.bincount(sheets)
    found = np.zeros((len(sizes), len(sizes)))
    np.add.at(found, (sheets[sure[:, 0]], sheets[sure[:, 1]]), 1)
    chance = np.outer(sizes, sizes) * (len(sure) / max(int(sizes.sum()) ** 2, 1))
    return (found + found.T + _DOUBT) / (chance + chance.T + _DOUBT)


def find_mutual(compatibility: Compatibility) -> list[tuple[int, int]]:
    """The joins that are the best of both their edges."""
    count = len(compatibility)
    rows, columns = compatibility.list_joins()
    scores = compatibility.scores.ravel()
    can_be = np.isfinite(scores)
    rows, columns, scores = rows[can_be], columns[can_be], scores[can_be]
    best_right, best_left = np.full(count, -np.inf), np.full(count, -np.inf)
    np.maximum.at(best_right, rows, scores)
    np.maximum.at(best_left, columns, scores)
    best = (scores == best_right[rows]) & (scores == best_left[columns])
    return list(zip(rows[best].tolist(), columns[best].tolist(), strict=True))
