"""Grey image and mask in, ink out: Sauvola's threshold, and the rule that calls a shred blank.

Sauvola and Pietikäinen, "Adaptive document image binarization", Pattern Recognition 33 (2000).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Mask, Shred
from deshred.errors import SettingsError
from deshred.options import option

WHITE = 255
_NEAR_TIE = 0.05  # levels; single precision errs by less
_BAND = 1 << 15  # px binarized at a time: what lies between stays in the cache
_MIDDLES = (0.15, 0.35)  # of the rows, looked at first for ink
_FEW = 0.125  # of the pixels: so many are looked at one by one
BLANK_LEVEL = 127  # the published rule: a shred without a blurred pixel below this carries no ink
_BLUR = (5, 5)
_OUTLINE, _FAR_OUTLINE = np.ones((5, 5), np.uint8), np.ones((9, 9), np.uint8)

BlankRule = Literal["relative", "paper"]


@dataclass(frozen=True)
class BinarizationOptions:
    """Window side in px and sensitivity of Sauvola's threshold."""

    window: int = 15
    k: float = 0.2

    def __post_init__(self) -> None:
        if self.window < 3 or self.window % 2 == 0:
            raise SettingsError(f"binarization window must be odd and at least 3, got {self.window}.")


@dataclass(frozen=True)
class BlankOptions:
    """When a shred is blank: by its own paper, or by the fixed level that published results used."""

    rule: BlankRule = option(
        "relative",
        "What counts as ink: darker than the shred's own paper, or than a fixed level.",
        flag="--blank-rule",
    )
    darker: float = 0.15  # ink is so much darker than the paper it stands on
    least_ink_mm2: float = 0.35  # 50 px at 300 dpi: a full stop; less is a speck
    anchored: bool = True  # blank shreds go to where their outline says they stand, if it is sure

    def __post_init__(self) -> None:
        if self.rule not in get_args(BlankRule):
            raise SettingsError(
                f"the rule for blank shreds is one of {', '.join(get_args(BlankRule))}, got {self.rule!r}."
            )
        if not 0 < self.darker < 1:
            raise SettingsError(
                f"darker must be a share of the paper's brightness, above 0 and below 1; got {self.darker:g}."
            )
        if not 0 <= self.least_ink_mm2 < math.inf:
            raise SettingsError(f"least_ink_mm2 must be 0 or more, got {self.least_ink_mm2:g}.")


def to_gray(image: Image, mask: Mask | None = None) -> NDArray[np.uint8]:
    """Luma of an RGB image, with everything outside the mask white."""
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.uint8, copy=False)
    if mask is not None:
        gray |= (mask.view(np.uint8) - np.uint8(1)) & WHITE  # white where there is no paper
    return gray


def binarize(
    gray: NDArray[np.uint8], *, options: BinarizationOptions | None = None
) -> NDArray[np.uint8]:  # (H, W): 1 is ink
    """Mark the pixels at or below their local Sauvola threshold as ink."""
    options = options or BinarizationOptions()
    ink = np.zeros(gray.shape, np.uint8)
    if not gray.size:
        return ink
    # most rows of most paper are light; the others stand one below the other, with all that they can see
    darkest = np.asarray(cv2.transpose(gray)).min(axis=0)  # several times quicker than along rows
    may_hold_ink = darkest <= _find_lightest_ink(options)
    reach = options.window // 2
    seen = np.convolve(may_hold_ink, np.ones(options.window))[reach : reach + len(gray)] > 0.5
    ink[seen] = _binarize_rows(gray if seen.all() else gray[seen], options)
    return ink


