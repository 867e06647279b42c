"""Edges in, scores out, without learning: the brightness of the outermost pixels, as Marques and Freitas do.

"Document decipherment-restoration: strip-shredded document reconstruction based on color", IEEE Latin
America Transactions 11 (2013). A baseline, and the scorer of a core without any model.
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


@dataclass(frozen=True, eq=False)
class Tones(Descriptions):
    """How light the outermost pixels of n edges are."""

    values: NDArray[np.uint8]  # (n, rows): V of HSV


@dataclass(frozen=True)
class MarquesOptions:
    """How tones are compared: rows a shred may slide, and whether differences stay in 8 bits."""

    reach: int = 10
    # The published accuracies of this baseline come from differences of unsigned bytes, where 10 - 20 is
    # 246: only with them are its 29, 8 and 4 % reproduced. False is the distance one would expect.
    wraps: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.reach <= 1000:
            raise SettingsError(f"reach must lie between 0 and 1000 rows, got {self.reach}.")


@dataclass(frozen=True)
class MarquesScorer(PlainScorer):
    """The nearer the tones of two edges at their best vertical offset, the higher the score."""

    options: MarquesOptions = field(default_factory=MarquesOptions)
    edge_options: EdgeOptions = field(default_factory=lambda: EdgeOptions(width=2, rows=3400))

    def __post_init__(self) -> None:
        if self.edge_options.rows <= 2 * self.options.reach:
            raise SettingsError(
                f"a reach of {self.options.reach} needs edges of more than {2 * self.options.reach} rows, "
                f"got {self.edge_options.rows}."
            )

    description_type: ClassVar[type[Tones]] = Tones

    @property
    def card(self) -> ScorerCard:
        return ScorerCard("marques", repr(self))

    def describe_rights(self, edges: Sequence[Edge], _executor: Executor, /) -> Tones:
        return _see(edges, self.edge_options.rows)

    def describe_lefts(self, edges: Sequence[Edge], _executor: Executor, /) -> Tones:
        return _see(edges, self.edge_options.rows)

    def compare(self, rights: Tones, lefts: Tones) -> ScoreBlock:
        """Score is minus the root mean square difference of tones, 0 to -255."""
        reach = self.options.reach
        rows = self.edge_options.rows - 2 * reach
        middle = rights.values[:, reach : reach + rows]
        least = np.full((len(rights), len(lefts)), np.inf, np.float32)
        offsets = np.zeros((len(rights), len(lefts)), np.int16)
        measure = _wrapped_squares if self.options.wraps else _squares
        for offset in sorted(range(-reach, reach + 1), key=abs):  # the smallest offset wins a tie
            squares = measure(middle, lefts.values[:, reach - offset : reach - offset + rows])
            nearer = squares < least
            least[nearer] = squares[nearer]
            offsets[nearer] = offset
        return ScoreBlock(-np.sqrt(least / rows), offsets)


def _see(edges: Sequence[Edge], rows: int) -> Tones:
    tones = [edge.tone.max(axis=1) for edge in edges]  # V of HSV is the largest of R, G and B
    return Tones(np.stack(tones) if tones else np.zeros((0, rows), np.uint8))


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
