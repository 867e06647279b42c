"""From the flatbed scan to shreds: a sheet in; cut-out upright shreds, and a record of each, out.

The background is found and unmixed (`backgrounds`), the scanner's rim cut off (`rims`), touching shreds
separated (`contacts`), leaning ones made upright (`straightening`). Masks follow the outline to the pixel,
ink inside is paper, and whatever is not taken for a shred is listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Mask, Scan, Shred, Source
from deshred.errors import InputError, SettingsError
from deshred.imaging.backgrounds import Background, find_background, measure_coverage
from deshred.imaging.contacts import separate
from deshred.imaging.rims import Rim, draw_rims, find_rims
from deshred.imaging.straightening import Trace, measure_posture, straighten

Progress = Callable[[str, int, int], None]

_DUST_MM2 = 1.0
_MAX_FILLED_HOLE_MM2 = 12.0  # a larger one that shows the sheet is a punch hole
_CRACK_MM = 0.4  # misregistered color channels can cut a shred at a ruled line
_RULE_MM = 2.5  # the thickest ruled line that is bridged on a sheet as dark as ink
_DENT_MM = 2.0


@dataclass(frozen=True)
class SegmentationOptions:
    """What counts as a shred."""

    background: tuple[int, int, int] | None = None  # RGB; None: found in the scan
    min_width_mm: float = 1.5
    max_width_mm: float = 60.0
    min_length_mm: float = 10.0
    outline_coverage: float = 0.55  # of paper in a pixel of the outline: half, in light rather than in sRGB
    max_lean: float = 1.5  # degrees that do not matter: such a shred is not resampled

    def __post_init__(self) -> None:
        if self.background is not None and not all(0 <= c <= 255 for c in self.background):
            raise SettingsError(f"background {self.background}: red, green and blue go from 0 to 255.")
        if not 0 < self.min_width_mm < self.max_width_mm:
            raise SettingsError(
                f"shreds cannot be at least {self.min_width_mm} mm and at most {self.max_width_mm} mm wide; "
                "give a min_width_mm above 0 and below max_width_mm."
            )
        if self.min_length_mm < self.min_width_mm:
            raise SettingsError(
                f"min_length_mm {self.min_length_mm} is less than min_width_mm {self.min_width_mm}."
            )
        if not 0.2 <= self.outline_coverage <= 0.8:
            raise SettingsError(f"outline_coverage {self.outline_coverage} is not between 0.2 and 0.8.")
        if not 0 <= self.max_lean <= 10:
            raise SettingsError(f"max_lean {self.max_lean} is not between 0 and 10 degrees.")


@dataclass(frozen=True)
class Box:
    """A rectangle of scan pixels."""

    x: int
    y: int
    width: int
    height: int

    @property
    def slices(self) -> tuple[slice, slice]:
        return slice(self.y, self.y + self.height), slice(self.x, self.x + self.width)


@dataclass(frozen=True, eq=False)
class Cutout:
    """How one shred lies on its sheet, in scan pixels."""

    id: str
    box: Box
    mask: Mask  # (box.height, box.width): as on the sheet, not straightened
    outline: NDArray[np.int32]  # (n, 2): x, y of its corner pixels, clockwise
    angle: float  # degrees clockwise against upright
    area: int
    touches_border: bool
    warnings: tuple[str, ...]
    trace: Trace

    def as_json(self) -> dict[str, Any]:
        box = self.box
        return {
            "id": self.id,
            "box_xywh": [box.x, box.y, box.width, box.height],
            "outline": self.outline.tolist(),
            "angle": round(self.angle, 3),
            "area": self.area,
            "touches_border": self.touches_border,
            "warnings": list(self.warnings),
            "trace": self.trace.as_json(),
        }


@dataclass(frozen=True)
class Scrap:
    """Something on the sheet that was not taken for a shred, and why."""

    box: Box
    area: int
    reason: str


@dataclass(frozen=True, eq=False)
class Segmentation:
    """All that was found on one sheet; `cutouts[i]` tells about `shreds[i]`."""

    sheet: Source
    dpi: float
    size: tuple[int, int]  # width, height
    shreds: tuple[Shred, ...]
    cutouts: tuple[Cutout, ...]
    scraps: tuple[Scrap, ...]
    dust: int  # specks too small to list
    rims: tuple[Rim, ...]
    background: Background | None  # None: the file itself says what is opaque
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """What `shreds.json` holds."""
        return {
            "sheet": self.sheet.path.name,
            "frame": self.sheet.frame,
            "sha256": self.sheet.sha256,
            "dpi": self.dpi,
            "size": list(self.size),
            "background": None if self.background is None else f"#{bytes(self.background.color).hex()}",
            "rims": [
                {"side": rim.side, "depth": [round(rim.start_depth, 1), round(rim.end_depth, 1)]}
                for rim in self.rims
            ],
            "warnings": list(self.warnings),
            "shreds": [cutout.as_json() for cutout in self.cutouts],
            "ignored": [
                {
                    "box_xywh": [scrap.box.x, scrap.box.y, scrap.box.width, scrap.box.height],
                    "area": scrap.area,
                    "reason": scrap.reason,
                }
                for scrap in self.scraps
            ],
            "dust": self.dust,
        }

    def __repr__(self) -> str:
        return (
            f"Segmentation({self.sheet.path.name}, {len(self.shreds)} shreds, {len(self.warnings)} warnings)"
        )


def parse_color(text: str) -> tuple[int, int, int]:
    """Read a color such as #ff9933 or 255,153,51."""
    if match := re.fullmatch(r"#?([0-9a-fA-F]{6})", text.strip()):
        red, green, blue = bytes.fromhex(match[1])
        return red, green, blue
    if match := re.fullmatch(r"\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*", text):
        red, green, blue = (int(group) for group in match.groups())
        if max(red, green, blue) <= 255:
            return red, green, blue
    raise SettingsError(f"{text!r} is not a color; write it like #ff9933 or 255,153,51.")


