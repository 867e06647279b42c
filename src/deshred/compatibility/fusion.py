"""Ink and outline as one: their evidence is added shift by shift, each weighted as simulated piles taught.

Both must agree on the same vertical shift. Where a pile has no torn outlines that side is silent by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility import outline
from deshred.compatibility.contract import Descriptions, Evidence, Rows, ScoreBlock, ScorerCard, Unit
from deshred.compatibility.outline import Curves, OutlineEvidence, OutlineOptions, OutlineScorer
from deshred.compatibility.shifts import (
    LogPrior,
    ShiftEvidence,
    add_logs,
    find_telling,
    forbid_own,
    learn_prior,
    reduce_shifts,
)
from deshred.compatibility.sketches import Look, Sketch
from deshred.compatibility.towers import scorer as towers
from deshred.compatibility.towers.closelook import CloseLook, find_beliefs
from deshred.compatibility.towers.scorer import Features, InkEvidence, TowersScorer, measure_energy
from deshred.elements import Calibration, Compatibility, Edge
from deshred.errors import ModelError
from deshred.executors import Executor


@dataclass(frozen=True)
class FusionWeights:
    """What a nat of each evidence is worth; a model carries those that `calibration.py` fitted for it."""

    ink: float = 1.0
    outline: float = 1.0


@dataclass(frozen=True, eq=False)
class Impressions(Descriptions):
    """What both scorers see in n edges."""

    features: Features
    curves: Curves


@dataclass(frozen=True, eq=False)
class FusedEvidence(Evidence):
    """What both scorers found."""

    ink: InkEvidence
    outline: OutlineEvidence


class FusionScorer:
    """The default: towers and outline, in nats."""

    name = "default"
    unit: Unit = "nats"
    description_type = Impressions
    evidence_type = FusedEvidence

    def __init__(self, model: str | Path = "towers-default", *, weights: FusionWeights | None = None) -> None:
        self.towers = TowersScorer(model)
        self.model = self.towers.model
        if weights is None and "fusion" not in self.model.card:
            raise ModelError(
                f"{self.model.name}: the model does not say how much its ink counts beside an outline; its "
                "training was not finished. Train it again, or use the ink alone with --scorer towers."
            )
        self.weights = weights or FusionWeights(**self.model.card["fusion"])
        reach_px = towers.ROW_STEP * self.towers.options.shifts
        self.outline = OutlineScorer(OutlineOptions(shift=reach_px))
        self.log_prior: LogPrior = self.towers.log_prior
        self.edge_options = self.towers.edge_options
        fingerprint = f"{self.name} {self.model.sha256} {self.weights} {self.outline.card.fingerprint}"
        self.card = ScorerCard(self.name, fingerprint, self.model.name, self.model.sha256, sees_outlines=True)
        curves = self.model.card.get("calibration", {})
        self.calibration = (
            Calibration(**curves[self.name], asks_for_fit=True) if self.name in curves else None
        )
        told = self.model.card.get("close_look")
        self.close_look = None if told is None else CloseLook.from_card(told, self.model.name)

    def describe_rights(self, edges: Sequence[Edge], executor: Executor) -> Impressions:
        return Impressions(
            self.towers.describe_rights(edges, executor), self.outline.describe_rights(edges, executor)
        )

    def describe_lefts(self, edges: Sequence[Edge], executor: Executor) -> Impressions:
        return Impressions(
            self.towers.describe_lefts(edges, executor), self.outline.describe_lefts(edges, executor)
        )

    def compare(self, rights: Impressions, lefts: Impressions) -> FusedEvidence:
        return FusedEvidence(
            self.towers.compare(rights.features, lefts.features),
            self.outline.compare(rights.curves, lefts.curves),
        )

    @property
    def looks(self) -> tuple[Look, ...]:
        return (*self.towers.looks, *self.outline.looks)

    def sketch(self, impressions: Impressions) -> tuple[Sketch, ...]:
        """What is seen of both at a first look."""
        return (*self.towers.sketch(impressions.features), *self.outline.sketch(impressions.curves))

    def look_closely(
        self,
        compatibility: Compatibility,
        rights: Impressions,
        lefts: Impressions,
        tops: NDArray[np.int32],
        executor: Executor,
    ) -> NDArray[np.float32] | None:
        """What a close look says of the best joins of a pile; None for models that have not learned it."""
        if self.close_look is None:
            return None
        sides = self.towers.show_sides(rights.features, lefts.features)
        return find_beliefs(compatibility, sides, tops, self.close_look, executor=executor)

    def adapt(self, rights: Impressions, evidence: Callable[[Rows], FusedEvidence]) -> FusionScorer:
        """This scorer with the noise and the shifts of the pile at hand."""
        adapted = copy(self)
        adapted.outline = self.outline.adapt(rights.curves, lambda rows: evidence(rows).outline)
        telling = find_telling(measure_energy(rights.features))
        weighed = forbid_own(adapted.weigh(evidence(telling)), telling)
        adapted.log_prior = learn_prior(weighed, self.log_prior)
        return adapted

    def weigh(self, evidence: FusedEvidence) -> ShiftEvidence:
        """The weighted sum of both kinds at every shift."""
        total: ShiftEvidence = np.float32(self.weights.ink) * evidence.ink.nats
        total += np.float32(self.weights.outline) * coarsen(self.outline.weigh(evidence.outline))
        return total

    def reduce(self, evidence: FusedEvidence) -> ScoreBlock:
        return reduce_shifts(self.weigh(evidence), self.log_prior, self.towers.shifts_px)


def coarsen(evidence: ShiftEvidence) -> ShiftEvidence:
    """The mean likelihood of the fine shifts around each coarse one: its own and its two neighbors."""
    step = towers.ROW_STEP // outline.ROW_STEP
    own, between = evidence[::step], evidence[1::step]
    beyond = np.full_like(own[:1], -np.inf)
    before, after = np.concatenate([beyond, between]), np.concatenate([between, beyond])
    around = np.full((len(own), 1, 1), 3, np.float32)
    around[[0, -1]] = 2
    return add_logs(add_logs(own, before), after) - np.log(around)
