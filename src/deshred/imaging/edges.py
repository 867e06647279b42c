"""A shred in, its left and right Edge out: the ink and the torn outline that a scorer sees.

Training and scoring both cut their edges here and nowhere else, so they cannot drift apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Edge, EdgePair, Image, Mask, Shred
from deshred.errors import MismatchError, SettingsError
from deshred.imaging.binarization import binarize, to_gray
from deshred.imaging.rowink import see_rows
from deshred.lazy import LazySequence


@dataclass(frozen=True)
class EdgeOptions:
    """How much of a shred an edge shows: px inwards from the tear, and rows around the middle."""

    width: int = 64
    rows: int = 3000

    def __post_init__(self) -> None:
        if self.width < 2 or self.rows < 32:
            raise SettingsError(
                f"an edge needs at least 2 columns and 32 rows, got {self.width} x {self.rows}."
            )


def extract_edges(shred: Shred, *, options: EdgeOptions) -> EdgePair:
    """Cut both edges of a shred, rectified row by row along its torn outline."""
    ink = find_ink(shred)
    mask = np.ascontiguousarray(shred.mask)
    # turned around as copies: rows that are read backwards take several times as long
    mirrored, back = (np.asarray(cv2.flip(array, 1), np.uint8) for array in (ink, mask.view(np.uint8)))
    from_left, from_right = mask.argmax(axis=1), back.view(np.bool_).argmax(axis=1)
    return EdgePair(
        _cut(ink, mask, from_left, shred.image, options),
        _cut(mirrored, back.view(np.bool_), from_right, shred.image[:, ::-1], options),
        see_rows(ink, from_left, mask.shape[1] - from_right),
    )


def find_ink(shred: Shred) -> NDArray[np.uint8]:  # (H, W): 1 is ink
    """The ink on the paper of a shred."""
    ink = binarize(to_gray(shred.image, shred.mask))
    ink &= shred.mask
    return ink


def _cut(
    ink: NDArray[np.uint8], mask: Mask, tears: NDArray[np.intp], image: Image, options: EdgeOptions
) -> Edge:
    """The edge whose tear is at the left of the given arrays."""
    height, width = mask.shape
    top = (height - options.rows) // 2
    rows = slice(max(top, 0), min(top + options.rows, height))
    into = slice(rows.start - top, rows.stop - top)
    tear = tears[rows]
    has_paper = mask[rows].reshape(-1)[np.arange(len(tear)) * width + tear]

    # windows into the flat ink: several times quicker than indexing every pixel
    padded = np.zeros((len(tear), width + options.width), np.uint8)
    padded[:, :width] = ink[rows]
    windows = np.lib.stride_tricks.sliding_window_view(padded.reshape(-1), options.width)
    edge_ink = np.zeros((options.rows, options.width), np.uint8)
    edge_ink[into] = windows[np.arange(len(tear)) * padded.shape[1] + tear]
    edge_ink[into][~has_paper] = 0
    # the outermost pixel mixes paper with what lay behind it: alone it is no ink
    edge_ink[:, 0] &= edge_ink[:, 1]

    outline = np.full(options.rows, np.nan, np.float32)
    outline[into] = np.where(has_paper, -tear, np.nan)
    tone = np.full((options.rows, 3), 255, np.uint8)
    tone[into] = np.where(has_paper[:, None], image[rows][np.arange(len(tear)), tear], 255)
    return Edge(edge_ink, outline, tone, top)


def crop_edge(edge: Edge, options: EdgeOptions) -> Edge:
    """The part of an edge that these options ask for: the same as if it had been cut with them."""
    rows, width = edge.ink.shape
    if (rows, width) == (options.rows, options.width):
        return edge
    above = (rows - options.rows) // 2
    if above < 0 or width < options.width or (rows - options.rows) % 2:
        raise MismatchError(
            f"edges of {rows} x {width} px were cut, {options.rows} x {options.width} px are needed. "
            "Prepare the pile with the scorer's own edge options: prepare(shreds, edges=scorer.edge_options)."
        )
    kept = slice(above, above + options.rows)
    return Edge(edge.ink[kept, : options.width], edge.outline[kept], edge.tone[kept], edge.top + above)


class LazyEdges(LazySequence[EdgePair]):
    """The edges of shreds, cut when they are asked for."""

    def __init__(self, shreds: Sequence[Shred], options: EdgeOptions) -> None:
        self._shreds = shreds
        self._options = options

    def make(self, index: int) -> EdgePair:
        """The edges of one shred."""
        return extract_edges(self._shreds[index], options=self._options)

    def __len__(self) -> int:
        return len(self._shreds)
