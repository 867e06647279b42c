"""Put blank shreds back into a pile if their outline says where they belong.

Nothing is written on a blank shred, but it was torn like the others. Where its outline fits one other far
better than all the rest, it goes back into the pile: pages get their margins and their width, and a column of
page numbers is tied to its page by the blank paper between. The others stay aside; nobody could place them.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial

import numpy as np

from deshred.compatibility.calibration import find_leads
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.elements import Compatibility, Pile, ShredSet
from deshred.executors import Executor, Progress, SerialExecutor
from deshred.imaging.edges import extract_edges

_SURE = 5.0  # nats by which an outline must beat all others of its two edges together


def anchor_blanks(
    pile: Pile,
    scorer: AnyScorer,
    *,
    scoring: ScoringOptions | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Pile:
    """Put back blank shreds that are tied to a shred with ink, directly or through other blank ones.

    A scorer that sees no outlines could not tell them apart: for it, they stay aside.
    """
    if not pile.blank or not scorer.card.sees_outlines:
        return pile
    executor = executor or SerialExecutor()
    progress = _told_as_placing(progress)
    cut = partial(extract_edges, options=scorer.edge_options)
    pairs = executor.map(cut, list(pile.blank), progress=progress)
    whole = Pile(ShredSet([*pile.shreds, *pile.blank]), [*pile.edges, *pairs], ShredSet([]))
    outlines = score(whole, OutlineScorer(), options=scoring, executor=executor, progress=progress)
    tied = _find_tied(outlines, len(pile))
    back = [i for i in range(len(pile), len(whole)) if i in tied]
    return Pile(
        ShredSet([*pile.shreds, *(whole.shreds[i] for i in back)]),
        [*pile.edges, *(whole.edges[i] for i in back)],
        ShredSet([shred for i, shred in enumerate(pile.blank, len(pile)) if i not in tied]),
    )


def _told_as_placing(progress: Progress | None) -> Progress | None:
    """Progress of one stage, whatever it is made of."""
    if progress is None:
        return None
    return lambda _, done, total: progress("placing blank shreds", done, total)


def _find_tied(outlines: Compatibility, inked: int) -> set[int]:
    """The blank shreds, from number `inked` on, that sure joins lead to from a shred with ink."""
    neighbors: defaultdict[int, set[int]] = defaultdict(set)
    joins = _find_best(outlines, inked)
    for (i, j), lead in zip(joins, find_leads(outlines, joins), strict=True):
        if lead >= _SURE:
            neighbors[i].add(j)
            neighbors[j].add(i)
    tied: set[int] = set()
    waiting = [i for i in neighbors if i < inked]
    while waiting:
        reached = {j for j in neighbors[waiting.pop()] if j >= inked} - tied
        tied |= reached
        waiting += reached
    return tied


def _find_best(outlines: Compatibility, inked: int) -> list[tuple[int, int]]:
    """The best join of either side of every blank shred."""
    rows, columns = outlines.list_joins()
    scores = outlines.scores.ravel()
    found: set[tuple[int, int]] = set()
    for edges in (rows, columns):
        listed = np.flatnonzero((edges >= inked) & np.isfinite(scores))
        listed = listed[np.lexsort((-scores[listed], edges[listed]))]
        _, firsts = np.unique(edges[listed], return_index=True)
        best = listed[firsts]
        found.update(zip(rows[best].tolist(), columns[best].tolist(), strict=True))
    return sorted(found)
