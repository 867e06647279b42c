"""Which steps of a map are wanted in, the stretches of a join that give them out.

A value of the map sees only some rows. Where they are blank on one side of a join, the value is known from
the other edge beside blank paper; so the network is run over the rest, put together to one shorter join.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAP_STEP = 16  # px of paper per value of the map
OVERLAP = 2  # px of the next step without which the last row of a side would be missing
_CENTER = 15  # row in the middle of what the first value of the map sees

Steps = NDArray[np.bool_]  # (steps,)


def find_seen(inked: NDArray[np.bool_], field: int, count: int) -> Steps:
    """Which of so many values of the map see any of the inked rows; each sees `field` rows."""
    above = np.concatenate([[0], np.cumsum(inked)])  # inked rows above a row
    first = _CENTER - field // 2 + MAP_STEP * np.arange(count)
    return above[np.clip(first + field, 0, len(inked))] > above[np.clip(first, 0, len(inked))]


@dataclass(frozen=True, eq=False)
class Stretches:
    """Stretches of a map, one behind the other; where two meet, a few values are wrong."""

    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    reach_end: bool  # whether the last one ends with the join

    @classmethod
    def around(cls, wanted: Steps, field: int) -> Stretches:
        """The fewest that hold all that the wanted values see."""
        before = -(-(field // 2 - _CENTER) // MAP_STEP)
        behind = -(-(field // 2) // MAP_STEP)
        turns = np.flatnonzero(np.diff(np.concatenate([[False], wanted, [False]])))
        starts, stops = np.maximum(turns[::2] - before, 0), np.minimum(turns[1::2] + behind, len(wanted))
        apart = np.flatnonzero(starts[1:] > stops[:-1])
        starts = np.concatenate([starts[:1], starts[apart + 1]])
        stops = np.concatenate([stops[apart], stops[-1:]])
        return cls(starts, stops, len(stops) > 0 and int(stops[-1]) == len(wanted))

    def __len__(self) -> int:
        return int((self.stops - self.starts).sum())

    def within(self, longer: Stretches) -> Stretches:
        """The same in a map that was put together of longer ones."""
        moved = longer.places(self.starts) - self.starts
        return Stretches(self.starts + moved, self.stops + moved, self.reach_end)

    def places(self, steps: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where steps come to lie when the stretches are put together."""
        ahead = np.cumsum(self.stops - self.starts) - self.stops
        return steps + ahead[np.searchsorted(self.starts, steps, "right") - 1]

    def pick(self, values: NDArray[Any], axis: int, rows: int, *, more: int = 0) -> NDArray[Any]:
        """What lies in the stretches along an axis with so many rows per step, and `more` rows behind it."""
        before = (slice(None),) * (axis % values.ndim)
        starts, ends = (rows * self.starts).tolist(), (rows * self.stops).tolist()
        if ends:
            ends[-1] = None if self.reach_end else ends[-1] + more
        some = [values[*before, start:end] for start, end in zip(starts, ends, strict=True)]
        return np.concatenate(some or [values[*before, :0]], axis=axis)
