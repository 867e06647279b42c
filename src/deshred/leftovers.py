"""Find leftover shreds that lie upside down: what fits nowhere may fit when it is turned.

A single shred that was laid or glued upside down is left over as a part of a page. Only such parts are tried
the other way up, against the ends of all pages, and only if their letters stand the other way up than those
of the pages. So it costs next to nothing. `--orientation any` tries every shred.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from deshred.arrangement import ArrangementOptions, WarmStart, arrange, paper_width
from deshred.cases import LayeredStore, Store
from deshred.compatibility.calibration import rate
from deshred.compatibility.contract import AnyScorer, PileScorer
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.elements import Compatibility, Pile, ShredSet
from deshred.executors import Executor
from deshred.gathering import MOST_SHREDS, cut_pieces, leaves_parts
from deshred.imaging.letters import rate_uprightness
from deshred.imaging.turning import turn_edges, turn_shred
from deshred.missing import PART

# nats by which a turned part must lead all other places, either way up; upright parts of simulated and real
# piles lead by 5 at most when they are turned, those upside down with print at their tears by 20 to 40
_CLEAR = 8.0
_MOST_PARTS = 100  # with more, most of the pile does not fit, whichever way up
_OUTER = 2  # shreds of either end of a page: enough sure joins for the scorer to learn this pile's noise
_TURNED = " turned"


def find_upside_down(
    pile: Pile,
    compatibility: Compatibility,
    scorer: AnyScorer,
    *,
    options: ArrangementOptions = ArrangementOptions(),  # noqa: B008 - frozen
    scoring: ScoringOptions | None = None,
    but: Collection[str] = (),
    store: Store | None = None,
    executor: Executor | None = None,
    warm_start: WarmStart | None = None,
) -> frozenset[str]:
    """The shreds, all of them left over, that clearly fit a page when they are turned; none in `but`.

    What the store knows of the pile is used; nothing is kept in it.
    """
    sees_tears = not isinstance(scorer, PileScorer) and scorer.unit == "nats"
    is_asked = sees_tears and leaves_parts(options)
    paper_mm = options.page_width_mm or paper_width(compatibility.margins)
    is_asked = is_asked and compatibility.calibration is not None
    if paper_mm is None or not is_asked or pile.faces.pairs or len(pile) > MOST_SHREDS:
        return frozenset()
    answer = rate(arrange(compatibility, options=options, warm_start=warm_start), compatibility)
    pages: list[list[str]] = []
    parts: list[list[str]] = []
    for piece in cut_pieces(answer, compatibility):
        names = [compatibility.ids[i] for i in piece.shreds]
        if piece.width_mm >= PART * paper_mm:
            pages.append(names)
        elif not set(names) & set(but):
            parts.append(names)
    if not parts or not pages or len(parts) > _MOST_PARTS:
        return frozenset()
    parts = find_unlike(pile, pages, parts)
    if not parts:
        return frozenset()
    tried = _take(pile, pages, parts)
    known = None if store is None else LayeredStore(store)
    ends = _Ends(score(tried, scorer, options=scoring, store=known, executor=executor), pages)
    return frozenset(name for part in parts if ends.find_lead(part) >= _CLEAR for name in part)


def find_unlike(pile: Pile, pages: Sequence[Sequence[str]], parts: Sequence[list[str]]) -> list[list[str]]:
    """The parts whose letters stand the other way up than those of the pages.

    Where the true neighbor is lost, the best of the rest may lead by 30 nats, whichever way up. And letters
    of some scripts look upright upside down, so parts are compared with pages.
    """
    index = {name: i for i, name in enumerate(pile.shreds.ids)}

    def rate_all(names: Sequence[str]) -> float:
        return sum(rate_uprightness(pile.edges[index[name]]) for name in names)

    upright = sum(rate_all([*page[:_OUTER], *page[-_OUTER:]]) for page in pages)
    return [part for part in parts if rate_all(part) * upright < 0]


def _take(pile: Pile, pages: Sequence[Sequence[str]], parts: Sequence[Sequence[str]]) -> Pile:
    """The outer shreds of all pages, the parts, and the parts turned."""
    index = {name: i for i, name in enumerate(pile.shreds.ids)}
    outer = dict.fromkeys(name for page in pages for name in (*page[:_OUTER], *page[-_OUTER:]))
    own = [index[name] for part in parts for name in part]
    seen = pile.take([*(index[name] for name in outer), *own])
    turned = [turn_shred(pile.shreds[i]) for i in own]
    return Pile(
        ShredSet([*seen.shreds, *(replace(shred, id=shred.id + _TURNED) for shred in turned)]),
        [*seen.edges, *(turn_edges(pile.edges[i], len(pile.shreds[i].mask)) for i in own)],
        ShredSet([]),
    )


class _Ends:
    """How well parts fit at the ends of pages."""

    def __init__(self, compatibility: Compatibility, pages: Sequence[Sequence[str]]) -> None:
        assert compatibility.margins is not None
        self._compatibility, self._margins = compatibility, compatibility.margins
        self._index = {name: i for i, name in enumerate(compatibility.ids)}
        self._firsts = [self._index[page[0]] for page in pages]
        self._lasts = [self._index[page[-1]] for page in pages]

    def find_lead(self, part: Sequence[str]) -> float:
        """By how many nats the best place of the turned part leads all others, either way up."""
        upright = self._list_advantages(part)
        turned = np.sort(self._list_advantages([name + _TURNED for name in reversed(part)]))
        return float(turned[-1] - np.logaddexp.reduce(np.concatenate([upright, turned[:-1]])))

    def _list_advantages(self, part: Sequence[str]) -> NDArray[np.float64]:
        """By how many nats each place of a part beats a page break there."""
        first, last = self._index[part[0]], self._index[part[-1]]
        joins = [*((last, page) for page in self._firsts), *((page, first) for page in self._lasts)]
        return np.array(
            [
                self._compatibility.score(i, j) - self._margins.ends[i] - self._margins.starts[j]
                for i, j in joins
            ],
            np.float64,
        )