def is_sheet(scan: Scan, *, options: SegmentationOptions = SegmentationOptions()) -> bool:
    """Whether a scan shows shreds on a sheet, rather than one shred cut out already."""
    if scan.mask is not None:
        return len(_shred_boxes(scan.mask, scan.dpi, options)) > 1
    height, width = scan.image.shape[:2]
    if min(height, width) > _pixels(options.max_width_mm, scan.dpi):
        return True
    try:
        background = find_background(scan, color=options.background)
    except InputError:
        return False
    bare = measure_coverage(scan.image, background) < options.outline_coverage
    # A shred with its surroundings shows background along both long sides; colored print does not.
    sides = (bare[:, :2], bare[:, -2:]) if height > width else (bare[:2].T, bare[-2:].T)
    return all(float(side.mean()) > 0.5 for side in sides)


def segment(scan: Scan, *, options: SegmentationOptions = SegmentationOptions()) -> Segmentation:
    """Find and cut out the shreds of one sheet, numbered in reading order."""
    segmentation = _segment(scan, options)
    if not segmentation.shreds:
        raise InputError(_explain_empty(scan, segmentation, options))
    return segmentation


def segment_all(
    scans: Sequence[Scan],
    *,
    options: SegmentationOptions = SegmentationOptions(),
    progress: Progress | None = None,
) -> tuple[Segmentation, ...]:
    """Segment every sheet; a blank sheet among others is kept with a warning, only blank ones are an error."""
    segmentations = []
    for done, scan in enumerate(scans):
        if progress is not None:
            progress("segment", done, len(scans))
        segmentations.append(_segment(scan, options))
    if progress is not None:
        progress("segment", len(scans), len(scans))
    if scans and not any(segmentation.shreds for segmentation in segmentations):
        raise InputError(_explain_empty(scans[0], segmentations[0], options))
    return tuple(segmentations)


def _explain_empty(scan: Scan, segmentation: Segmentation, options: SegmentationOptions) -> str:
    large = [scrap for scrap in segmentation.scraps if scrap.reason.startswith("wider")]
    where = (
        f"{scan.source.path}: found no shreds {options.min_width_mm:g} to {options.max_width_mm:g} mm wide"
    )
    if large:
        width = min(large[0].box.width, large[0].box.height) / scan.dpi * 25.4
        return (
            f"{where}, but an area {width:.0f} mm wide: is this a whole page or a photo? At {scan.dpi:g} dpi; "
            "try --dpi if that is wrong, --background to name the color under the shreds, or --as shreds. "
            "See docs/scanning.md."
        )
    return (
        f"{where} on the background {segmentation.background!r}. If there are any, name the color under them "
        "with --background, or lower --min-width; if every file is one shred, use --as shreds. "
        "See docs/scanning.md."
    )


@dataclass(frozen=True, eq=False)
class _Found:
    """One shred before it is numbered and made upright."""

    box: Box
    mask: Mask
    warnings: tuple[str, ...]


