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
from deshred.elements import Edge
from deshred.errors import SettingsError
from deshred.executors import Executor
from deshred.imaging.edges import EdgeOptions
from deshred.options import option

MAP_STEP = 16  # px of paper per value of the map
FITS = 1  # channel of the positive class; 0 is "does not fit"
_RIGHTS, _SHIFTS = 8, 7  # joins per run of the network: few enough for the cache, enough to share work

EdgeInk = NDArray[np.uint8]  # (n, rows, width): as the edge looks in the page


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
        self._field: int = self.model.card["receptive_rows"]
        self._blank_step = self._weigh_blank_step()

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
        for j, left in enumerate(lefts):
            shifted = np.stack([shift_down(left, int(shift)) for shift in shifts])
            for a in range(0, len(rights), _RIGHTS):
                for s in range(0, len(shifts), _SHIFTS):
                    block = self._mean_logits(rights[a : a + _RIGHTS], shifted[s : s + _SHIFTS])
                    logits[s : s + _SHIFTS, a : a + _RIGHTS, j] = block.T
        best = logits.argmax(axis=0)
        probability = 1 / (1 + np.exp(-logits.max(axis=0)))
        return ScoreBlock(probability.astype(np.float32), shifts[best])

    def map_join(self, right: Edge, left: Edge, offset: int) -> NDArray[np.float32]:  # (rows / MAP_STEP,)
        """The map of the last convolution along one join: above 0 where it fits, below where it does not."""
        rights, lefts = right.ink[None, :, ::-1], shift_down(left.ink, offset)[None]
        along: NDArray[np.float32] = _fit(self._run(rights, lefts))[0, 0]
        return along

    def _mean_logits(self, rights: EdgeInk, lefts: EdgeInk) -> NDArray[np.float64]:  # (a, b)
        """What the softmax sees: the mean over the map, with the blank steps that were left out."""
        inked = np.concatenate([rights, lefts]).max(axis=(0, 2)) > 0
        kept = drop_blank_rows(inked, self._field)
        fit = _fit(self._run(rights[:, kept.rows], lefts[:, kept.rows]))
        total = fit.sum(axis=2, dtype=np.float64) + kept.steps_left_out * self._blank_step
        mean: NDArray[np.float64] = total / (fit.shape[2] + kept.steps_left_out)
        return mean

    def _weigh_blank_step(self) -> float:
        """The value of the map where it sees no ink at all."""
        steps = 2 * self._field // MAP_STEP + 2
        sizes = [MAP_STEP * (steps + more) + self.options.rows % MAP_STEP for more in (0, 1)]
        blanks = [np.zeros((1, size, self.edge_options.width), np.uint8) for size in sizes]
        shorter, longer = (_fit(self._run(blank, blank)).sum(dtype=np.float64) for blank in blanks)
        return float(longer - shorter)

    def _run(self, rights: EdgeInk, lefts: EdgeInk) -> NDArray[np.float32]:  # (a, b, 2, steps)
        found: NDArray[np.float32] = self.model.run(None, {"rights": rights, "lefts": lefts})[0]
        self.model.check_shape(found, (len(rights), len(lefts), 2, None))
        return found


@dataclass(frozen=True, eq=False)
class KeptRows:
    """The rows that the network must see, and how many steps of its map the others would have given."""

    rows: NDArray[np.int64]
    steps_left_out: int


def drop_blank_rows(inked: NDArray[np.bool_], field: int) -> KeptRows:
    """Shorten long blank runs by whole steps of the map, so that every value but the blank ones stays.

    A value sees `field` rows. As long as a blank run keeps that many, no value sees both of its ends, and
    whole steps keep all strides in phase: the values left out are exactly those that see no ink.
    """
    ends = np.flatnonzero(np.concatenate([[True], inked, [True]]))
    keep = np.ones(len(inked), np.bool_)
    left_out = 0
    for above, below in zip(ends[:-1], ends[1:] - 1, strict=True):
        steps = max(0, int(below - above - field) // MAP_STEP)
        start = above + (below - above - steps * MAP_STEP) // 2
        keep[start : start + steps * MAP_STEP] = False
        left_out += steps
    return KeptRows(np.flatnonzero(keep), left_out)


def shift_down(ink: NDArray[np.uint8], shift: int) -> NDArray[np.uint8]:
    """Move rows down, or up when negative; white comes in."""
    moved = np.zeros_like(ink)
    rows = len(ink)
    moved[max(0, shift) : rows + min(0, shift)] = ink[max(0, -shift) : rows - max(0, shift)]
    return moved


def _fit(maps: NDArray[np.float32]) -> NDArray[np.float32]:
    """Positive against negative class. (..., 2, steps) -> (..., steps)"""
    return maps[..., FITS, :] - maps[..., 1 - FITS, :]
