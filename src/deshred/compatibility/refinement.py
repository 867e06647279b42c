"""Give an arrangement what people see: exact offsets, and how sure each join and page break is.

The one place where probabilities are given.
"""

from __future__ import annotations

from deshred.compatibility.alignment import align
from deshred.compatibility.calibration import rate
from deshred.compatibility.faces import order_faces
from deshred.elements import Arrangement, Compatibility, Pile
from deshred.executors import Executor, Progress


def refine(
    arrangement: Arrangement,
    compatibility: Compatibility,
    pile: Pile,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Arrangement:
    """Give every join its probability, where scores are calibrated, and its exact offset.

    Where both sides of a shred were scanned, each page is followed by its back.
    """
    rated = rate(order_faces(arrangement, pile.faces), compatibility)
    return align(rated, pile.shreds, pile.edges, executor=executor, progress=progress)
