"""A shred or a pile in, the same turned by 180 degrees out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from deshred.elements import Edge, EdgePair, Pile, RowInk, Shred, ShredSet
from deshred.lazy import LazySequence


def turn(pile: Pile, ids: Collection[str]) -> Pile:
    """The pile with some of its shreds turned, under the same ids; nothing is cut anew."""
    if not ids:
        return pile
    shreds = ShredSet([turn_shred(shred) if shred.id in ids else shred for shred in pile.shreds])
    return replace(pile, shreds=shreds, edges=_TurnedEdges(pile, frozenset(ids)))


class _TurnedEdges(LazySequence[EdgePair]):
    """The edges of a pile, some of them turned when they are asked for."""

    def __init__(self, pile: Pile, turned: frozenset[str]) -> None:
        self._pile, self._turned = pile, turned

    def make(self, index: int) -> EdgePair:
        """The edges of one shred."""
        shred, pair = self._pile.shreds[index], self._pile.edges[index]
        return turn_edges(pair, len(shred.mask)) if shred.id in self._turned else pair

    def __len__(self) -> int:
        return len(self._pile)


def turn_shred(shred: Shred) -> Shred:
    """The same paper upside down, under the same id."""
    image = np.ascontiguousarray(shred.image[::-1, ::-1])
    mask = np.ascontiguousarray(shred.mask[::-1, ::-1])
    return Shred(shred.id, image, mask, shred.dpi, shred.source, not shred.is_turned)


def turn_edges(pair: EdgePair, height: int) -> EdgePair:
    """The edges of a shred, `height` rows high, when it is turned: nothing is cut anew."""
    return EdgePair(_turn(pair.right, height), _turn(pair.left, height), _turn_rows(pair.rows))


def _turn_rows(rows: RowInk) -> RowInk:
    return RowInk.of(rows.printed[::-1], rows.at_right[::-1], rows.at_left[::-1])


def _turn(edge: Edge, height: int) -> Edge:
    # seen from the tear inwards, both sides of a shred are alike: only the rows change their order
    top = height - edge.top - len(edge.ink)
    return Edge(edge.ink[::-1], edge.outline[::-1], edge.tone[::-1], top)
