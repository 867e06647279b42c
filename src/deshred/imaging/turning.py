"""A shred in, the same turned by 180 degrees out."""

from __future__ import annotations

import numpy as np

from deshred.elements import Edge, EdgePair, Shred


def turn_shred(shred: Shred) -> Shred:
    """The same paper upside down, under the same id."""
    image = np.ascontiguousarray(shred.image[::-1, ::-1])
    mask = np.ascontiguousarray(shred.mask[::-1, ::-1])
    return Shred(shred.id, image, mask, shred.dpi, shred.source, not shred.is_turned)


def turn_edges(pair: EdgePair, height: int) -> EdgePair:
    """The edges of a shred, `height` rows high, when it is turned: nothing is cut anew."""
    return EdgePair(_turn(pair.right, height), _turn(pair.left, height))


def _turn(edge: Edge, height: int) -> Edge:
    # seen from the tear inwards, both sides of a shred are alike: only the rows change their order
    top = height - edge.top - len(edge.ink)
    return Edge(edge.ink[::-1], edge.outline[::-1], edge.tone[::-1], top)
