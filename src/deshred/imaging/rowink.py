"""A shred in, the rows of it that hold ink out: where lines of print lie, and which strokes reach a tear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Shred
from deshred.imaging.edges import find_ink

_TEAR = 2  # px along a tear that are not looked at: the paper is frayed there, and often dark
_NEAR = 12  # px further inwards that show what reaches the tear
_REACHES = 5  # px of ink among those: a stroke across the tear, not the side of a letter
_PRINTED = 2  # px of ink anywhere in a row that make it a row with ink


@dataclass(frozen=True, eq=False)
class RowInk:
    """The rows of a shred with ink."""

    printed: NDArray[np.bool_]  # (H,): anywhere
    at_left: NDArray[np.bool_]  # (H,): that reaches the left tear
    at_right: NDArray[np.bool_]  # (H,): that reaches the right tear


def see_rows(shred: Shred) -> RowInk:
    """Look at a shred at the working resolution."""
    width = shred.mask.shape[1]
    columns = np.arange(width)
    start = shred.mask.argmax(axis=1)[:, None] + _TEAR
    stop = width - shred.mask[:, ::-1].argmax(axis=1)[:, None] - _TEAR
    ink = find_ink(shred).astype(np.bool_)
    ink &= (columns >= start) & (columns < stop)
    return RowInk(
        ink.sum(axis=1) >= _PRINTED,
        (ink & (columns < start + _NEAR)).sum(axis=1) >= _REACHES,
        (ink & (columns >= stop - _NEAR)).sum(axis=1) >= _REACHES,
    )
