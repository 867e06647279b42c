"""Ink and outline as one: their evidence is added shift by shift, each weighted as simulated piles taught.

Both must agree on the same vertical shift. Where a pile has no torn outlines that side is silent by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility import outline
from deshred.compatibility.calibration import Calibration
from deshred.compatibility.outline import Curves, OutlineOptions, OutlineScorer
from deshred.compatibility.scoring import ScoreBlock
from deshred.compatibility.shifts import LogPrior, add_logs, learn_pile, reduce_shifts
from deshred.compatibility.towers import scorer as towers
from deshred.compatibility.towers.scorer import Features, TowersScorer, measure_energy
from deshred.elements import Edge
from deshred.errors import ModelError


@dataclass(frozen=True)
class FusionWeights:
    """What a nat of each evidence is worth; a model carries those that `calibration.py` fitted for it."""

    ink: float = 1.0
    outline: float = 1.0


@dataclass(frozen=True, eq=False)
class Impressions:
    """What both scorers see in n edges."""

    features: Features
    curves: Curves

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, index: slice | NDArray[np.intp]) -> Impressions:
        return Impressions(self.features[index], self.curves[index])


@dataclass(frozen=True, eq=False)
class Evidence:
    """Nats for every shift and join, of each kind. (shifts, a, b)"""

    ink: NDArray[np.float32]
    outline: NDArray[np.float32]

    def combine(self, weights: FusionWeights) -> NDArray[np.float32]:
        """The weighted sum."""
        total: NDArray[np.float32] = np.float32(weights.ink) * self.ink
        total += np.float32(weights.outline) * self.outline
        return total


class FusionScorer:
    """The default: towers and outline, in nats."""

    name = "default"

    def __init__(
        self,
        model: str | Path = "towers-default",
        *,
        weights: FusionWeights | None = None,
        threads: int = 0,
    ) -> None:
        self.towers = TowersScorer(model, threads=threads)
        self.model = self.towers.model
        if weights is None and "fusion" not in self.model.card:
            raise ModelError(
                f"{self.model.name}: the model does not say what its ink is worth beside an outline; its "
                "training did not end. Train it again, or use the ink alone with --scorer towers."
            )
        self.weights = weights or FusionWeights(**self.model.card["fusion"])
        reach_px = towers.ROW_STEP * self.towers.options.shifts
        self.outline = OutlineScorer(OutlineOptions(shift=reach_px))
        self.log_prior: LogPrior = self.towers.log_prior
        self.edge_options = self.towers.edge_options
        self.fingerprint = f"{self.name} {self.model.sha256} {self.weights} {self.outline.fingerprint}"
        curves = self.model.card.get("calibration", {})
        self.calibration = Calibration(**curves[self.name]) if self.name in curves else None

    def encode_rights(self, edges: Sequence[Edge]) -> Impressions:
        return Impressions(self.towers.encode_rights(edges), self.outline.encode_rights(edges))

    def encode_lefts(self, edges: Sequence[Edge]) -> Impressions:
        return Impressions(self.towers.encode_lefts(edges), self.outline.encode_lefts(edges))

    def adapt(self, rights: Impressions, lefts: Impressions) -> FusionScorer:
        """This scorer with the noise and the shifts of the pile at hand."""
        adapted = copy(self)
        adapted.outline = self.outline.adapt(rights.curves, lefts.curves)
        energy = measure_energy(rights.features)
        adapted.log_prior = learn_pile(rights, lefts, energy, adapted._combine, self.log_prior)
        return adapted

    def score_block(self, rights: Impressions, lefts: Impressions) -> ScoreBlock:
        return reduce_shifts(self._combine(rights, lefts), self.log_prior, self.towers.shifts_px)

    def score_shifts(self, rights: Impressions, lefts: Impressions) -> Evidence:
        """Both kinds of evidence at every shift, not yet weighted."""
        return Evidence(
            self.towers.score_shifts(rights.features, lefts.features),
            _coarsen(self.outline.score_shifts(rights.curves, lefts.curves)),
        )

    def _combine(self, rights: Impressions, lefts: Impressions) -> NDArray[np.float32]:
        return self.score_shifts(rights, lefts).combine(self.weights)


def _coarsen(evidence: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean likelihood of the fine shifts around each coarse one: its own and its two neighbors."""
    step = towers.ROW_STEP // outline.ROW_STEP
    own, between = evidence[::step], evidence[1::step]
    beyond = np.full_like(own[:1], -np.inf)
    before, after = np.concatenate([beyond, between]), np.concatenate([between, beyond])
    around = np.full((len(own), 1, 1), 3, np.float32)
    around[[0, -1]] = 2
    return add_logs(add_logs(own, before), after) - np.log(around)
