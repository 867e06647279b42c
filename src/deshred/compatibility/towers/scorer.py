"""Late interaction: every edge is encoded once, all joins and shifts are matrix products.

The network is in `network.py`; here it runs through ONNX Runtime. The score of a join is the log-sum
over vertical shifts of the evidence at each shift and of how likely that shift is (`shifts.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.contract import Descriptions, Evidence, Rows, ScoreBlock, ScorerCard, Unit
from deshred.compatibility.models import Model, open_model
from deshred.compatibility.products import LARGEST_LEFT, LARGEST_RIGHT
from deshred.compatibility.shifts import (
    LogPrior,
    correlate_shifts,
    find_telling,
    forbid_own,
    learn_prior,
    reduce_shifts,
)
from deshred.compatibility.sketches import Look, Sketch, draw_sketch, pool_rows
from deshred.compatibility.towers.closelook import Sides
from deshred.elements import Calibration, Edge
from deshred.errors import SettingsError
from deshred.executors import Executor
from deshred.imaging.edges import EdgeOptions

ROW_STEP = 4  # px of paper per feature row
_EDGE_ROWS = 3000
_REACH = 6  # feature rows above and below that a feature row can see
_STEPS_PER_RUN = 4096  # feature rows per run of the network: enough to share the overhead, not the memory

_HEADROOM = 1.5  # times what the probe shows: the features of real pages reach further

# the first look
_DIRECTIONS = 8  # of the features, the ones that vary most
_POOLED_ROWS = 4
_LOOK = Look(candidates=64, reach=1)
_PROBE_ROWS, _PROBE_STROKES, _LONGEST_STROKE = 4096, 1200, 40  # px
_DIRECTION_UNIT = 1 << 10


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
    """What the network sees in n edges; 20,000 shreds need 1.4 GB."""

    # in parts of the scorer's units: right-hand ones have 13 bits, left-hand ones 8, of which products are
    # quick and exact (`products.py`), at 0.1 nats of error in the ink of a join
    values: NDArray[np.int16] | NDArray[np.int8]  # (n, rows / ROW_STEP, d)


@dataclass(frozen=True)
class Units:
    """Features are kept as whole numbers of such parts; powers of two, so that nothing else is rounded."""

    right: int
    left: int

    def to_nats(self, products: NDArray[np.float64]) -> NDArray[np.float32]:
        """Products of whole numbers as what they are worth."""
        return (products / (self.right * self.left)).astype(np.float32)


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
        features = self._encode(edges, "rights", "lefts", executor)
        return Features(_to_whole(features, self.units.right, LARGEST_RIGHT, np.int16))

    def describe_lefts(self, edges: Sequence[Edge], executor: Executor) -> Features:
        features = self._encode(edges, "lefts", "rights", executor)
        return Features(_to_whole(features, self.units.left, LARGEST_LEFT, np.int8))

    def compare(self, rights: Features, lefts: Features) -> InkEvidence:
        products = correlate_shifts(rights.values, lefts.values, self.options.shifts)
        return InkEvidence(self.units.to_nats(products))

    @cached_property
    def units(self) -> Units:
        """What the whole numbers of this network's features are parts of, as the probe tells."""
        right, left = (
            _find_unit(self._run(_draw_probe(self.options.width), side, other), largest)
            for side, other, largest in (
                ("rights", "lefts", LARGEST_RIGHT),
                ("lefts", "rights", LARGEST_LEFT),
            )
        )
        return Units(right, left)

    @property
    def looks(self) -> tuple[Look, ...]:
        return (_LOOK,)

    def sketch(self, features: Features) -> tuple[Sketch, ...]:
        """The features in their main directions, a few rows at a time."""
        return (draw_sketch(pool_rows(features.values @ self._directions, _POOLED_ROWS)),)

    @cached_property
    def _directions(self) -> NDArray[np.float64]:  # (features, directions), whole numbers
        """Where the features of this network vary most, on a page of random strokes."""
        features = self._run(_draw_probe(self.options.width), "lefts", "rights").astype(np.float64)
        main = np.linalg.eigh(np.cov(features.T))[1][:, ::-1][:, :_DIRECTIONS]
        whole: NDArray[np.float64] = np.rint(_DIRECTION_UNIT * main)
        return whole

    def adapt(self, rights: Features, evidence: Callable[[Rows], InkEvidence]) -> TowersScorer:
        """This scorer with the shifts of the pile at hand."""
        telling = find_telling(measure_energy(rights))
        adapted = copy(self)
        adapted.log_prior = learn_prior(forbid_own(evidence(telling).nats.copy(), telling), self.log_prior)
        return adapted

    def show_sides(self, rights: Features, lefts: Features) -> Sides:
        """The features of a pile for a close look at its joins."""
        units = self.units
        return Sides(
            rights.values,
            lefts.values,
            self._see_blank("rights", "lefts").astype(np.float64) * units.right,
            self._see_blank("lefts", "rights").astype(np.float64) * units.left,
            unit=units.right * units.left,
            row_step=ROW_STEP,
        )

    def reduce(self, evidence: InkEvidence) -> ScoreBlock:
        return reduce_shifts(evidence.nats, self.log_prior, self.shifts_px)

    def _encode(
        self, edges: Sequence[Edge], side: str, other: str, executor: Executor
    ) -> NDArray[np.float32]:  # (n, rows, d)
        """Features of edges on endless blank paper: only bands with ink in sight run through the network."""
        shape = len(edges), self.edge_options.rows // ROW_STEP, self.options.features
        features = np.empty(shape, np.float32)
        features[:] = self._see_blank(side, other)
        bands = [band for i, edge in enumerate(edges) for band in _find_bands(i, edge)]
        batches = list(_batches(bands))
        inks = [[band.cut(edges[band.edge].ink) for band in batch] for batch in batches]
        encoded = executor.stream(partial(self._encode_batch, side=side, other=other), inks)
        for batch, rows in zip(batches, encoded, strict=True):
            at = _REACH
            for band in batch:
                band.paste(rows[at : at + band.steps], features[band.edge])
                at += band.steps
        return features

    def _see_blank(self, side: str, other: str) -> NDArray[np.float32]:  # (d,)
        """The features of a row of blank paper."""
        blank = np.zeros((3 * _REACH * ROW_STEP, self.options.width), np.uint8)
        row: NDArray[np.float32] = self._run(blank, side, other)[_REACH + _REACH // 2]
        return row

    def _encode_batch(
        self, inks: Sequence[NDArray[np.uint8]], *, side: str, other: str
    ) -> NDArray[np.float32]:
        """Bands one below the other, with blank paper above and below."""
        above = np.zeros((_REACH * ROW_STEP, self.options.width), np.uint8)
        return self._run(np.concatenate([above, *inks, above]), side, other)

    def _run(self, ink: NDArray[np.uint8], side: str, other: str) -> NDArray[np.float32]:
        # the graph has an input per side; the one that is not asked for costs nothing
        idle = np.zeros((1, ROW_STEP, self.options.width), np.float32)
        inputs = {side: ink[None].astype(np.float32), other: idle}
        found: NDArray[np.float32] = self.model.run([f"{side[:-1]}_features"], inputs)[0]
        self.model.check_shape(found, (1, len(ink) // ROW_STEP, self.options.features))
        rows: NDArray[np.float32] = found[0]
        return rows


def measure_energy(features: Features) -> NDArray[np.int64]:  # (n,)
    """How much the features of each edge have to say."""
    energy: NDArray[np.int64] = np.einsum("nhd,nhd->n", features.values, features.values, dtype=np.int64)
    return energy


Whole = TypeVar("Whole", np.int8, np.int16)


def _to_whole(
    values: NDArray[np.float32], unit: int, largest: int, kind: type[Whole]
) -> NDArray[Whole]:  # (n, rows, d)
    """Whole numbers; what rounding takes from a row the next one gets, so that sums over rows are right."""
    whole = np.empty(values.shape, kind)
    count, rows, depth = values.shape
    left, rounded = np.zeros((count, depth)), np.empty((count, depth))
    for row in range(rows):  # what becomes of an edge depends on it alone
        left += np.multiply(values[:, row], unit, out=rounded)
        np.rint(left, out=rounded)
        np.clip(rounded, -largest, largest, out=rounded)
        whole[:, row] = rounded
        left -= rounded
    return whole


def _find_unit(features: NDArray[np.float32], largest: int) -> int:
    """The finest power of two in whose parts features are at most so large."""
    reached = _HEADROOM * float(np.abs(features).max())
    return 1 << max(0, math.floor(math.log2(largest / reached))) if reached > 0 else 1


@lru_cache(maxsize=2)  # not kept by scorers: they travel
def _draw_probe(width: int) -> NDArray[np.uint8]:
    """An edge full of strokes, to see what a network tells apart."""
    rng = np.random.default_rng(0)
    ink = np.zeros((_PROBE_ROWS, width), np.uint8)
    for top, left, long in rng.integers((_PROBE_ROWS, width, _LONGEST_STROKE), size=(_PROBE_STROKES, 3)):
        thick = 3 + long % 4
        if long % 2:
            ink[top : top + long, left : left + thick] = 1
        else:
            ink[top : top + thick, left : left + long] = 1
    return ink


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

    def paste(self, rows: NDArray[np.float32], features: NDArray[np.float32]) -> None:
        """Put its rows into the features of its edge, without those beyond the ends."""
        first, last = max(self.start, 0), min(self.stop, len(features))
        features[first:last] = rows[first - self.start : last - self.start]


def _find_bands(index: int, edge: Edge) -> list[_Band]:
    """Runs of feature rows with ink in sight."""
    # eight pixels at a time: there are many, and most are blank
    words = np.ascontiguousarray(edge.ink).reshape(-1, ROW_STEP * edge.ink.shape[1]).view(np.uint64)
    inked = words.max(axis=1) > 0
    sees_ink = np.convolve(inked, np.ones(2 * _REACH + 1)) > 0.5  # begins above the edge
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
