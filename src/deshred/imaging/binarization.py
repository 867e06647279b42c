"""Grey image and mask in, ink out: Sauvola's threshold, and the rule that calls a shred blank.

Sauvola and Pietikäinen, "Adaptive document image binarization", Pattern Recognition 33 (2000).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Mask, Shred
from deshred.errors import SettingsError

WHITE = 255
_NEAR_TIE = 0.05  # levels; single precision errs by less
_BAND = 1 << 15  # px binarized at a time: what lies between stays in the cache
BLANK_LEVEL = 127  # the paper: a shred without a blurred pixel below this carries no ink


@dataclass(frozen=True)
class BinarizationOptions:
    """Window side in px and sensitivity of Sauvola's threshold."""

    window: int = 15
    k: float = 0.2

    def __post_init__(self) -> None:
        if self.window < 3 or self.window % 2 == 0:
            raise SettingsError(f"binarization window must be odd and at least 3, got {self.window}.")


def to_gray(image: Image, mask: Mask | None = None) -> NDArray[np.uint8]:
    """Luma of an RGB image, with everything outside the mask white."""
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.uint8, copy=False)
    if mask is not None:
        gray[~mask] = WHITE
    return gray


def binarize(
    gray: NDArray[np.uint8], *, options: BinarizationOptions | None = None
) -> NDArray[np.uint8]:  # (H, W): 1 is ink
    """Mark the pixels at or below their local Sauvola threshold as ink."""
    options = options or BinarizationOptions()
    reach = options.window // 2
    rows = max(1, _BAND // max(gray.shape[1], 1))
    ink = np.empty(gray.shape, np.uint8)
    for start in range(0, len(gray), rows):
        first = max(start - reach, 0)
        band = _binarize_band(gray[first : start + rows + reach], options)
        ink[start : start + rows] = band[start - first : start - first + rows]
    return ink


def _binarize_band(gray: NDArray[np.uint8], options: BinarizationOptions) -> NDArray[np.bool_]:
    size, border = (options.window, options.window), cv2.BORDER_REFLECT_101
    sums = cv2.boxFilter(gray, cv2.CV_32F, size, normalize=False, borderType=border)
    squares = cv2.sqrBoxFilter(gray, cv2.CV_32F, size, normalize=False, borderType=border)
    above = _threshold(sums, squares, options)
    above -= gray
    ink: NDArray[np.bool_] = above >= 0
    # single precision is quicker and right everywhere but near a tie: those few again in double
    near = np.flatnonzero(np.abs(above, out=above) < _NEAR_TIE)
    exact = _threshold(
        sums.ravel()[near].astype(np.float64), squares.ravel()[near].astype(np.float64), options
    )
    ink.ravel()[near] = gray.ravel()[near] <= exact
    return ink


def _threshold(sums: NDArray[Any], squares: NDArray[Any], options: BinarizationOptions) -> NDArray[Any]:
    """Sauvola's threshold from the sums of grays and of their squares over each window."""
    area = options.window**2
    mean = sums / area
    deviation = mean * mean
    np.subtract(squares / area, deviation, out=deviation)
    np.maximum(deviation, 0, out=deviation)
    np.sqrt(deviation, out=deviation)
    deviation *= options.k / 127.5
    deviation += 1 - options.k
    deviation *= mean
    return deviation


def is_blank(shred: Shred) -> bool:
    """The paper's rule: no pixel below 127 after a 5x5 Gaussian blur, outside the mask white."""
    blurred = cv2.GaussianBlur(to_gray(shred.image, shred.mask), (5, 5), 0)
    return not bool((blurred < BLANK_LEVEL).any())
