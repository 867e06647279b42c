"""Words and the joins they cross in, how the text reads across every join out: a second opinion, no verdict.

Over wholly right pages 8 in 100 joins read badly all the same, so it stands beside the probability of a join
and is never mixed into it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deshred.export.material import Material

Across = Literal["clear", "mixed", "broken", "unknown"]

_BROKEN, _CLEAR = 0.70, 0.85  # mean confidence: wrong joins had 0.59 to 0.68, right ones 0.79 to 0.89
_FEWEST = 3  # words, or nothing can be said


@dataclass(frozen=True)
class Crossing:
    """How the words across one join were read."""

    words: int
    confidence: float  # mean; 0 without words

    @property
    def across(self) -> Across:
        """clear, mixed or broken; unknown where too few words cross."""
        if self.words < _FEWEST:
            return "unknown"
        return "broken" if self.confidence < _BROKEN else "clear" if self.confidence >= _CLEAR else "mixed"


def rate_crossings(material: Material, index: int) -> dict[tuple[str, str], Crossing]:
    """Every join of a page by its shreds."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for line in material.lines(index):
        for word in line.words:
            for join in material.crossed(index, word):
                found[join.left, join.right].append(word.confidence)
    pairs = ((join.left, join.right) for join in material.page_joins(index))
    return {pair: Crossing(len(found[pair]), float(np.mean(found[pair] or [0.0]))) for pair in pairs}
