"""A sheet to cut shreds out of."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deshred.elements import Scan, Source

ORANGE = (250, 180, 88)


def orange_sheet() -> Scan:
    """Two strips and a scrap on orange paper, at 100 dpi."""
    image = np.full((500, 300, 3), ORANGE, np.uint8)
    for left in (40, 120):
        image[50:450, left : left + 30] = 245
        image[100:110, left + 5 : left + 25] = 20
    image[200:212, 200:212] = 245
    source = Source(Path("/scans/drawer.png"), "ab" * 32, 3)
    return Scan(image, 100.0, source)
