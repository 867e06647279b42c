"""Edges in, scores out, without learning: the brightness of the outermost pixels, as Marques and Freitas do.

"Document decipherment-restoration: strip-shredded document reconstruction based on color", IEEE Latin
America Transactions 11 (2013), as Paixão et al. (2020) ran it. A baseline, and the scorer of a core without
any model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.contract import Descriptions, PlainScorer, ScoreBlock, ScorerCard
from deshred.elements import Edge
from deshred.errors import SettingsError
from deshred.executors import Executor
from deshred.imaging.edges import EdgeOptions


@dataclass(frozen=True)
class MarquesOptions:
    """How tones are compared: rows a shred may slide, rows from the top, and whether bytes overflow."""

    reach: int = 10
    rows: int = 3250  # from the top: a letter page has 3,300, one of A4 3,508
    # The published accuracies come from differences of unsigned bytes, where 10 - 20 is 246. That is a slip
    # of the program and not the method; True only serves to reproduce them.
    wraps: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.reach <= 1000:
            raise SettingsError(f"reach must lie between 0 and 1000 rows, got {self.reach}.")
        if self.rows <= 2 * self.reach:
            raise SettingsError(
                f"a reach of {self.reach} needs more than {2 * self.reach} rows to compare, got {self.rows}."
            )


@dataclass(frozen=True, eq=False)
class Tones(Descriptions):
    """V of HSV of the outermost pixels of n edges, from the top of their shreds; black where no paper is."""

    values: NDArray[np.uint8]  # (n, rows)
    starts: NDArray[np.int32]  # (n,): the row of the edge that is row 0 here


@dataclass(frozen=True)
class MarquesScorer(PlainScorer):
    """The nearer the tones of two edges at their best vertical offset, the higher the score."""

    options: MarquesOptions = field(default_factory=MarquesOptions)
    # the method looks at whole shreds from their top: as many rows as A3 has
    edge_options: EdgeOptions = field(default_factory=lambda: EdgeOptions(width=2, rows=5000))

    description_type: ClassVar[type[Tones]] = Tones

    @property
    def card(self) -> ScorerCard:
        return ScorerCard("marques", repr(self))

    def describe_rights(self, edges: Sequence[Edge], _executor: Executor, /) -> Tones:
        return take_tones(edges, self._rows)

    def describe_lefts(self, edges: Sequence[Edge], _executor: Executor, /) -> Tones:
        return take_tones(edges, self._rows)

    def compare(self, rights: Tones, lefts: Tones) -> ScoreBlock:
        """Score is minus the root mean square difference of tones, 0 to -255."""
        block = compare_tones(rights.values, lefts.values, reach=self.options.reach, wraps=self.options.wraps)
        # offsets were found between the tops of the shreds; a block counts in rows of the edges
        between = rights.starts[:, None] - lefts.starts[None, :]
        return ScoreBlock(block.scores, (block.offsets + between).astype(np.int16))

    @property
    def _rows(self) -> int:
        return min(self.options.rows, self.edge_options.rows)


def take_tones(edges: Sequence[Edge], rows: int) -> Tones:
    """V of the outermost pixel of every row, moved so that row 0 is the top of the shred."""
    values = np.zeros((len(edges), rows), np.uint8)
    starts = np.array([max(-edge.top, 0) for edge in edges], np.int32)
    for row, edge, start in zip(values, edges, starts.tolist(), strict=True):
        seen = slice(start, start + rows)
        bright = edge.tone[seen].max(axis=1)  # V is the largest of R, G and B
        row[: len(bright)] = np.where(np.isfinite(edge.outline[seen]), bright, 0)
    return Tones(values, starts)


def compare_tones(
    rights: NDArray[np.uint8], lefts: NDArray[np.uint8], *, reach: int, wraps: bool
) -> ScoreBlock:
    """Every row of `rights` beside every row of `lefts`, at the best of all offsets."""
    rows = rights.shape[1] - 2 * reach
    middle = rights[:, reach : reach + rows]
    least = np.full((len(rights), len(lefts)), np.inf, np.float32)
    offsets = np.zeros((len(rights), len(lefts)), np.int16)
    measure = _wrapped_squares if wraps else _squares
    for offset in sorted(range(-reach, reach + 1), key=abs):  # the smallest offset wins a tie
        squares = measure(middle, lefts[:, reach - offset : reach - offset + rows])
        nearer = squares < least
        least[nearer] = squares[nearer]
        offsets[nearer] = offset
    return ScoreBlock(-np.sqrt(least / rows), offsets)


def _squares(rights: NDArray[np.uint8], lefts: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Sum of squared differences over the rows, all pairs by one matrix product."""
    a, b = rights.astype(np.float64), lefts.astype(np.float64)
    squares = (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1) - 2 * a @ b.T
    return np.asarray(np.maximum(squares, 0), np.float32)


def _wrapped_squares(rights: NDArray[np.uint8], lefts: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The same with differences modulo 256, which no matrix product can give."""
    squares = np.empty((len(rights), len(lefts)), np.float32)
    for right, row in zip(rights, squares, strict=True):
        differences = (right - lefts).astype(np.float32)
        row[:] = (differences[:, None, :] @ differences[:, :, None])[:, 0, 0]  # twice as fast as einsum
    return squares
