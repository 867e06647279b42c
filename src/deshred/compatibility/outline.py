"""The torn outline as evidence: a shredder does not cut straight, and both sides of a cut share one line.

Each outline loses its slow part and becomes a curve. Under "these two were one" the curves of a join are
samples of one tear, each with noise of its own; otherwise they are strangers. The log-likelihood ratio of
these two Gaussian models is the evidence; a small share of true joins is taken to be torn beyond
recognition, which bounds what a poor fit can say. A straight outline (a rectangular crop) has no variance,
hence no correlation to expect, and says nothing. How much noise there is, each pile tells by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.contract import Descriptions, Evidence, Rows, ScoreBlock, ScorerCard, Unit
from deshred.compatibility.shifts import (
    LogPrior,
    ShiftEvidence,
    add_logs,
    correlate_shifts,
    find_telling,
    forbid_own,
    learn_prior,
    measure_likelihood,
    reduce_shifts,
)
from deshred.compatibility.sketches import Look, Sketch, draw_sketch, pool_rows
from deshred.compatibility.tears import CLIP_PX, SLOW_ROWS, remove_slow_part
from deshred.elements import Calibration, Edge
from deshred.errors import SettingsError
from deshred.executors import Executor
from deshred.imaging.edges import EdgeOptions

ROW_STEP = 2  # px of paper per sample of a curve
_UNIT = 1 << 14  # the whole numbers of a curve are parts of this
_NOISES = (0.3, 0.45, 0.6, 0.8, 1.0, 1.3, 1.7)  # px that a pile can choose from
_POOLED_ROWS = 4  # of the first look
_LOOK = Look(candidates=16, reach=2)
_STRENGTH = 5.0  # how strongly a pile with little to say keeps to the noise of the options


@dataclass(frozen=True)
class OutlineOptions:
    """Rows over which the outline is smoothed to find its slow part, px of noise, and px of shift tried."""

    slow_rows: float = SLOW_ROWS
    clip: float = CLIP_PX
    noise: float = 1.0  # where a pile does not tell
    ruined: float = 0.02  # share of true joins whose outlines do not fit at all
    shift: int = 20

    def __post_init__(self) -> None:
        if self.slow_rows <= 0 or self.noise <= 0 or self.clip <= 0 or self.shift < 0:
            raise SettingsError(
                "outline: slow_rows, clip and noise must be positive and shift not negative, got "
                f"{self.slow_rows:g}, {self.clip:g}, {self.noise:g} and {self.shift}."
            )


@dataclass(frozen=True, eq=False)
class Curves(Descriptions):
    """Outlines of n edges without their slow part, at unit length."""

    values: NDArray[np.int16]  # (n, samples): in parts of _UNIT
    spread: NDArray[np.float32]  # (n,): standard deviation in px
    freedom: NDArray[np.float32]  # (n,): how many independent samples the curve is worth


@dataclass(frozen=True, eq=False)
class OutlineEvidence(Evidence):
    """How curves agree, before anything is known about the noise of the pile."""

    correlation: NDArray[np.float32]  # (shifts, a, b)
    variance: NDArray[np.float32]  # (a, b): product of both spreads, in px^2
    freedom: NDArray[np.float32]  # (a, b)


class OutlineScorer:
    """The torn outline alone, in nats."""

    name = "outline"
    unit: Unit = "nats"
    description_type = Curves
    evidence_type = OutlineEvidence

    def __init__(self, options: OutlineOptions | None = None) -> None:
        self.options = options or OutlineOptions()
        self.edge_options = EdgeOptions()
        self.card = ScorerCard(self.name, f"{self.name} {self.options}", sees_outlines=True)
        self.calibration = Calibration(slope=1.0, intercept=0.0)  # likelihood ratios are nats already
        count = len(self.shifts_px)
        self.log_prior: LogPrior = np.full(count, -np.log(count), np.float32)

    @property
    def shifts_px(self) -> NDArray[np.int16]:
        """Offsets that are tried, in px: how far the right shred moves down."""
        reach = self.options.shift // ROW_STEP
        return (-ROW_STEP * np.arange(-reach, reach + 1)).astype(np.int16)

    def describe_rights(self, edges: Sequence[Edge], executor: Executor) -> Curves:
        return self._describe([edge.outline for edge in edges], executor)

    def describe_lefts(self, edges: Sequence[Edge], executor: Executor) -> Curves:
        # outwards is the other way on this side: the same tear has the opposite sign
        return self._describe([-edge.outline for edge in edges], executor)

    def compare(self, rights: Curves, lefts: Curves) -> OutlineEvidence:
        reach = self.options.shift // ROW_STEP
        products = correlate_shifts(rights.values[:, :, None], lefts.values[:, :, None], reach)
        return OutlineEvidence(
            (products / _UNIT**2).astype(np.float32),
            rights.spread[:, None] * lefts.spread,
            np.sqrt(rights.freedom[:, None] * lefts.freedom),
        )

    @property
    def looks(self) -> tuple[Look, ...]:
        return (_LOOK,)

    def sketch(self, curves: Curves) -> tuple[Sketch, ...]:
        """The curves at a quarter of their samples."""
        return (draw_sketch(pool_rows(curves.values[:, :, None].astype(np.float64), _POOLED_ROWS)),)

    def weigh(self, evidence: OutlineEvidence) -> ShiftEvidence:
        """The log-likelihood ratio at every shift under the noise of the options."""
        expected = evidence.variance / (evidence.variance + np.float32(self.options.noise**2))
        rest = 1 - expected**2
        constant = -0.5 * np.log(rest) - expected**2 / rest
        fits = evidence.freedom * (constant + evidence.correlation * (expected / rest))
        ruined = self.options.ruined
        return add_logs(fits + np.float32(np.log1p(-ruined)), np.float32(np.log(ruined)))

    def adapt(self, rights: Curves, evidence: Callable[[Rows], OutlineEvidence]) -> OutlineScorer:
        """This scorer with the noise and the shifts of the pile at hand."""
        telling = find_telling(rights.spread)
        some = evidence(telling)

        def likelihood(scorer: OutlineScorer) -> float:
            doubt = _STRENGTH * np.log(scorer.options.noise / self.options.noise) ** 2
            return measure_likelihood(forbid_own(scorer.weigh(some), telling), self.log_prior) - float(doubt)

        adapted = max(map(self._with_noise, _NOISES), key=likelihood)
        adapted.log_prior = learn_prior(forbid_own(adapted.weigh(some), telling), self.log_prior)
        return adapted

    def reduce(self, evidence: OutlineEvidence) -> ScoreBlock:
        return reduce_shifts(self.weigh(evidence), self.log_prior, self.shifts_px)

    def _with_noise(self, noise: float) -> OutlineScorer:
        changed = copy(self)
        changed.options = replace(self.options, noise=noise)
        return changed

    def _describe(self, outlines: Sequence[NDArray[np.float32]], executor: Executor) -> Curves:
        curves = executor.map(self._describe_one, outlines)
        return Curves.concatenate(curves, 0) if curves else self._describe_none()

    def _describe_one(self, outline: NDArray[np.float32]) -> Curves:
        quick = remove_slow_part(outline, self.options.slow_rows, self.options.clip)
        curve = quick.reshape(-1, ROW_STEP).mean(axis=1)
        length = float(np.linalg.norm(curve))
        unit = curve / length if length > 0 else np.zeros_like(curve)
        return Curves(
            np.rint(_UNIT * unit).astype(np.int16)[None],
            np.array([length / np.sqrt(len(curve))], np.float32),
            np.array([_freedom(unit) if length > 0 else 1.0], np.float32),
        )

    def _describe_none(self) -> Curves:
        nothing = np.zeros(0, np.float32)
        return Curves(np.zeros((0, self.edge_options.rows // ROW_STEP), np.int16), nothing, nothing)


def _freedom(unit_curve: NDArray[np.float32]) -> float:
    """Bartlett: strangers with this autocorrelation correlate like so many independent samples."""
    size = len(unit_curve)
    spectrum = np.abs(np.fft.rfft(unit_curve, 2 * size)) ** 2
    autocorrelation = np.fft.irfft(spectrum)[: size // 8]
    return float(size / (1 + 2 * np.sum(autocorrelation[1:] ** 2)))
