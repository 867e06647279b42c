"""What scans look like in; one decision for all of them out: sheets to segment, or single shreds.

A file says little about itself: one crop from a sheet shows the sheet's color around its shred, another by
chance does not. So each scan is only looked at, and all are decided upon together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deshred.elements import Scan
from deshred.errors import InputError
from deshred.imaging.sheets.backgrounds import find_background, measure_coverage
from deshred.imaging.sheets.patches import to_pixels
from deshred.imaging.sheets.segmentation import SegmentationOptions, count_shreds

Color = tuple[int, int, int]
# A sheet of shreds, a shred with its surroundings, or a shred and nothing else.
Showing = Literal["sheet", "crop", "shred"]

_MIN_SIDE_SHARE = 0.5  # of a long side that shows the background, on a crop
_MIN_CROPS = 0.5  # of the narrow files: then the others are crops as well


@dataclass(frozen=True)
class Look:
    """What one scan looks like, before it is known what the others look like."""

    is_wide: bool = False  # wider than any shred
    pieces: int | None = None  # shreds in what is opaque; None when the file does not say
    background: Color | None = None  # that shows along both long sides of a narrow scan

    @property
    def guess(self) -> Showing:
        """What it seems to show, by itself."""
        if self.pieces is not None:
            return "sheet" if self.pieces > 1 else "shred"
        if self.is_wide:
            return "sheet"
        return "shred" if self.background is None else "crop"


@dataclass(frozen=True)
class Decision:
    """How a pile was read, and what speaks for it."""

    sheets: int = 0
    crops: int = 0  # shreds with their surroundings, whose outline is cut out
    shreds: int = 0  # as they are
    background: Color | None = None  # around the crops
    reasons: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """sheets, shreds or mixed."""
        if not self.sheets:
            return "shreds"
        return "mixed" if self.crops + self.shreds else "sheets"

    def treat(self, look: Look) -> Showing:
        """What a scan shows, now that the others are known."""
        if look.pieces is None and not look.is_wide and self.background is not None:
            return "crop"
        return "shred" if look.guess == "crop" else look.guess

    def __str__(self) -> str:
        singles = self.crops + self.shreds
        parts = [
            f"{count} {word if count == 1 else words}"
            for count, word, words in ((self.sheets, "sheet", "sheets"), (singles, "shred", "single shreds"))
            if count
        ]
        return f"read as {' and '.join(parts) or 'nothing'}: {'; '.join(self.reasons)}"


def look_at(scan: Scan, *, options: SegmentationOptions | None = None) -> Look:
    """What a scan shows of itself; it is not segmented."""
    options = options or SegmentationOptions()
    if scan.mask is not None and not scan.mask.all():
        return Look(pieces=count_shreds(scan, options))
    if min(scan.image.shape[:2]) > to_pixels(options.max_width_mm, scan.dpi):
        return Look(is_wide=True)
    return Look(background=_find_surroundings(scan, options))


def decide(looks: Sequence[Look], *, options: SegmentationOptions | None = None) -> Decision:
    """One decision for all scans of a pile."""
    options = options or SegmentationOptions()
    narrow = [look for look in looks if look.pieces is None and not look.is_wide]
    colors = [look.background for look in narrow if look.background is not None]
    are_crops = bool(narrow) and len(colors) >= _MIN_CROPS * len(narrow)
    shown = Counter(look.guess for look in looks)
    whole = shown["shred"] + shown["crop"] - len(narrow) * are_crops
    return Decision(
        sheets=shown["sheet"],
        crops=len(narrow) * are_crops,
        shreds=whole,
        background=_middle(colors) if are_crops else None,
        reasons=tuple(_explain(looks, narrow, colors, are_crops, options)),
    )


def decide_as_told(looks: Sequence[Look], kind: str) -> Decision:
    """The decision of a person."""
    count, reason = len(looks), (f"--as {kind} was given",)
    return (
        Decision(sheets=count, reasons=reason) if kind == "sheets" else Decision(shreds=count, reasons=reason)
    )


def _explain(
    looks: Sequence[Look],
    narrow: Sequence[Look],
    colors: Sequence[Color],
    are_crops: bool,
    options: SegmentationOptions,
) -> list[str]:
    """What speaks for it, in words."""
    reasons = []
    wide = sum(look.is_wide for look in looks)
    outlined = len(looks) - wide - len(narrow)
    limit = f"{options.max_width_mm:g} mm"
    if wide:
        reasons.append(f"{_count(wide)} wider than {limit}")
    if outlined:
        reasons.append(f"{_count(outlined)} cut out already, by a mask or transparency")
    if narrow:
        reasons.append(f"{_count(len(narrow))} narrower than {limit}")
    if colors:
        shown = f"{len(colors)} of {len(narrow)} show a background such as #{bytes(_middle(colors)).hex()}"
        then = "so the outlines of all are cut out" if are_crops else "which is too few to cut outlines out"
        reasons.append(f"{shown} around them, {then}")
    return reasons


def _count(number: int) -> str:
    return "1 is" if number == 1 else f"{number} are"


def _find_surroundings(scan: Scan, options: SegmentationOptions) -> Color | None:
    """The background along both long sides of a narrow scan; colored print does not run along both."""
    try:
        background = find_background(scan, color=options.background)
    except InputError:
        return None
    bare = measure_coverage(scan.image, background) < options.outline_coverage
    height, width = bare.shape
    sides = (bare[:, :2], bare[:, -2:]) if height > width else (bare[:2].T, bare[-2:].T)
    return background.color if all(float(side.mean()) > _MIN_SIDE_SHARE for side in sides) else None


def _middle(colors: Sequence[Color]) -> Color:
    red, green, blue = (int(level) for level in np.median(np.asarray(colors), axis=0))
    return red, green, blue
