"""Files of intact pages in, their ink at 300 dpi out: what networks are trained on.

Pages are kept as packed bits, so that 800 A4 pages need less than 1 GB.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image
from deshred.errors import InputError
from deshred.imaging.binarization import binarize, to_gray
from deshred.imaging.files import find_images
from deshred.imaging.scans import flatten, read_scans
from deshred.simulation.drawing import PAGE_KINDS, draw_page
from deshred.simulation.shredding import Places

PAGE_WIDTH = 2480  # A4 at 300 dpi
_WIDTHS_KEPT = (2400, 2700)
_MIN_SIDE = 600  # narrower pages hold too little text at any plausible resolution
_MIN_INK, _MAX_INK = 0.0005, 0.5
_MAX_MIDTONES = 0.4  # paper and ink are two tones; a photograph is mostly something between


class UnsuitablePageWarning(UserWarning):
    """A page was left out of training: the message says which and why."""


@dataclass(frozen=True, eq=False)
class IntactPage:
    """The ink of a whole page, as packed bits."""

    name: str
    bits: NDArray[np.uint8]
    width: int
    places: Places | None = None  # where it may be cut; anywhere without

    @property
    def ink(self) -> NDArray[np.uint8]:  # (H, W): 1 is ink
        """The ink, unpacked afresh."""
        return np.unpackbits(self.bits, axis=1, count=self.width)

    @classmethod
    def from_ink(cls, name: str, ink: NDArray[np.uint8], places: Places | None = None) -> IntactPage:
        """Pack the ink of a page."""
        return cls(name, np.packbits(ink, axis=1), ink.shape[1], places)


def load_intact(
    paths: Iterable[Path], *, progress: Callable[[str, int, int], None] | None = None
) -> list[IntactPage]:
    """Read intact pages; leave unsuitable ones out with a warning, fail when none remains."""
    paths = list(paths)
    files = find_images(paths)
    pages = []
    for done, file in enumerate(files, 1):
        # one file at a time: 800 decoded pages would not fit into memory
        for scan in read_scans(file):
            image = flatten(scan)
            ink = page_ink(image)
            why_not = _unsuitable(image, ink)
            if why_not:
                warnings.warn(f"{file}: left out of training: {why_not}.", UnsuitablePageWarning, 2)
            else:
                pages.append(IntactPage.from_ink(f"{file.name}[{scan.source.frame}]", ink))
        if progress:
            progress("reading pages", done, len(files))
    if not pages:
        raise InputError(
            f"no page to train on in {', '.join(map(str, paths[:3]))}. Give folders or files of whole, "
            "scanned text pages (PDF, TIFF, PNG or JPEG)."
        )
    return pages


def draw_intact(
    count: int, rng: np.random.Generator, *, progress: Callable[[str, int, int], None] | None = None
) -> list[IntactPage]:
    """Pages that deshred draws itself, of all kinds in turn."""
    pages = []
    for i in range(count):
        kind = PAGE_KINDS[i % len(PAGE_KINDS)]
        pages.append(IntactPage.from_ink(f"drawn {kind} {i}", page_ink(draw_page(kind, rng))))
        if progress:
            progress("drawing pages", i + 1, count)
    return pages


def page_ink(image: Image) -> NDArray[np.uint8]:
    """The ink of a page, brought to the width of A4 at 300 dpi unless it has about that already."""
    gray = to_gray(image)
    width = gray.shape[1]
    if not _WIDTHS_KEPT[0] <= width <= _WIDTHS_KEPT[1]:
        scale = PAGE_WIDTH / width
        how = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
        resized = cv2.resize(gray, None, fx=scale, fy=scale, interpolation=how).astype(np.uint8)
    else:
        resized = gray
    if _is_bilevel(gray):
        return (resized < 128).view(np.uint8)
    return binarize(resized)


def _is_bilevel(gray: NDArray[np.uint8]) -> bool:
    """Black and white already: a fixed threshold is exact and quick."""
    return bool(((gray == 0) | (gray == 255)).all())


def _unsuitable(image: Image, ink: NDArray[np.uint8]) -> str:
    """Why a page cannot be trained on; empty when it can."""
    height, width = image.shape[:2]
    if min(height, width) < _MIN_SIDE:
        return f"it is only {width} x {height} px, smaller than {_MIN_SIDE} px"
    share = float(ink.mean())
    if share < _MIN_INK:
        return "it is blank"
    if share > _MAX_INK:
        return f"{share:.0%} of it is ink; it looks like a negative or a photograph"
    small = cv2.resize(to_gray(image), (256, 256), interpolation=cv2.INTER_AREA)
    dark, light = np.percentile(small, (1, 90))
    middle = (small > dark + 0.25 * (light - dark)) & (small < light - 0.25 * (light - dark))
    if light - dark > 40 and middle.mean() > _MAX_MIDTONES:
        return f"{middle.mean():.0%} of it is neither paper nor ink; it looks like a photograph"
    return ""
