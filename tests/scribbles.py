"""Made-up ink: strokes that cross any cut somewhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def scribble(seed: int, height: int = 700, width: int = 900) -> NDArray[np.uint8]:
    """Ink of a page: lines of strokes that cross any cut somewhere."""
    rng = np.random.default_rng(seed)
    ink = np.zeros((height, width), np.uint8)
    for top in range(30, height - 40, 44):
        for _ in range(width // 6):
            x, y = rng.integers(20, width - 40), top + rng.integers(0, 24)
            if rng.random() < 0.5:
                ink[y : y + 4, x : x + rng.integers(8, 26)] = 1
            else:
                ink[y : y + rng.integers(8, 20), x : x + 4] = 1
    return ink
