"""Late interaction: every edge is encoded once, all joins and shifts are matrix products.

The network is in `tower_network.py`; here it runs through ONNX Runtime. The score of a join is the log-sum
over vertical shifts of the evidence at each shift and of how likely that shift is (`shifts.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation

from deshred.compatibility.contract import Descriptions, Evidence, Rows, ScoreBlock, ScorerCard, Unit
from deshred.compatibility.models import Model, open_model
from deshred.compatibility.shifts import (
    LogPrior,
    correlate_shifts,
    find_telling,
    forbid_own,
    learn_prior,
    reduce_shifts,
)
from deshred.elements import Calibration, Edge
from deshred.errors import SettingsError
from deshred.executors import Executor
from deshred.imaging.edges import EdgeOptions

ROW_STEP = 4  # px of paper per feature row
_EDGE_ROWS = 3000
_REACH = 6  # feature rows above and below that a feature row can see
_STEPS_PER_RUN = 4096  # feature rows per run of the network: enough to share the overhead, not the memory

# features are kept as whole numbers, parts of these: right-hand ones are small, left-hand ones large
_UNIT_RIGHT, _UNIT_LEFT = 1 << 14, 1 << 10
_LARGEST = np.iinfo(np.int16).max


@dataclass(frozen=True)
class TowerOptions:
    """The shape of the network; a model file carries the ones it was trained with."""

    width: int = 64
    channels: tuple[int, int, int, int] = (16, 32, 48, 64)
    features: int = 32
    shifts: int = 5  # feature rows up and down: 20 px

    def __post_init__(self) -> None:
        if self.width % 16:
            raise SettingsError(f"the width of a tower's edge is a multiple of 16, got {self.width}.")


@dataclass(frozen=True, eq=False)
class Features(Descriptions):
    """What the network sees in n edges; 20,000 shreds need 2 GB."""

    values: NDArray[np.int16]  # (n, rows / ROW_STEP, d)


@dataclass(frozen=True, eq=False)
class InkEvidence(Evidence):
    """How well the ink of two edges fits at every shift."""

    nats: NDArray[np.float32]  # (shifts, a, b)


class TowersScorer:
    """Ink alone: log p(left | right) / p(left) in nats, before calibration."""

    name = "towers"
    unit: Unit = "nats"
    description_type = Features
    evidence_type = InkEvidence

    def __init__(self, model: str | Path = "towers-default") -> None:
        # one thread per run and several runs side by side: the threads of one run would wait for each other
        self.model: Model = open_model(model, "towers", 1)
        options = dict(self.model.card["options"])
        self.options = TowerOptions(**{**options, "channels": tuple(options["channels"])})
        self.log_prior: LogPrior = np.array(self.model.card["shift_bias"], np.float32)
        self.edge_options = EdgeOptions(width=self.options.width, rows=_EDGE_ROWS)
        self.card = ScorerCard(
            self.name, f"{self.name} {self.model.sha256}", self.model.name, self.model.sha256
        )
        curves = self.model.card.get("calibration", {})
        self.calibration = Calibration(**curves[self.name]) if self.name in curves else None

    @property
    def shifts_px(self) -> NDArray[np.int16]:
        """Offsets that are tried, in px: how far the right shred moves down."""
        reach = self.options.shifts
        return (-ROW_STEP * np.arange(-reach, reach + 1)).astype(np.int16)

    def describe_rights(self, edges: Sequence[Edge], executor: Executor) -> Features:
        return self._encode(edges, "rights", "lefts", _UNIT_RIGHT, executor)

    def describe_lefts(self, edges: Sequence[Edge], executor: Executor) -> Features:
        return self._encode(edges, "lefts", "rights", _UNIT_LEFT, executor)

    def compare(self, rights: Features, lefts: Features) -> InkEvidence:
        products = correlate_shifts(rights.values, lefts.values, self.options.shifts)
        return InkEvidence((products / (_UNIT_RIGHT * _UNIT_LEFT)).astype(np.float32))

    def adapt(self, rights: Features, evidence: Callable[[Rows], InkEvidence]) -> TowersScorer:
        """This scorer with the shifts of the pile at hand."""
        telling = find_telling(measure_energy(rights))
        adapted = copy(self)
        adapted.log_prior = learn_prior(forbid_own(evidence(telling).nats.copy(), telling), self.log_prior)
        return adapted

    def reduce(self, evidence: InkEvidence) -> ScoreBlock:
        return reduce_shifts(evidence.nats, self.log_prior, self.shifts_px)

    def _encode(
        self, edges: Sequence[Edge], side: str, other: str, unit: int, executor: Executor
    ) -> Features:
        """Features of edges on endless blank paper: only bands with ink in sight run through the network."""
        blank = self._run(np.zeros((3 * _REACH * ROW_STEP, self.options.width), np.uint8), side, other)
        features = np.empty((len(edges), self.edge_options.rows // ROW_STEP, self.options.features), np.int16)
        features[:] = _to_whole(blank[_REACH + _REACH // 2], unit)
        above = np.zeros((_REACH * ROW_STEP, self.options.width), np.uint8)

        def encode_batch(batch: Sequence[_Band]) -> None:
            ink = np.concatenate([above, *(band.cut(edges[band.edge].ink) for band in batch), above])
            rows = _to_whole(self._run(ink, side, other), unit)
            at = _REACH
            for band in batch:
                band.paste(rows[at : at + band.steps], features[band.edge])
                at += band.steps

        bands = [band for i, edge in enumerate(edges) for band in _find_bands(i, edge)]
        executor.map(encode_batch, list(_batches(bands)))
        return Features(features)

    def _run(self, ink: NDArray[np.uint8], side: str, other: str) -> NDArray[np.float32]:
        # the graph has an input per side; the one that is not asked for costs nothing
        idle = np.zeros((1, ROW_STEP, self.options.width), np.float32)
        inputs = {side: ink[None].astype(np.float32), other: idle}
        rows: NDArray[np.float32] = self.model.run([f"{side[:-1]}_features"], inputs)[0][0]
        return rows


def measure_energy(features: Features) -> NDArray[np.int64]:  # (n,)
    """How much the features of each edge have to say."""
    energy: NDArray[np.int64] = np.einsum("nhd,nhd->n", features.values, features.values, dtype=np.int64)
    return energy


def _to_whole(values: NDArray[np.float32], unit: int) -> NDArray[np.int16]:
    return np.clip(np.rint(unit * values), -_LARGEST, _LARGEST).astype(np.int16)


@dataclass(frozen=True)
class _Band:
    """Feature rows that can see ink; above and below the edge too, as if the paper went on.

    So every band begins and ends with blank rows, as many as a feature row can see to one side. Bands that
    stand one below the other keep twice as many between their ink, and none sees another's.
    """

    edge: int
    start: int  # may lie above the edge
    stop: int  # may lie below

    @property
    def steps(self) -> int:
        """How many feature rows it has."""
        return self.stop - self.start

    def cut(self, ink: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Its ink; blank beyond the ends of the edge."""
        first, last = self.start * ROW_STEP, self.stop * ROW_STEP
        if first >= 0 and last <= len(ink):
            return ink[first:last]
        return np.pad(ink[max(first, 0) : last], ((max(-first, 0), max(last - len(ink), 0)), (0, 0)))

    def paste(self, rows: NDArray[np.int16], features: NDArray[np.int16]) -> None:
        """Put its rows into the features of its edge, without those beyond the ends."""
        first, last = max(self.start, 0), min(self.stop, len(features))
        features[first:last] = rows[first - self.start : last - self.start]


def _find_bands(index: int, edge: Edge) -> list[_Band]:
    """Runs of feature rows with ink in sight."""
    inked = edge.ink.any(axis=1).reshape(-1, ROW_STEP).any(axis=1)
    sees_ink = binary_dilation(np.pad(inked, _REACH), iterations=_REACH)
    turns = np.flatnonzero(np.diff(sees_ink, prepend=False, append=False)) - _REACH
    return [_Band(index, int(start), int(stop)) for start, stop in turns.reshape(-1, 2)]


def _batches(bands: Sequence[_Band]) -> Iterator[list[_Band]]:
    """Bands in order, as many at a time as one run of the network takes."""
    batch: list[_Band] = []
    steps = 0
    for band in bands:
        if batch and steps + band.steps > _STEPS_PER_RUN:
            yield batch
            batch, steps = [], 0
        batch.append(band)
        steps += band.steps
    if batch:
        yield batch