def _segment(scan: Scan, options: SegmentationOptions) -> Segmentation:
    background, coverage = _unmix(scan, options)
    paper = coverage > options.outline_coverage
    rims = find_rims(paper, dpi=scan.dpi) if background is not None else ()
    rim = draw_rims(rims, paper.shape)
    paper &= ~rim
    if background is not None:
        _bridge_cracks(paper, background, scan.dpi)
    found, scraps, dust = _find(scan, paper, coverage, background, options)
    found = _in_reading_order(found)
    digits = max(2, len(str(len(found))))
    stem = (
        scan.source.path.stem
        if scan.source.frame == 0
        else f"{scan.source.path.stem}-{scan.source.frame + 1}"
    )
    shreds, cutouts = [], []
    for number, one in enumerate(found, start=1):
        shred, cutout = _cut_out(scan, one, coverage, rim, f"{stem}#{number:0{digits}d}", options)
        shreds.append(shred)
        cutouts.append(cutout)
    warnings = _sheet_warnings(cutouts, scraps, dust)
    height, width = paper.shape
    return Segmentation(
        sheet=scan.source,
        dpi=scan.dpi,
        size=(width, height),
        shreds=tuple(shreds),
        cutouts=tuple(cutouts),
        scraps=tuple(scraps),
        dust=dust,
        rims=rims,
        background=background,
        warnings=warnings,
    )


def _unmix(scan: Scan, options: SegmentationOptions) -> tuple[Background | None, NDArray[np.float32]]:
    if scan.mask is not None and not scan.mask.all():
        return None, scan.mask.astype(np.float32)
    background = find_background(scan, color=options.background)
    return background, measure_coverage(scan.image, background)


def _pixels(mm: float, dpi: float) -> float:
    return mm / 25.4 * dpi


def _bridge_cracks(paper: Mask, background: Background, dpi: float) -> None:
    """Close long thin gaps across the shreds' direction: ruled lines, not dents of the outline."""
    upright = _mostly_upright(paper)
    view = paper if upright else paper.T
    as_dark_as_ink = not background.is_colored and max(background.color) <= 50
    gap = max(3, round(_pixels(_RULE_MM if as_dark_as_ink else _CRACK_MM, dpi)))
    span = max(4, round(_pixels(1.0, dpi)))
    raw = np.ascontiguousarray(view, np.uint8)
    closed = cv2.morphologyEx(raw, cv2.MORPH_CLOSE, np.ones((gap, 1), np.uint8))
    cracks = cv2.morphologyEx(closed & (1 - raw), cv2.MORPH_OPEN, np.ones((1, span), np.uint8))
    view |= cracks.astype(bool)


def _mostly_upright(paper: Mask) -> bool:
    small = cv2.resize(paper.astype(np.uint8), None, fx=0.25, fy=0.25, interpolation=cv2.INTER_NEAREST)
    _, _, stats, _ = cv2.connectedComponentsWithStats(small, connectivity=4)
    upright = stats[1:, cv2.CC_STAT_HEIGHT] >= stats[1:, cv2.CC_STAT_WIDTH]
    areas = stats[1:, cv2.CC_STAT_AREA]
    return bool(areas[upright].sum() >= areas[~upright].sum())


def _shred_boxes(mask: Mask, dpi: float, options: SegmentationOptions) -> list[Box]:
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    boxes = [Box(*(int(v) for v in row[:4])) for row in stats[1:]]
    return [
        box
        for box in boxes
        if min(box.width, box.height) >= _pixels(options.min_width_mm, dpi)
        and max(box.width, box.height) >= _pixels(options.min_length_mm, dpi)
    ]


