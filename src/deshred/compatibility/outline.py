"""The torn outline as evidence: a shredder does not cut straight, and both sides of a cut share one line.

Each outline loses its slow part and becomes a curve. Under "these two were one" the curves of a join are
samples of one tear, each with noise of its own; otherwise they are strangers. The log-likelihood ratio of
these two Gaussian models is the evidence; a small share of true joins is taken to be torn beyond
recognition, which bounds what a poor fit can say. A straight outline (a rectangular crop) has no variance,
hence no correlation to expect, and says nothing. How much noise there is, each pile tells by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.calibration import Calibration
from deshred.compatibility.scoring import ScoreBlock
from deshred.compatibility.shifts import (
    Evidence,
    LogPrior,
    add_logs,
    find_telling,
    forbid_own,
    learn_prior,
    measure_likelihood,
    reduce_shifts,
)
from deshred.compatibility.tears import CLIP_PX, SLOW_ROWS, remove_slow_part
from deshred.elements import Edge
from deshred.errors import SettingsError
from deshred.imaging.edges import EdgeOptions

ROW_STEP = 2  # px of paper per sample of a curve
_NOISES = (0.3, 0.45, 0.6, 0.8, 1.0, 1.3, 1.7)  # px that a pile can choose from
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
class Curves:
    """Outlines of n edges without their slow part, at unit length."""

    values: NDArray[np.float32]  # (n, samples)
    spread: NDArray[np.float32]  # (n,): standard deviation in px
    freedom: NDArray[np.float32]  # (n,): how many independent samples the curve is worth

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: slice | NDArray[np.intp]) -> Curves:
        return Curves(self.values[index], self.spread[index], self.freedom[index])


class OutlineScorer:
    """The torn outline alone, in nats."""

    name = "outline"

    def __init__(self, options: OutlineOptions | None = None) -> None:
        self.options = options or OutlineOptions()
        self.edge_options = EdgeOptions()
        self.fingerprint = f"{self.name} {self.options}"
        self.calibration = Calibration(slope=1.0, intercept=0.0)  # likelihood ratios are nats already

        count = len(self.shifts_px)
        self.log_prior: LogPrior = np.full(count, -np.log(count), np.float32)

    @property
    def shifts_px(self) -> NDArray[np.int16]:
        """Offsets that are tried, in px: how far the right shred moves down."""
        reach = self.options.shift // ROW_STEP
        return (-ROW_STEP * np.arange(-reach, reach + 1)).astype(np.int16)

    def encode_rights(self, edges: Sequence[Edge]) -> Curves:
        return self._encode([edge.outline for edge in edges])

    def encode_lefts(self, edges: Sequence[Edge]) -> Curves:
        # outwards is the other way on this side: the same tear has the opposite sign
        return self._encode([-edge.outline for edge in edges])

    def score_shifts(self, rights: Curves, lefts: Curves) -> Evidence:
        """The evidence at every shift. -> (shifts, a, b)"""
        return self._weigh(self._correlate(rights, lefts), rights, lefts, self.options.noise)

    def _correlate(self, rights: Curves, lefts: Curves) -> NDArray[np.float32]:  # (shifts, a, b)
        reach = self.options.shift // ROW_STEP
        samples = rights.values.shape[1]
        padded = np.pad(lefts.values, ((0, 0), (reach, reach)))
        return np.stack([rights.values @ padded[:, k : k + samples].T for k in range(2 * reach + 1)])

    def _weigh(
        self, correlation: NDArray[np.float32], rights: Curves, lefts: Curves, noise: float
    ) -> Evidence:
        """The log-likelihood ratio of correlations under so much noise."""
        variance = rights.spread[:, None] * lefts.spread
        expected = variance / (variance + noise**2)
        freedom = np.sqrt(rights.freedom[:, None] * lefts.freedom)
        rest = 1 - expected**2
        constant = -0.5 * np.log(rest) - expected**2 / rest
        fits = freedom * (constant + correlation * (expected / rest))
        ruined = self.options.ruined
        return add_logs(fits + np.float32(np.log1p(-ruined)), np.float32(np.log(ruined)))

    def adapt(self, rights: Curves, lefts: Curves) -> OutlineScorer:
        """This scorer with the noise and the shifts of the pile at hand."""
        telling = find_telling(rights.spread)
        some = rights[telling]
        correlation = self._correlate(some, lefts)

        def weigh(noise: float) -> Evidence:
            return forbid_own(self._weigh(correlation, some, lefts, noise), telling)

        def likelihood(noise: float) -> float:
            doubt = _STRENGTH * np.log(noise / self.options.noise) ** 2
            return measure_likelihood(weigh(noise), self.log_prior) - float(doubt)

        adapted = copy(self)
        noise = max(_NOISES, key=likelihood)
        adapted.options = replace(self.options, noise=noise)
        adapted.log_prior = learn_prior(weigh(noise), self.log_prior)
        return adapted

    def score_block(self, rights: Curves, lefts: Curves) -> ScoreBlock:
        return reduce_shifts(self.score_shifts(rights, lefts), self.log_prior, self.shifts_px)

    def _encode(self, outlines: Sequence[NDArray[np.float32]]) -> Curves:
        rows = self.edge_options.rows
        values = np.zeros((len(outlines), rows // ROW_STEP), np.float32)
        spread = np.zeros(len(outlines), np.float32)
        freedom = np.ones(len(outlines), np.float32)
        for i, outline in enumerate(outlines):
            quick = remove_slow_part(outline, self.options.slow_rows, self.options.clip)
            curve = quick.reshape(-1, ROW_STEP).mean(axis=1)
            length = float(np.linalg.norm(curve))
            if length > 0:
                values[i] = curve / length
                spread[i] = length / np.sqrt(len(curve))
                freedom[i] = _freedom(values[i])
        return Curves(values, spread, freedom)


def _freedom(unit_curve: NDArray[np.float32]) -> float:
    """Bartlett: strangers with this autocorrelation correlate like so many independent samples."""
    size = len(unit_curve)
    spectrum = np.abs(np.fft.rfft(unit_curve, 2 * size)) ** 2
    autocorrelation = np.fft.irfft(spectrum)[: size // 8]
    return float(size / (1 + 2 * np.sum(autocorrelation[1:] ** 2)))
