"""The log-odds that each shred begins or ends a page, from how its edges look.

Beyond the last shred of a page there is blank paper or none: blank shreds are set aside before. So the end of
a page is weighed like a join with blank paper, on the level of the scores of all other joins of its edge. And
a straight outline among ragged ones is the paper's own border.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.contract import Descriptions
from deshred.compatibility.tears import measure_raggedness
from deshred.elements import EdgePair, Margins, Shred

_PAGE = 3.0  # nats in favor of a page, where nothing else speaks; `benchmarks/margins.py --piles`
_SHOWN = 0.7  # share of page ends that show the border; elsewhere it went with the blank shreds
_STRAIGHTER = 12.0  # a border is straighter than all but one in so many edges of a pile, on average


@dataclass(frozen=True, eq=False)
class Borders(Descriptions):
    """What n shreds show of the paper they come from."""

    left_raggedness: NDArray[np.float32]  # (n,): px
    right_raggedness: NDArray[np.float32]  # (n,): px
    widths_mm: NDArray[np.float32]  # (n,)
    heights_mm: NDArray[np.float32]  # (n,)


@dataclass(frozen=True, eq=False)
class Facing(Descriptions):
    """What the edges of n shreds score beside blank paper; a start and an end make one page break."""

    starts: NDArray[np.float32]  # (n,): left-hand edges
    ends: NDArray[np.float32]  # (n,): right-hand edges


def observe_borders(shreds: Sequence[Shred], edges: Sequence[EdgePair]) -> Borders:
    """Look at outlines and sizes."""
    return Borders(
        np.array([measure_raggedness(pair.left.outline) for pair in edges], np.float32),
        np.array([measure_raggedness(pair.right.outline) for pair in edges], np.float32),
        np.array([shred.width_mm for shred in shreds], np.float32),
        np.array([shred.height_mm for shred in shreds], np.float32),
    )


def weigh_margins(borders: Borders, facing: Facing) -> Margins:
    """The log-odds of page starts and page ends in a pile."""
    pile = np.sort(np.concatenate([borders.left_raggedness, borders.right_raggedness]))
    half = np.float32(_PAGE / 2)
    return Margins(
        facing.starts + _weigh_straightness(borders.left_raggedness, pile) + half,
        facing.ends + _weigh_straightness(borders.right_raggedness, pile) + half,
        borders.widths_mm,
        borders.heights_mm,
    )


def _weigh_straightness(
    raggedness: NDArray[np.float32], pile: NDArray[np.float32]
) -> NDArray[np.float32]:  # (n,)
    """Log-likelihood ratio of "end of a page" against "any edge", from the place among all edges of the pile.

    The place of a border is beta(1, b) distributed, that of any edge uniform. Edges alike share their places:
    where all are straight, as in rectangular crops, that says nothing.
    """
    below = np.searchsorted(pile, raggedness, "left") / max(len(pile), 1)
    up_to = np.searchsorted(pile, raggedness, "right") / max(len(pile), 1)
    borders = (1 - below) ** _STRAIGHTER - (1 - up_to) ** _STRAIGHTER
    ratio = borders / np.maximum(up_to - below, 1e-9)
    return np.log(_SHOWN * ratio + 1 - _SHOWN).astype(np.float32)
