"""A pairwise model, run: what an edge contributes to all of its joins, and the maps of joins.

Both parts are in one graph (`shared_joins.py`), each with inputs of its own; the part that is not asked for
sees next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.models import Model
from deshred.compatibility.pairwise.stretches import Stretches

FITS = 1  # channel of the positive class; 0 is "does not fit"
PARTS = ("seam", "beside", "next", "mixed", "squeezed", "own")  # of what an edge contributes
_STEP_ROWS = 4  # of a part per value of the map; of the seam twice as many
_IDLE_ROWS = 32

EdgeInk = NDArray[np.uint8]  # (n, rows, width): as the edge looks in the page
Which = Literal["right", "left"]


@dataclass(frozen=True, eq=False)
class Sides:
    """What n edges contribute to their joins, in the order of `PARTS`: (n, ..., rows, channels)."""

    parts: tuple[NDArray[np.float32], ...]

    def __len__(self) -> int:
        return len(self.parts[0])

    def __getitem__(self, edges: slice) -> Sides:
        return Sides(tuple(part[edges] for part in self.parts))

    def pick(self, stretches: Stretches) -> Sides:
        """Some of their rows, put together."""
        rows = [2 * _STEP_ROWS if part == "seam" else _STEP_ROWS for part in PARTS]
        return Sides(tuple(stretches.pick(part, -2, n) for part, n in zip(self.parts, rows, strict=True)))


class PairwiseNetwork:
    """The network inside a pairwise model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        ink = np.zeros((1, _IDLE_ROWS, model.card["options"]["columns"] // 2), np.uint8)
        self._idle = {"rights": ink, "lefts": ink}

    def look(self, which: Which, ink: EdgeInk) -> Sides:
        """What right-hand or left-hand edges contribute."""
        found = self._model.run([f"{which}.{part}" for part in PARTS], self._idle | {f"{which}s": ink})
        return Sides(tuple(found))

    def feed(self, right: Sides, lefts: Sides) -> dict[str, NDArray[Any]]:
        """What the network is given to see one right-hand edge joined with each of n left-hand ones."""
        given: dict[str, NDArray[Any]] = dict(self._idle)
        for which, sides in (("right", right), ("left", lefts)):
            given |= {f"{which}.{part}.kept": values for part, values in zip(PARTS, sides.parts, strict=True)}
        return given

    def join(self, right: Sides, lefts: Sides) -> NDArray[np.float32]:  # (n, steps)
        """Their maps: above 0 where the join fits, below where it does not."""
        found: NDArray[np.float32] = self._model.run(["map"], self.feed(right, lefts))[0]
        self._model.check_shape(found, (len(lefts), None, 2))
        fit: NDArray[np.float32] = found[..., FITS] - found[..., 1 - FITS]
        return fit
