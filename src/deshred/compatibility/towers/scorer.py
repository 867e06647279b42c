"""Late interaction: every edge is encoded once, all joins and shifts are matrix products.

The network is in `tower_network.py`; here it runs through ONNX Runtime. The score of a join is the log-sum
over vertical shifts of the evidence at each shift and of how likely that shift is (`shifts.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation

from deshred.compatibility.calibration import Calibration
from deshred.compatibility.models import Model, open_model
from deshred.compatibility.scoring import ScoreBlock
from deshred.compatibility.shifts import LogPrior, learn_pile, reduce_shifts
from deshred.elements import Edge
from deshred.errors import SettingsError
from deshred.executors import default_executor
from deshred.imaging.edges import EdgeOptions

ROW_STEP = 4  # px of paper per feature row
_EDGE_ROWS = 3000
_REACH = 6  # feature rows above and below that a feature row can see
_STEPS_PER_RUN = 4096  # feature rows per run of the network: enough to share the overhead, not the memory

Features = NDArray[np.float16]  # (n, rows / ROW_STEP, d): half precision, 20,000 shreds need 2 GB


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


class TowersScorer:
    """Ink alone: log p(left | right) / p(left) in nats, before calibration."""

    name = "towers"

    def __init__(self, model: str | Path = "towers-default", *, threads: int = 0) -> None:
        # one thread per run and several runs side by side: the threads of one run would wait for each other
        self.model: Model = open_model(model, "towers", 1)
        self._executor = default_executor(threads or None)
        options = dict(self.model.card["options"])
        self.options = TowerOptions(**{**options, "channels": tuple(options["channels"])})
        self.log_prior: LogPrior = np.array(self.model.card["shift_bias"], np.float32)
        self.edge_options = EdgeOptions(width=self.options.width, rows=_EDGE_ROWS)
        self.fingerprint = f"{self.name} {self.model.sha256}"
        curves = self.model.card.get("calibration", {})
        self.calibration = Calibration(**curves[self.name]) if self.name in curves else None

    @property
    def shifts_px(self) -> NDArray[np.int16]:
        """Offsets that are tried, in px: how far the right shred moves down."""
        reach = self.options.shifts
        return (-ROW_STEP * np.arange(-reach, reach + 1)).astype(np.int16)

    def encode_rights(self, edges: Sequence[Edge]) -> Features:
        return self._encode(edges, "rights", "lefts")

    def encode_lefts(self, edges: Sequence[Edge]) -> Features:
        return self._encode(edges, "lefts", "rights")

    def score_shifts(self, rights: Features, lefts: Features) -> NDArray[np.float32]:
        """The evidence at every shift. (a, h, d), (b, h, d) -> (shifts, a, b)"""
        reach = self.options.shifts
        count, rows, depth = lefts.shape
        upper = rights.reshape(len(rights), -1).astype(np.float32)
        padded = np.zeros((count, rows + 2 * reach, depth), np.float32)
        padded[:, reach : reach + rows] = lefts
        flat = padded.reshape(count, -1)
        evidence = np.empty((2 * reach + 1, len(rights), count), np.float32)
        for k in range(2 * reach + 1):
            # a shifted window of the padded rows is a strided matrix: no copy per shift
            np.matmul(upper, flat[:, k * depth : (k + rows) * depth].T, out=evidence[k])
        return evidence

    def adapt(self, rights: Features, lefts: Features) -> TowersScorer:
        """This scorer with the shifts of the pile at hand."""
        adapted = copy(self)
        adapted.log_prior = learn_pile(
            rights, lefts, measure_energy(rights), self.score_shifts, self.log_prior
        )
        return adapted

    def score_block(self, rights: Features, lefts: Features) -> ScoreBlock:
        return reduce_shifts(self.score_shifts(rights, lefts), self.log_prior, self.shifts_px)

    def _encode(self, edges: Sequence[Edge], side: str, other: str) -> Features:
        """Features of edges on endless blank paper: only bands with ink in sight run through the network."""
        blank = self._run(np.zeros((3 * _REACH * ROW_STEP, self.options.width), np.uint8), side, other)
        features = np.empty(
            (len(edges), self.edge_options.rows // ROW_STEP, self.options.features), np.float16
        )
        features[:] = blank[_REACH + _REACH // 2]
        above = np.zeros((_REACH * ROW_STEP, self.options.width), np.uint8)

        def encode_batch(batch: Sequence[_Band]) -> None:
            ink = np.concatenate([above, *(band.cut(edges[band.edge].ink) for band in batch), above])
            rows = self._run(ink, side, other)
            at = _REACH
            for band in batch:
                band.paste(rows[at : at + band.steps], features[band.edge])
                at += band.steps

        bands = [band for i, edge in enumerate(edges) for band in _find_bands(i, edge)]
        self._executor.map(encode_batch, list(_batches(bands)))
        return features

    def _run(self, ink: NDArray[np.uint8], side: str, other: str) -> NDArray[np.float32]:
        # the graph has an input per side; the one that is not asked for costs nothing
        idle = np.zeros((1, ROW_STEP, self.options.width), np.float32)
        inputs = {side: ink[None].astype(np.float32), other: idle}
        rows: NDArray[np.float32] = self.model.session.run([f"{side[:-1]}_features"], inputs)[0][0]
        return rows


def measure_energy(features: Features) -> NDArray[np.float32]:  # (n, h, d) -> (n,)
    """How much the features of each edge have to say."""
    energy: NDArray[np.float32] = np.einsum("nhd,nhd->n", features, features, dtype=np.float32)
    return energy


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

    def paste(self, rows: NDArray[np.float32], features: Features) -> None:
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
