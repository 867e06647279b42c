"""A join in, what its scorer found out: ink and outline at every shift, and the ink row by row.

The rows are the very products that the towers add up, so what is drawn is what was decided by. What the pile
teaches a scorer on top (its noise, its shifts) is left out: it is the same for all joins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.fusion import FusionScorer, coarsen
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.towers.scorer import ROW_STEP, TowersScorer, Units
from deshred.elements import Edge
from deshred.executors import SerialExecutor
from deshred.imaging.edges import crop_edge

Nats = NDArray[np.float32]
_NOTHING: Nats = np.zeros(0, np.float32)


@dataclass(frozen=True, eq=False)
class Trace:
    """What speaks for a join, in nats; empty where the scorer has no such evidence."""

    shifts: NDArray[np.int16]  # (shifts,): px that the right shred moves down, in rows of the edges
    ink: Nats  # (shifts,)
    outline: Nats  # (shifts,)
    rows: Nats  # of the left shred's edge, ROW_STEP px each, at the shift asked for
    row_step: int = ROW_STEP


def trace_join(scorer: AnyScorer, right: Edge, left: Edge, shift: int) -> Trace:
    """Compare the right-hand edge of one shred with the left-hand edge of the next.

    `shift` says how far down the second lies, in rows of the edges; rows are those of the nearest one tried.
    """
    if isinstance(scorer, FusionScorer):
        ink = _trace_ink(scorer.towers, right, left, shift)
        outline = coarsen(_weigh_outline(scorer.outline, right, left))[:, 0, 0]
        weights = scorer.weights
        return Trace(ink.shifts, weights.ink * ink.ink, weights.outline * outline, weights.ink * ink.rows)
    if isinstance(scorer, TowersScorer):
        return _trace_ink(scorer, right, left, shift)
    if isinstance(scorer, OutlineScorer):
        return Trace(scorer.shifts_px, _NOTHING, _weigh_outline(scorer, right, left)[:, 0, 0], _NOTHING)
    return Trace(np.zeros(0, np.int16), _NOTHING, _NOTHING, _NOTHING)


def _weigh_outline(scorer: OutlineScorer, right: Edge, left: Edge) -> Nats:  # (shifts, 1, 1)
    alone = SerialExecutor()
    wanted = scorer.edge_options
    rights = scorer.describe_rights([crop_edge(right, wanted)], alone)
    lefts = scorer.describe_lefts([crop_edge(left, wanted)], alone)
    return scorer.weigh(scorer.compare(rights, lefts))


def _trace_ink(scorer: TowersScorer, right: Edge, left: Edge, shift: int) -> Trace:
    alone, wanted = SerialExecutor(), scorer.edge_options
    rights = scorer.describe_rights([crop_edge(right, wanted)], alone)
    lefts = scorer.describe_lefts([crop_edge(left, wanted)], alone)
    nats = scorer.compare(rights, lefts).nats[:, 0, 0]
    shifts = scorer.shifts_px
    nearest = int(shifts[np.abs(shifts.astype(np.int64) - shift).argmin()])
    rows = multiply_rows(rights.values[0], lefts.values[0], nearest // ROW_STEP, scorer.units)
    return Trace(shifts, nats, _NOTHING, rows)


def multiply_rows(right: NDArray[np.integer], left: NDArray[np.integer], down: int, units: Units) -> Nats:
    """The product of two edges row by row, the left-hand one moved down by so many rows."""
    moved = np.zeros_like(left)
    if down >= 0:
        moved[down:] = left[: len(left) - down]
    else:
        moved[:down] = left[-down:]
    products = np.einsum("rd,rd->r", right.astype(np.float64), moved.astype(np.float64))
    return units.to_nats(products)
