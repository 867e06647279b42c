"""The paper's scorer: a fully convolutional network over every join at every vertical shift.

Paixão et al., "Self-supervised deep reconstruction of mixed strip-shredded text documents", Pattern
Recognition 107 (2020). Scores are probabilities, as in the paper, not log-odds. The network comes as ONNX
from `training.py`. What an edge contributes is computed once per edge and shift, and only rows with ink on
both sides are compared: the value of any other is that of an edge beside blank paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.contract import Descriptions, PlainScorer, ScoreBlock, ScorerCard
from deshred.compatibility.models import Model, open_model
from deshred.compatibility.pairwise.network import EdgeInk, PairwiseNetwork, Sides, Which
from deshred.compatibility.pairwise.stretches import MAP_STEP, OVERLAP, Steps, Stretches, find_seen
from deshred.elements import Edge
from deshred.errors import SettingsError
from deshred.executors import Executor
from deshred.imaging.edges import EdgeOptions
from deshred.options import option

_RIGHTS = 32  # right-hand edges that are kept at hand, at 1 MB each
_STEPS = 400  # of maps per run of the network: few enough for the cache


@dataclass(frozen=True, eq=False)
class InkStrips(Descriptions):
    """The ink of n edges, and their maps beside blank paper."""

    ink: EdgeInk
    alone: NDArray[np.float32]  # (n, shifts, steps); a right-hand edge stays where it is


_MOST_ROWS = 65_535  # as long as a picture can be


@dataclass(frozen=True)
class PairwiseOptions:
    """Rows around the middle that are compared, and how far the right shred is moved up and down."""

    rows: int = 3000
    max_shift: int = option(10, "Scorer pairwise: how far a shred may move up or down, in px.")

    def __post_init__(self) -> None:
        if not 64 <= self.rows <= _MOST_ROWS:
            raise SettingsError(f"the pairwise network compares 64 to {_MOST_ROWS:,} rows, got {self.rows}.")
        if not 0 <= self.max_shift < self.rows // 2:
            raise SettingsError(f"max_shift must lie in 0..{self.rows // 2 - 1} px, got {self.max_shift}.")

    @property
    def shifts(self) -> tuple[int, ...]:
        """All shifts, small ones first: of equal scores the smallest shift wins."""
        return tuple(
            sorted(range(-self.max_shift, self.max_shift + 1), key=lambda shift: (abs(shift), shift))
        )


class PairwiseScorer(PlainScorer):
    """C = max over shifts of the probability that the join fits."""

    name = "pairwise"
    description_type = InkStrips

    def __init__(
        self, model: str | Path = "pairwise-cdip", *, options: PairwiseOptions | None = None, threads: int = 0
    ) -> None:
        self.model: Model = open_model(model, "pairwise", threads)
        self.options = options or PairwiseOptions()
        fingerprint = f"{self.name} {self.model.sha256} {self.options}"
        self.card = ScorerCard(self.name, fingerprint, self.model.name, self.model.sha256)
        self.edge_options = EdgeOptions(
            width=self.model.card["options"]["columns"] // 2, rows=self.options.rows
        )
        self._network = PairwiseNetwork(self.model)
        self._field: int = self.model.card["receptive_rows"]
        blank = np.zeros((1, self.options.rows, self.edge_options.width), np.uint8)
        self._blank = self._network.look("right", blank), self._network.look("left", blank)
        self._blank_map = self._network.join(*self._blank)[0]

    def describe_rights(self, edges: Sequence[Edge], _executor: Executor, /) -> InkStrips:
        # column 0 of an edge is its tear: mirrored back, the tear is where the other shred begins
        return self._describe("right", np.stack([edge.ink[:, ::-1] for edge in edges]))

    def describe_lefts(self, edges: Sequence[Edge], _executor: Executor, /) -> InkStrips:
        return self._describe("left", np.stack([edge.ink for edge in edges]))

    def compare(self, rights: InkStrips, lefts: InkStrips) -> ScoreBlock:
        shifts = np.array(self.options.shifts, np.int16)
        logits = np.empty((len(shifts), len(rights), len(lefts)))
        for first in range(0, len(rights), _RIGHTS):
            some = [self._look("right", ink) for ink in rights.ink[first : first + _RIGHTS]]
            for j, theirs in enumerate(self._look("left", ink) for ink in lefts.ink):
                for i, ours in enumerate(some, first):
                    alone = np.where(ours.seen, rights.alone[i], lefts.alone[j])
                    logits[:, i, j] = self._mean_logits(ours, theirs, alone)
        best = logits.argmax(axis=0)
        probability = 1 / (1 + np.exp(-logits.max(axis=0)))
        return ScoreBlock(probability.astype(np.float32), shifts[best])

    def map_join(self, right: Edge, left: Edge, offset: int) -> NDArray[np.float32]:  # (rows / MAP_STEP,)
        """The map of the last convolution along one join: above 0 where it fits, below where it does not."""
        ours = self._network.look("right", right.ink[None, :, ::-1])
        theirs = self._network.look("left", shift_down(left.ink, offset)[None])
        along: NDArray[np.float32] = self._network.join(ours, theirs)[0]
        return along

    def _describe(self, which: Which, inks: EdgeInk) -> InkStrips:
        return InkStrips(inks, np.stack([self._map_alone(which, self._look(which, ink)) for ink in inks]))

    def _look(self, which: Which, ink: NDArray[np.uint8]) -> _Seen:
        """What one edge contributes; a left-hand one at all shifts."""
        moves = self.options.shifts if which == "left" else (0,)
        moved = np.stack([shift_down(ink, shift) for shift in moves])
        seen = find_seen(np.any(moved, axis=(0, 2)), self._field, len(self._blank_map))
        stretches = Stretches.around(seen, self._field)
        picked = stretches.pick(moved, 1, MAP_STEP, more=OVERLAP)
        return _Seen(seen, stretches, self._network.look(which, picked) if seen.any() else None)

    def _map_alone(self, which: Which, edge: _Seen) -> NDArray[np.float32]:  # (shifts, steps)
        """The maps of an edge beside blank paper."""
        count = len(self.options.shifts) if which == "left" else 1
        alone = np.repeat(self._blank_map[None], count, axis=0)
        if edge.sides is not None:
            right, left = (sides.pick(edge.stretches) for sides in self._blank)
            maps = (
                self._network.join(edge.sides, left)
                if which == "right"
                else self._network.join(right, edge.sides)
            )
            steps = np.flatnonzero(edge.seen)
            alone[:, steps] = maps[:, edge.stretches.places(steps)]
        return alone

    def _mean_logits(
        self, ours: _Seen, theirs: _Seen, alone: NDArray[np.float32]
    ) -> NDArray[np.float64]:  # (shifts,)
        """What the softmax sees: the mean over the map, which is run where both sides are inked."""
        both = ours.seen & theirs.seen
        total: NDArray[np.float64] = alone[:, ~both].sum(axis=1, dtype=np.float64)
        stretches = Stretches.around(both, self._field)
        if ours.sides is not None and theirs.sides is not None and both.any():
            right = ours.sides.pick(stretches.within(ours.stretches))
            within = stretches.within(theirs.stretches)
            places = stretches.places(np.flatnonzero(both))
            count = max(1, _STEPS // len(stretches))
            for s in range(0, len(total), count):
                maps = self._network.join(right, theirs.sides[s : s + count].pick(within))
                total[s : s + count] += maps[:, places].sum(axis=1, dtype=np.float64)
        return total / len(both)


@dataclass(frozen=True, eq=False)
class _Seen:
    """An edge that was looked at, at one shift or at several."""

    seen: Steps  # where a map sees any of its ink
    stretches: Stretches  # of the rows that its sides have
    sides: Sides | None  # None where it is blank


def shift_down(ink: NDArray[np.uint8], shift: int) -> NDArray[np.uint8]:
    """Move rows down, or up when negative; white comes in."""
    moved = np.zeros_like(ink)
    rows = len(ink)
    moved[max(0, shift) : rows + min(0, shift)] = ink[max(0, -shift) : rows - max(0, shift)]
    return moved