def _find(
    scan: Scan,
    paper: Mask,
    coverage: NDArray[np.float32],
    background: Background | None,
    options: SegmentationOptions,
) -> tuple[list[_Found], list[Scrap], int]:
    _, labels, stats, _ = cv2.connectedComponentsWithStats(paper.astype(np.uint8), connectivity=4)
    speck = _DUST_MM2 * _pixels(1, scan.dpi) ** 2
    patches, scraps = [], []
    for label in 1 + np.flatnonzero(stats[1:, cv2.CC_STAT_AREA] >= speck):
        box = Box(*(int(v) for v in stats[label, :4]))
        mask = labels[box.slices] == label
        reason = _misfit(mask, scan.dpi, options)
        if reason is None or reason.startswith("wider"):
            patches.append(_Found(box, mask, ()))
        else:
            scraps.append(Scrap(box, int(mask.sum()), reason))
    dust = int((stats[1:, cv2.CC_STAT_AREA] < speck).sum())
    typical = float(np.median([_size(patch.mask)[0] for patch in patches])) if patches else 0.0
    found: list[_Found] = []
    for patch in patches:
        parts = separate(
            _fill_holes(patch.mask, scan.dpi, background, everything=False),
            coverage[patch.box.slices],
            scan.image[patch.box.slices],
            typical_width=typical,
            min_width=_pixels(options.min_width_mm, scan.dpi),
        )
        for part in parts.masks:
            for piece in _pieces(part, patch.box, speck):
                reason = _misfit(piece.mask, scan.dpi, options)
                if reason is not None:
                    scraps.append(Scrap(piece.box, int(piece.mask.sum()), reason))
                    continue
                mask = _fill_holes(piece.mask, scan.dpi, background, everything=True)
                found.append(
                    _Found(piece.box, mask, _part_warnings(mask, len(parts.masks), parts.is_suspect))
                )
    return found, scraps, dust


def _part_warnings(mask: Mask, parts: int, is_suspect: bool) -> tuple[str, ...]:
    warnings = []
    if parts > 1:
        warnings.append("touched another shred and was separated from it: check the outline")
    if is_suspect:
        warnings.append("may be several shreds that touch or overlap: lay them apart and scan again")
    if not _fill(mask).sum() == mask.sum():
        warnings.append("has a hole that shows the background")
    return tuple(warnings)


def _size(mask: Mask) -> tuple[float, float]:
    """Width and length of a patch of paper, however it lies, by its area: ragged edges do not widen it."""
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    contour = max(contours, key=cv2.contourArea)
    length = max(cv2.minAreaRect(contour)[1]) + 1
    return max(float(cv2.contourArea(contour)), 1.0) / length, length


def _misfit(mask: Mask, dpi: float, options: SegmentationOptions) -> str | None:
    """Why a patch of paper is not a shred; None when it may be one."""
    width, length = (v / dpi * 25.4 for v in _size(mask))
    if width > options.max_width_mm:
        return f"wider than a shred ({width:.0f} mm)"
    if width < options.min_width_mm:
        return f"narrower than a shred ({width:.1f} mm)"
    if length < options.min_length_mm:
        return f"shorter than a shred ({length:.1f} mm)"
    return None


def _pieces(part: Mask, box: Box, speck: float) -> list[_Found]:
    _, labels, stats, _ = cv2.connectedComponentsWithStats(part.astype(np.uint8), connectivity=4)
    pieces = []
    for label in 1 + np.flatnonzero(stats[1:, cv2.CC_STAT_AREA] >= speck):
        x, y, width, height = (int(v) for v in stats[label, :4])
        mask = labels[y : y + height, x : x + width] == label
        pieces.append(_Found(Box(box.x + x, box.y + y, width, height), mask, ()))
    return pieces


def _fill(mask: Mask) -> Mask:
    contours, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros(mask.shape, np.uint8)
    cv2.drawContours(filled, contours, -1, 1, cv2.FILLED)
    return filled.astype(bool)


def _fill_holes(mask: Mask, dpi: float, background: Background | None, *, everything: bool) -> Mask:
    """Count what is inside a shred as paper, except for holes as large as a punch makes.

    On a sheet as dark as ink nobody can tell a hole from a black letter: there all are filled, but only
    after touching shreds are separated (`everything`), for the gap between two is a hole as well.
    """
    holes = (_fill(mask) & ~mask).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(holes, connectivity=8)
    limit = _MAX_FILLED_HOLE_MM2 * _pixels(1, dpi) ** 2
    if everything and background is not None and not background.is_colored:
        limit = np.inf
    small = stats[:, cv2.CC_STAT_AREA] <= limit
    small[0] = False
    filled: Mask = mask | small[labels]
    if everything and background is not None and not background.is_colored:
        filled = _fill_dents(filled, dpi)
    return filled


def _fill_dents(mask: Mask, dpi: float) -> Mask:
    """On a sheet as dark as ink, a letter at the edge looks like a dent: fill those too sharp for a tear."""
    reach = round(_pixels(_DENT_MM, dpi)) // 2
    disk = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    padded = np.pad(mask.astype(np.uint8), reach)
    closed = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, disk)
    small = max(2, round(_pixels(0.3, dpi)))
    dents = cv2.morphologyEx(closed & (1 - padded), cv2.MORPH_OPEN, np.ones((small, small), np.uint8))
    filled: Mask = (padded | dents)[reach:-reach, reach:-reach].astype(bool)
    return filled