def _binarize_rows(gray: NDArray[np.uint8], options: BinarizationOptions) -> NDArray[np.uint8]:
    reach = options.window // 2
    rows = max(1, _BAND // max(gray.shape[1], 1))
    ink = np.empty(gray.shape, np.uint8)
    for start in range(0, len(gray), rows):
        first = max(start - reach, 0)
        band = _binarize_band(gray[first : start + rows + reach], options)
        ink[start : start + rows] = band[start - first : start - first + rows]
    return ink


@cache
def _find_lightest_ink(options: BinarizationOptions) -> int:
    """No pixel that is lighter is ink, whatever lies around it: no window has a higher threshold."""
    mean = np.arange(WHITE + 1.0)
    widest = mean * (WHITE - mean)  # variance, where all pixels of a window are black or white
    squares = (widest + mean * mean) * options.window**2
    highest = float(_threshold(mean * options.window**2, squares, options).max())
    return math.ceil(highest) + 1


def _binarize_band(gray: NDArray[np.uint8], options: BinarizationOptions) -> NDArray[np.bool_]:
    size, border = (options.window, options.window), cv2.BORDER_REFLECT_101
    sums = cv2.boxFilter(gray, cv2.CV_32F, size, normalize=False, borderType=border)
    squares = cv2.sqrBoxFilter(gray, cv2.CV_32F, size, normalize=False, borderType=border)
    dark = np.flatnonzero(gray <= _find_lightest_ink(options))
    if len(dark) <= _FEW * gray.size:  # on light paper
        ink = np.zeros(gray.shape, np.bool_)
        return _decide(ink, dark, gray, sums, squares, options)
    above = _threshold(sums, squares, options)
    above -= gray
    ink = above >= 0
    # single precision is quicker and right everywhere but near a tie
    near = np.flatnonzero(np.abs(above, out=above) < _NEAR_TIE)
    return _decide(ink, near, gray, sums, squares, options)


def _decide(
    ink: NDArray[np.bool_],
    places: NDArray[np.intp],
    gray: NDArray[np.uint8],
    sums: NDArray[Any],
    squares: NDArray[Any],
    options: BinarizationOptions,
) -> NDArray[np.bool_]:
    """The ink, with some pixels decided upon in double precision."""
    exact = _threshold(
        sums.ravel()[places].astype(np.float64), squares.ravel()[places].astype(np.float64), options
    )
    ink.ravel()[places] = gray.ravel()[places] <= exact
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


def is_blank(shred: Shred, *, options: BlankOptions | None = None) -> bool:
    """Whether nothing is written on a shred, so that nothing can be matched."""
    options = options or BlankOptions()
    if options.rule == "paper":
        blurred = cv2.GaussianBlur(to_gray(shred.image, shred.mask), _BLUR, 0)
        return not bool((blurred < BLANK_LEVEL).any())
    least = options.least_ink_mm2 * (shred.dpi / 25.4) ** 2
    is_inked = any(_is_seen_to_have_ink(shred, options.darker, least, share) for share in _MIDDLES)
    return not is_inked and _measure_ink(shred, options.darker) < least


def _is_seen_to_have_ink(shred: Shred, darker: float, least: float, share: float) -> bool:
    """Whether the middle of a shred is enough to tell that `_measure_ink` finds so much: mostly it is."""
    beyond = int(len(shred.mask) * (1 - share) / 2)
    middle = slice(beyond, len(shred.mask) - beyond)
    # so far from the outline that what is done to its pixels there does not show
    paper = np.ascontiguousarray(shred.mask[middle]).view(np.uint8)
    inside = cv2.erode(paper, _FAR_OUTLINE, borderType=cv2.BORDER_CONSTANT, borderValue=0)
    blurred = cv2.GaussianBlur(to_gray(shred.image[middle]), _BLUR, 0)
    counts = _count_levels(np.asarray(blurred, np.uint8), np.asarray(inside, np.uint8))
    # a tenth of the paper is at least as light as the paper is said to be
    lighter = counts[-1] - np.concatenate([[0], counts[:-1]])
    light_enough = np.flatnonzero(lighter > 0.1 * np.count_nonzero(shred.mask))
    if not light_enough.size:
        return False
    return bool(_count_ink(counts, int(light_enough[-1]), darker) >= max(least, 1))


def _measure_ink(shred: Shred, darker: float) -> int:
    """Pixels that are so much darker than the paper around them, apart from the outline."""
    # A pixel of the outline is half background: a dark sheet under a blank shred must not look like ink.
    paper_mask = np.ascontiguousarray(shred.mask).view(np.uint8)
    eroded = cv2.erode(paper_mask, _OUTLINE, borderType=cv2.BORDER_CONSTANT, borderValue=1)
    inside = np.asarray(eroded, np.uint8)
    if not inside.any():
        inside = paper_mask
    gray = to_gray(shred.image)
    counts = _count_levels(gray, inside)
    if not counts[-1]:
        return 0
    np.copyto(gray, _find_paper(counts), where=inside == 0)
    # of the blurred values, as grain makes the lightest paper lighter than paper is
    blurred = _count_levels(np.asarray(cv2.GaussianBlur(gray, _BLUR, 0), np.uint8), inside)
    return _count_ink(blurred, _find_paper(blurred), darker)


def _count_ink(counts: NDArray[np.int64], paper: int, darker: float) -> int:
    """How many pixels are so much darker than paper of this level."""
    lightest_ink = math.ceil((1 - darker) * paper) - 1
    return int(counts[lightest_ink]) if lightest_ink >= 0 else 0


def _count_levels(gray: NDArray[np.uint8], inside: NDArray[np.uint8]) -> NDArray[np.int64]:  # (256,)
    """How many pixels inside are at most as light as each level."""
    counts = cv2.calcHist([gray], [0], inside, [WHITE + 1], [0, WHITE + 1])
    return np.cumsum(counts.ravel().astype(np.int64))


def _find_paper(counts: NDArray[np.int64]) -> int:
    """How light the paper of a shred is: a tenth of it is lighter, even where most is printed dark."""
    return int(np.searchsorted(counts, 0.9 * counts[-1]))
