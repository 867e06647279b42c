"""A composed page in, the same page out with every join tinted: green where it fits, red where it does not.

The tint is the map of the pairwise network's last convolution, as in the paper's figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.pairwise.scorer import PairwiseScorer
from deshred.compatibility.pairwise.stretches import MAP_STEP
from deshred.elements import EdgePair, Image, Page, Placement, ShredSet
from deshred.errors import SettingsError
from deshred.imaging.edges import extract_edges

_GREEN, _RED = (0, 160, 0), (220, 0, 0)
_FIRST_CENTER = 15  # row in the middle of what the first value of the map sees


@dataclass(frozen=True)
class ExplanationOptions:
    """How the maps are drawn."""

    reach: int = 16  # px on each side of the join that are tinted: what the network sees of a shred
    opacity: float = 0.6  # of the strongest tint
    full_tint: float = 4.0  # log-odds of one value of the map that get the strongest tint

    def __post_init__(self) -> None:
        if self.reach < 1 or not 0 < self.opacity <= 1 or not self.full_tint > 0:
            raise SettingsError(
                "reach must be at least 1 px, opacity lie above 0 up to 1 and full_tint above 0, got "
                f"{self.reach}, {self.opacity:g} and {self.full_tint:g}."
            )


@dataclass(frozen=True, eq=False)
class JoinMap:
    """How well one join of a page fits, row by row."""

    left: str
    right: str
    fit: NDArray[np.float32]  # (rows,): log-odds; up is good
    top: int  # row of the page that is row 0
    seam: NDArray[np.int64]  # (rows,): column of the page where the right shred begins


def map_joins(page: Page, shreds: ShredSet, scorer: PairwiseScorer) -> list[JoinMap]:
    """The activation maps of all joins of a page, from left to right, as they were laid down."""
    edges = [
        extract_edges(shreds[shreds.index_of(placement.shred_id)], options=scorer.edge_options)
        for placement in page.placements
    ]
    return [
        _map_join(left, right, left_edges, right_edges, scorer)
        for (left, left_edges), (right, right_edges) in pairwise(zip(page.placements, edges, strict=True))
    ]


def draw_joins(page: Page, maps: list[JoinMap], *, options: ExplanationOptions | None = None) -> Image:
    """The page with its joins tinted."""
    options = options or ExplanationOptions()
    picture = page.image.astype(np.float32)
    height, width = picture.shape[:2]
    for join in maps:
        rows = np.arange(join.top, join.top + len(join.fit))
        inside = (rows >= 0) & (rows < height)
        columns = join.seam[inside, None] + np.arange(-options.reach, options.reach)
        y, x = np.broadcast_arrays(rows[inside, None], np.clip(columns, 0, width - 1))
        strength = options.opacity * np.clip(np.abs(join.fit[inside]) / options.full_tint, 0, 1)
        color = np.where(join.fit[inside, None] > 0, _GREEN, _RED)
        weight = strength[:, None, None]
        picture[y, x] = page.image[y, x] * (1 - weight) + color[:, None] * weight
    return np.rint(picture).astype(np.uint8)


def _map_join(
    left: Placement, right: Placement, left_edges: EdgePair, right_edges: EdgePair, scorer: PairwiseScorer
) -> JoinMap:
    ours, theirs = left_edges.right, right_edges.left
    # edges are cut around the middle of each shred: placements are turned into rows of the edges
    offset = right.y + theirs.top - (left.y + ours.top)
    steps = scorer.map_join(ours, theirs, offset)
    rows = np.arange(len(ours.ink))
    fit = np.interp(rows, _FIRST_CENTER + MAP_STEP * np.arange(len(steps)), steps).astype(np.float32)
    at = np.clip(rows - offset, 0, len(rows) - 1)
    tear = np.nan_to_num(-theirs.outline[at]).astype(np.int64)
    return JoinMap(left.shred_id, right.shred_id, fit, left.y + ours.top, right.x + tear)
