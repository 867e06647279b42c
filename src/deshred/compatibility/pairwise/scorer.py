"""The paper's scorer: a fully convolutional network over every join at every vertical shift.

Paixão et al., "Self-supervised deep reconstruction of mixed strip-shredded text documents", Pattern
Recognition 107 (2020). Scores are probabilities, as in the paper, not log-odds. The network comes as ONNX
from `pairwise_training.py` and shares its first layers between joins (`shared_joins.py`).
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
_SHIFTS = 7  # per run of the network: few enough for the cache


@dataclass(frozen=True, eq=False)
class InkStrips(Descriptions):
    """The ink of n edges."""

    ink: EdgeInk


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
        self._blank: dict[Which, Sides] = {which: self._network.look(which, blank) for which in ("right", "left")}
        self._blank_map = self._network.join(self._blank["right"], self._blank["left"])[0]

    def describe_rights(self, edges: Sequence[Edge], _executor: Executor, /) -> InkStrips:
        # column 0 of an edge is its tear: mirrored back, the tear is where the other shred begins
        return InkStrips(np.stack([edge.ink[:, ::-1] for edge in edges]))

    def describe_lefts(self, edges: Sequence[Edge], _executor: Executor, /) -> InkStrips:
        return InkStrips(np.stack([edge.ink for edge in edges]))

    def compare(self, rights: InkStrips, lefts: InkStrips) -> ScoreBlock:
        return self._compare(rights.ink, lefts.ink)

    def _compare(self, rights: EdgeInk, lefts: EdgeInk) -> ScoreBlock:
        shifts = np.array(self.options.shifts, np.int16)
        logits = np.empty((len(shifts), len(rights), len(lefts)))
        for first in range(0, len(rights), _RIGHTS):
            some = [self._look("right", ink[None]) for ink in rights[first : first + _RIGHTS]]
            for j, left in enumerate(lefts):
                theirs = self._look("left", np.stack([shift_down(left, int(shift)) for shift in shifts]))
                for i, ours in enumerate(some, first):
                    logits[:, i, j] = self._mean_logits(ours, theirs)
        best = logits.argmax(axis=0)
        probability = 1 / (1 + np.exp(-logits.max(axis=0)))
        return ScoreBlock(probability.astype(np.float32), shifts[best])

    def map_join(self, right: Edge, left: Edge, offset: int) -> NDArray[np.float32]:  # (rows / MAP_STEP,)
        """The map of the last convolution along one join: above 0 where it fits, below where it does not."""
        ours = self._network.look("right", right.ink[None, :, ::-1])
        theirs = self._network.look("left", shift_down(left.ink, offset)[None])
        along: NDArray[np.float32] = self._network.join(ours, theirs)[0]
        return along

    def _look(self, which: Which, ink: EdgeInk) -> _Seen:
        """What one edge contributes, at all its shifts, and its maps beside blank paper."""
        seen = find_seen(ink.any(axis=(0, 2)), self._field, len(self._blank_map))
        stretches = Stretches.around(seen, self._field)
        alone = np.repeat(self._blank_map[None], len(ink), axis=0)
        if not stretches:
            return _Seen(seen, stretches, self._blank[which], alone)
        sides = self._network.look(which, stretches.pick(ink, 1, MAP_STEP, more=OVERLAP))
        steps = np.flatnonzero(seen)
        if which == "right":
            maps = self._network.join(sides, self._blank["left"].pick(stretches))
        else:
            maps = self._network.join(self._blank["right"].pick(stretches), sides)
        alone[:, steps] = maps[:, stretches.places(steps)]
        return _Seen(seen, stretches, sides, alone)

    def _mean_logits(self, ours: _Seen, theirs: _Seen) -> NDArray[np.float64]:  # (shifts,)
        """What the softmax sees: the mean over the map. Only where both sides are inked it must be run."""
        both = ours.seen & theirs.seen
        total = np.where(ours.seen, ours.alone, theirs.alone)[:, ~both].sum(axis=1, dtype=np.float64)
        stretches = Stretches.around(both, self._field)
        if stretches:
            right, lefts = (one.sides.pick(stretches.within(one.stretches)) for one in (ours, theirs))
            places = stretches.places(np.flatnonzero(both))
            for s in range(0, len(lefts), _SHIFTS):
                maps = self._network.join(right, lefts[s : s + _SHIFTS])
                total[s : s + _SHIFTS] += maps[:, places].sum(axis=1, dtype=np.float64)
        return total / len(both)


@dataclass(frozen=True, eq=False)
class _Seen:
    """An edge that was looked at, at one shift or at several."""

    seen: Steps  # where a map sees any of its ink
    stretches: Stretches  # of the rows that its sides have
    sides: Sides
    alone: NDArray[np.float32]  # (shifts, steps): the map beside blank paper


def shift_down(ink: NDArray[np.uint8], shift: int) -> NDArray[np.uint8]:
    """Move rows down, or up when negative; white comes in."""
    moved = np.zeros_like(ink)
    rows = len(ink)
    moved[max(0, shift) : rows + min(0, shift)] = ink[max(0, -shift) : rows - max(0, shift)]
    return moved
