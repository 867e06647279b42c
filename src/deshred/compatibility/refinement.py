"""An arrangement in, the same out as people see it: exact offsets, and how sure each join and page break is.

The one place where probabilities are given.
"""

from __future__ import annotations

from deshred.compatibility.alignment import align
from deshred.compatibility.calibration import rate
from deshred.elements import Arrangement, Compatibility, Pile


def refine(arrangement: Arrangement, compatibility: Compatibility, pile: Pile) -> Arrangement:
    """Give every join its probability, where scores are calibrated, and its exact offset."""
    return align(rate(arrangement, compatibility), pile.shreds, pile.edges)
