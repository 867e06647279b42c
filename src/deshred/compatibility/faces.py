"""Add up the scores of both sides of a shred, where two pictures show one shred.

Two shreds that stand side by side on the front stand side by side on the back, the other way round. So the
score of a join is the sum of what both faces say, and the order of all pictures shows every page twice, as
its front and as its back.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Arrangement, Compatibility, Faces, PageBreak


def add_faces(compatibility: Compatibility, faces: Faces) -> Compatibility:
    """Add to every join what the other sides of its shreds say; a side that was not seen says the same.

    No shred stands beside itself seen from behind.
    """
    if not faces.pairs:
        return compatibility
    count = len(compatibility)
    index = {name: i for i, name in enumerate(compatibility.ids)}
    other = np.full(count, -1)
    for one, two in faces.other.items():
        if one in index and two in index:
            other[index[one]] = index[two]
    rows, columns = compatibility.list_joins()
    behind = _look_behind(compatibility.scores.ravel(), rows, columns, other)
    scores = compatibility.scores.ravel() + behind
    scores[other[rows] == columns] = -np.inf
    margins = compatibility.margins
    if margins is not None:
        own, seen = np.arange(count), other >= 0
        # a page that begins with a shred ends with it, seen from behind
        starts = margins.starts + np.where(seen, margins.ends[other], margins.starts[own])
        ends = margins.ends + np.where(seen, margins.starts[other], margins.ends[own])
        margins = replace(margins, starts=starts, ends=ends)
    scores = scores.reshape(compatibility.scores.shape)
    # a close look was taken at one side only
    return replace(compatibility, scores=scores, margins=margins, beliefs=None)


def order_faces(arrangement: Arrangement, faces: Faces) -> Arrangement:
    """The same pages, each front followed by its back."""
    if not faces.pairs:
        return arrangement
    other, place = faces.other, {}
    for number, page in enumerate(arrangement.pages):
        place.update({slot.shred_id: number for slot in page})
    order: list[int] = []
    for number, page in enumerate(arrangement.pages):
        behind = [place[other[slot.shred_id]] for slot in page if other.get(slot.shred_id) in place]
        names = {slot.shred_id for slot in page}
        is_front = sum(front in names for front, _ in faces.pairs) * 2 >= len(behind)
        pair = [number, *dict.fromkeys(behind)] if is_front else [*dict.fromkeys(behind), number]
        order += [one for one in pair if one not in order]
    pages = tuple(arrangement.pages[number] for number in order)
    joins = sorted(arrangement.joins, key=lambda join: order.index(place[join.left]))
    breaks = tuple(PageBreak(a[-1].shred_id, b[0].shred_id) for a, b in pairwise(pages))
    return replace(arrangement, pages=pages, joins=tuple(joins), breaks=breaks)


def _look_behind(
    scores: NDArray[np.float32], rows: NDArray[np.intp], columns: NDArray[np.intp], other: NDArray[np.intp]
) -> NDArray[np.float32]:
    """The score of every listed join from behind; the lowest where that one is not listed."""
    count = len(other)
    keys = rows * count + columns  # sorted: rows one behind the other, columns in order
    is_known = (other[rows] >= 0) & (other[columns] >= 0)
    wanted = np.where(is_known, other[columns] * count + other[rows], keys)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    lowest = scores.min(initial=0.0, where=np.isfinite(scores))
    return np.where(keys[at] == wanted, scores[at], np.float32(lowest)).astype(np.float32)
