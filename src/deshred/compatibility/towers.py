"""Late interaction: every edge is encoded once, all joins and shifts are matrix products.

The network is in `tower_network.py`; here it runs through ONNX Runtime. The score of a join is the log-sum
over vertical shifts of the evidence at each shift and of how likely that shift is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.confidence import Calibration
from deshred.compatibility.models import Model, open_model
from deshred.compatibility.scoring import ScoreBlock
from deshred.elements import Edge
from deshred.errors import SettingsError
from deshred.imaging.edges import EdgeOptions

ROW_STEP = 4  # px of paper per feature row
_EDGE_ROWS = 3000
_BATCH = 8  # edges per run of the network: its activations then fit into the cache

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
        self.model: Model = open_model(model, "towers", threads)
        options = dict(self.model.card["options"])
        self.options = TowerOptions(**{**options, "channels": tuple(options["channels"])})
        self.shift_bias = np.array(self.model.card["shift_bias"], np.float32)
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
        evidence += self.shift_bias[:, None, None]
        return evidence

    def score_block(self, rights: Features, lefts: Features) -> ScoreBlock:
        return reduce_shifts(self.score_shifts(rights, lefts), self.shifts_px)

    def _encode(self, edges: Sequence[Edge], side: str, other: str) -> Features:
        steps = self.edge_options.rows // ROW_STEP
        features = np.empty((len(edges), steps, self.options.features), np.float16)
        output = f"{side[:-1]}_features"
        # the graph has an input per side; the one that is not asked for costs nothing
        idle = np.zeros((1, ROW_STEP, self.options.width), np.float32)
        for start in range(0, len(edges), _BATCH):
            ink = np.stack([edge.ink for edge in edges[start : start + _BATCH]]).astype(np.float32)
            features[start : start + _BATCH] = self.model.session.run([output], {side: ink, other: idle})[0]
        return features


def reduce_shifts(evidence: NDArray[np.float32], shifts_px: NDArray[np.int16]) -> ScoreBlock:
    """Log-sum of the evidence over shifts, and the best shift. (shifts, a, b) -> (a, b)"""
    best = evidence.max(axis=0)
    total = np.exp(evidence - best).sum(axis=0)
    return ScoreBlock(best + np.log(total), shifts_px[evidence.argmax(axis=0)])
