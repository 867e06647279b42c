"""Make the vertical offsets of an arrangement exact to the pixel.

Scorers search shifts in coarse steps, which is enough to rank joins. At the few joins that were chosen, ink
near the tear and the torn outline are compared at every pixel around the coarse offset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from deshred.compatibility.tears import remove_slow_part
from deshred.elements import Arrangement, Edge, EdgePair, Join, ShredSet, Slot
from deshred.executors import Executor, Progress, SerialExecutor

_REACH = 4  # px around the coarse offset: one step of the towers
_TOGETHER = 64  # joins that are refined in one go
_INK_COLUMNS = slice(1, 10)  # the outermost column is fray


@dataclass(frozen=True, eq=False)
class _Profile:
    """What of an edge is compared row by row, at unit length."""

    ink: NDArray[np.float64]
    outline: NDArray[np.float64]


def align(
    arrangement: Arrangement,
    shreds: ShredSet,
    edges: Sequence[EdgePair],
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Arrangement:
    """Refine the offset of every join, and with them the slots."""

    def refine(some: Sequence[Join]) -> list[Join]:
        return [_refine_join(join, shreds, edges) for join in some]

    if executor is None or not executor.shares_memory:  # edges take longer to travel
        executor = SerialExecutor()
    starts = range(0, len(arrangement.joins), _TOGETHER)
    some = [arrangement.joins[start : start + _TOGETHER] for start in starts]
    joins = [
        join for part in executor.map(refine, some, stage="refining", progress=progress) for join in part
    ]
    offsets = {join.right: join.offset for join in joins}
    pages = tuple(_place(page, offsets) for page in arrangement.pages)
    return replace(arrangement, joins=tuple(joins), pages=pages)


def _refine_join(join: Join, shreds: ShredSet, edges: Sequence[EdgePair]) -> Join:
    right = edges[shreds.index_of(join.left)].right
    left = edges[shreds.index_of(join.right)].left
    return replace(join, offset=_refine(right, left, join.offset))


def _place(page: tuple[Slot, ...], offsets: dict[str, int]) -> tuple[Slot, ...]:
    """Offsets of joins add up along the page."""
    slots = [Slot(page[0].shred_id, 0)]
    for slot in page[1:]:
        slots.append(Slot(slot.shred_id, slots[-1].offset + offsets[slot.shred_id]))
    return tuple(slots)


def _refine(right: Edge, left: Edge, offset: int) -> int:
    """The offset near the coarse one at which the two edges fit best."""
    upper, lower = _profile(right, 1.0), _profile(left, -1.0)
    tops = right.top - left.top
    candidates = range(offset - _REACH, offset + _REACH + 1)
    fits = [_fit(upper, lower, candidate - tops) for candidate in candidates]
    best = int(np.argmax(fits))
    return candidates[best] if fits[best] > 0 else offset


def _profile(edge: Edge, sign: float) -> _Profile:
    ink = gaussian_filter1d(edge.ink[:, _INK_COLUMNS].mean(axis=1, dtype=np.float64), 1.0)
    outline = remove_slow_part(sign * edge.outline)
    return _Profile(_unit(ink - ink.mean()), _unit(outline))


def _unit(values: NDArray[np.float64]) -> NDArray[np.float64]:
    length = float(np.linalg.norm(values))
    return values / length if length > 0 else values


def _fit(upper: _Profile, lower: _Profile, down: int) -> float:
    """How well rows agree when the right edge moves down by so many rows."""
    return _correlate(upper.ink, lower.ink, down) + _correlate(upper.outline, lower.outline, down)


def _correlate(upper: NDArray[np.float64], lower: NDArray[np.float64], down: int) -> float:
    rows = len(upper)
    if abs(down) >= rows:
        return 0.0
    return float(upper[max(0, down) : rows + min(0, down)] @ lower[max(0, -down) : rows - max(0, down)])