def _in_reading_order(found: list[_Found]) -> list[_Found]:
    """Rows from top to bottom, each from left to right; a row is what overlaps by half its height."""
    rows: list[list[_Found]] = []
    for one in sorted(found, key=lambda f: f.box.y + f.box.height / 2):
        middle = one.box.y + one.box.height / 2
        first = rows[-1][0].box if rows else None
        if first is not None and first.y <= middle <= first.y + first.height:
            rows[-1].append(one)
        else:
            rows.append([one])
    return [one for row in rows for one in sorted(row, key=lambda f: f.box.x)]


def _cut_out(
    scan: Scan, one: _Found, coverage: NDArray[np.float32], rim: Mask, id_: str, options: SegmentationOptions
) -> tuple[Shred, Cutout]:
    posture = measure_posture(one.mask)
    # A margin, so that interpolation at the outline sees the true background.
    box, mask = _with_margin(one, 3, scan.image.shape)
    upright = straighten(
        scan.image[box.slices],
        mask,
        _soft(mask, coverage[box.slices], options.outline_coverage),
        posture=measure_posture(mask),
        origin=(box.x, box.y),
        limit=options.max_lean,
    )
    if upright.trace.is_exact:
        upright = straighten(
            scan.image[one.box.slices],
            one.mask,
            coverage[one.box.slices],
            posture=posture,
            origin=(one.box.x, one.box.y),
            limit=options.max_lean,
        )
    contours, _ = cv2.findContours(one.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    outline = max(contours, key=cv2.contourArea)[:, 0].astype(np.int32) + np.array(
        [one.box.x, one.box.y], np.int32
    )
    touches = _touches_border(one, rim)
    warnings = one.warnings + (("runs out of the sheet",) if touches else ())
    cutout = Cutout(
        id=id_,
        box=one.box,
        mask=one.mask,
        outline=outline,
        angle=posture.angle,
        area=int(one.mask.sum()),
        touches_border=touches,
        warnings=warnings,
        trace=upright.trace,
    )
    return Shred(id_, upright.image, upright.mask, scan.dpi, scan.source), cutout


def _with_margin(one: _Found, margin: int, shape: tuple[int, ...]) -> tuple[Box, Mask]:
    box = one.box
    left, top = min(margin, box.x), min(margin, box.y)
    right = min(margin, shape[1] - box.x - box.width)
    bottom = min(margin, shape[0] - box.y - box.height)
    wide = Box(box.x - left, box.y - top, box.width + left + right, box.height + top + bottom)
    return wide, np.pad(one.mask, ((top, bottom), (left, right)))


def _soft(mask: Mask, coverage: NDArray[np.float32], level: float) -> NDArray[np.float32]:
    """Coverage of this shred alone, moved so that the outline lies at a half."""
    kernel = np.ones((3, 3), np.uint8)
    inner = cv2.erode(mask.astype(np.uint8), kernel, borderType=cv2.BORDER_REPLICATE).astype(bool)
    outer = cv2.dilate(mask.astype(np.uint8), kernel).astype(bool)
    soft = np.clip(coverage + (0.5 - level), 0, 1)
    # Pixels that were filled, bridged or split off do not follow the coverage.
    soft = np.where(mask, np.maximum(soft, 0.5), np.minimum(soft, 0.5))
    soft[inner] = 1
    soft[~outer] = 0
    return soft.astype(np.float32)


def _touches_border(one: _Found, rim: Mask) -> bool:
    height, width = rim.shape
    box = one.box
    if box.x == 0 or box.y == 0 or box.x + box.width == width or box.y + box.height == height:
        return True
    wide, mask = _with_margin(one, 2, rim.shape)
    grown = cv2.dilate(mask.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
    return bool((grown & rim[wide.slices]).any())


def _sheet_warnings(cutouts: list[Cutout], scraps: list[Scrap], dust: int) -> tuple[str, ...]:
    warnings = []
    if not cutouts:
        warnings.append("no shreds: the sheet is blank")
    if scraps:
        warnings.append(
            f"{len(scraps)} scraps are not taken for shreds: " + "; ".join(s.reason for s in scraps[:5])
        )
    if dust > 200:
        warnings.append(f"{dust} specks of dust")
    return tuple(warnings)
