"""Grey image and mask in, ink out: Sauvola's threshold, and the rule that calls a shred blank.

Sauvola and Pietikäinen, "Adaptive document image binarization", Pattern Recognition 33 (2000).
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Mask, Shred
from deshred.errors import SettingsError

WHITE = 255
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
    size = (options.window, options.window)
    mean = cv2.boxFilter(gray, cv2.CV_64F, size, borderType=cv2.BORDER_REFLECT_101)
    square_mean = cv2.sqrBoxFilter(gray, cv2.CV_64F, size, borderType=cv2.BORDER_REFLECT_101)
    variance: NDArray[np.float64] = np.subtract(square_mean, mean * mean, dtype=np.float64)
    threshold = np.sqrt(np.maximum(variance, 0.0, out=variance), out=variance)
    threshold *= options.k / 127.5
    threshold += 1.0 - options.k
    threshold *= mean
    return (gray <= threshold).view(np.uint8)


def is_blank(shred: Shred) -> bool:
    """The paper's rule: no pixel below 127 after a 5x5 Gaussian blur, outside the mask white."""
    blurred = cv2.GaussianBlur(to_gray(shred.image, shred.mask), (5, 5), 0)
    return not bool((blurred < BLANK_LEVEL).any())
