"""From the flatbed scan to shreds: a sheet in; cut-out upright shreds, and a record of each, out.

The background is found and unmixed (`backgrounds`), the scanner's rim cut off (`rims`), touching shreds
separated (`contacts`), leaning ones made upright (`straightening`). Masks follow the outline to the pixel,
ink inside is paper, and whatever is not taken for a shred is listed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Mask, Scan, Shred, Source
from deshred.errors import InputError, SettingsError
from deshred.imaging.binarization import to_gray
from deshred.imaging.files import to_text
from deshred.imaging.sheets.backgrounds import Background, find_background, measure_coverage
from deshred.imaging.sheets.contacts import separate
from deshred.imaging.sheets.cutouts import (
    LOST_INK,
    LOST_SIDE,
    ODD_SHAPE,
    Cutout,
    Ground,
    Scrap,
    Segmentation,
    ShredName,
)
from deshred.imaging.sheets.patches import (
    Box,
    Patch,
    bridge_cracks,
    fill_holes,
    fill_ink,
    find_patches,
    has_holes,
    measure_size,
    outer_contour,
    to_pixels,
)
from deshred.imaging.sheets.rims import draw_rims, find_rims
from deshred.imaging.sheets.straightening import measure_posture, straighten
from deshred.options import option

__all__ = [
    "Segmentation",
    "SegmentationOptions",
    "count_shreds",
    "parse_color",
    "refuse_blank",
    "segment",
]

_TOO_WIDE = "wider than a shred"
_MIN_FULLNESS = 0.5  # of the rectangle around a shred, even a curled one
_OUTLINE_MM = 0.3  # how far the blur of an outline reaches
_MAX_BLENDED = 0.1  # of the paper's area: half background, half paper, and not at an outline
_DUST_MM2 = 1.0
_MANY_SPECKS = 200
_LOST_SIDE = 0.2  # of the length of a shred: then it does not only end there
_LOST_INK_MM, _LOST_INK_LEVEL = 1.0, 0.6  # how near to the end of the scan, and how dark beside the paper
MARGIN_PX = 3  # around a cut-out, so that interpolation at the outline sees the true background


@dataclass(frozen=True)
class SegmentationOptions:
    """What counts as a shred."""

    background: tuple[int, int, int] | None = option(
        None,
        "Color under the shreds, such as #ff9933.",
        metavar="COLOR",
        shown="found in the scan",
        parse=lambda text: parse_color(text),
    )
    min_width_mm: float = option(1.5, "Narrowest shred on a sheet, in mm.", flag="--min-width")
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


def count_shreds(scan: Scan, options: SegmentationOptions) -> int:
    """How many patches of what is opaque in a scan have the size of a shred."""
    if scan.mask is None:
        return 0
    patches = find_patches(scan.mask, min_area=_DUST_MM2 * to_pixels(1, scan.dpi) ** 2)
    return sum(_misfit(patch.mask, scan.dpi, options) is None for patch in patches.large)


def segment(
    scan: Scan,
    *,
    name: str | None = None,
    options: SegmentationOptions | None = None,
    allow_blank: bool = False,
) -> Segmentation:
    """Cut out the shreds of one sheet, numbered in reading order and named after `name` or its file."""
    options = options or SegmentationOptions()
    segmentation = _segment(scan, _name_sheet(scan.source) if name is None else name, options)
    if not allow_blank:
        refuse_blank([segmentation], options=options)
    return segmentation


def refuse_blank(
    segmentations: Sequence[Segmentation], *, options: SegmentationOptions | None = None
) -> None:
    """Raise an error when there are sheets but no shred on any of them."""
    if not segmentations or any(segmentation.shreds for segmentation in segmentations):
        return
    options = options or SegmentationOptions()
    sheet = segmentations[0]
    more = f" and {len(segmentations) - 1} more" if len(segmentations) > 1 else ""
    widths = f"{options.min_width_mm:g} to {options.max_width_mm:g} mm wide"
    where = f"{sheet.sheet.path}{more}: found no shreds {widths}"
    large = [scrap.box for scrap in sheet.scraps if scrap.reason.startswith(_TOO_WIDE)]
    if large:
        width = min(large[0].width, large[0].height) / sheet.dpi * 25.4
        raise InputError(
            f"{where}, but an area {width:.0f} mm wide: is this a whole page or a photo? If it shows a "
            f"table around the sheet, crop it to the sheet. The scan has {sheet.dpi:g} dpi; try --dpi if "
            "that is wrong, --background to name the color under the shreds, or, if every file is one "
            "shred, reconstruct --as shreds. See docs/scanning.md."
        )
    raise InputError(
        f"{where} {_describe_ground(sheet.background)}. If there are any, name the color under them with "
        "--background, or lower --min-width; if every file is one shred, use reconstruct --as shreds. "
        "See docs/scanning.md."
    )


def _describe_ground(background: Ground | None) -> str:
    if background is None:
        return "in what is not transparent"
    return f"on the color #{bytes(background.color).hex()}, which {background.share:.0%} of the sheet has"


@dataclass(frozen=True, eq=False)
class _Found:
    """One shred before it is numbered and made upright."""

    patch: Patch
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class _Yield:
    """What the patches of a sheet turned out to be."""

    found: list[_Found]
    scraps: list[Scrap]


def _segment(scan: Scan, name: str, options: SegmentationOptions) -> Segmentation:
    background, coverage = _unmix(scan, options)
    paper = coverage > options.outline_coverage
    rims = find_rims(paper, dpi=scan.dpi) if background is not None else ()
    rim = draw_rims(rims, paper.shape)
    paper &= ~rim
    if background is not None:
        paper = bridge_cracks(paper, dpi=scan.dpi, dark_sheet=background.is_dark_as_ink)
    speck = _DUST_MM2 * to_pixels(1, scan.dpi) ** 2
    patches = find_patches(paper, min_area=speck)
    sorted_out = _sort_out(scan, patches.large, coverage, background, options)
    cuts = [
        _cut_out(scan, one, coverage, rim, ShredName(name, number), options)
        for number, one in enumerate(_in_reading_order(sorted_out.found), 1)
    ]
    cutouts = tuple(cutout for _, cutout in cuts)
    if background is not None and options.background is None:
        _refuse_pictures(scan, coverage > options.outline_coverage, coverage, cutouts)
    return Segmentation(
        sheet=scan.source,
        dpi=scan.dpi,
        size=(paper.shape[1], paper.shape[0]),
        shreds=tuple(shred for shred, _ in cuts),
        cutouts=cutouts,
        scraps=tuple(sorted_out.scraps),
        dust=patches.specks,
        rims=rims,
        background=None if background is None else Ground(background.color, background.share),
        warnings=_sheet_warnings(cutouts, sorted_out.scraps, patches.specks),
    )


def _refuse_pictures(
    scan: Scan, paper: Mask, coverage: NDArray[np.float32], cutouts: Sequence[Cutout]
) -> None:
    """A sheet is background or paper, and mixes only at outlines; a photo has all tones between, anywhere."""
    step = 2
    small = np.ascontiguousarray(paper[::step, ::step]).view(np.uint8)
    reach = max(2, round(to_pixels(_OUTLINE_MM, scan.dpi) / step))  # and some pixels at any resolution
    kernel = np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)
    settled = cv2.dilate(small, kernel) == cv2.erode(small, kernel)
    blended = (np.abs(coverage[::step, ::step] - 0.5) < 0.3) & settled
    odd = sum(cutout.area for cutout in cutouts if ODD_SHAPE in cutout.warnings)
    is_blended = blended.sum() > _MAX_BLENDED * max(int(small.sum()), 1)
    if is_blended or odd > 0.5 * sum(cutout.area for cutout in cutouts) > 0:
        raise InputError(
            f"{scan.source.path}: what lies on the background does not look like shreds; is this a photo? "
            "If it shows a table around the sheet, crop it to the sheet. If it is a sheet, name the color "
            "under the shreds with --background; see docs/scanning.md."
        )


def _name_sheet(source: Source) -> str:
    name = to_text(source.path.stem)
    return name if source.frame == 0 else f"{name}-{source.frame + 1}"


def _unmix(scan: Scan, options: SegmentationOptions) -> tuple[Background | None, NDArray[np.float32]]:
    if scan.mask is not None and not scan.mask.all():
        return None, scan.mask.astype(np.float32)
    background = find_background(scan, color=options.background)
    return background, measure_coverage(scan.image, background)


def _sort_out(
    scan: Scan,
    patches: Sequence[Patch],
    coverage: NDArray[np.float32],
    background: Background | None,
    options: SegmentationOptions,
) -> _Yield:
    """Patches into shreds, touching ones separated, and scraps with the reason why they are none."""
    reasons = [_misfit(patch.mask, scan.dpi, options) for patch in patches]
    is_crowded = any(reason is None for reason in reasons)  # then a wide patch may be shreds that touch
    likely: list[Patch] = []
    hopeless: list[Scrap] = []
    for patch, reason in zip(patches, reasons, strict=True):
        if reason is None or (is_crowded and reason.startswith(_TOO_WIDE)):
            likely.append(patch)
        else:
            hopeless.append(Scrap(patch.box, int(patch.mask.sum()), reason))

    def take_all_apart(typical_width: float) -> _Yield:
        yields = [_take_apart(scan, patch, coverage, background, typical_width, options) for patch in likely]
        return _Yield([f for one in yields for f in one.found], [s for one in yields for s in one.scraps])

    typical_width = _typical_width(likely)
    result = take_all_apart(typical_width)
    refined = _typical_width([one.patch for one in result.found])
    if refined < 0.8 * typical_width:
        # Most patches were several shreds: only now it shows that the others are as well.
        result = take_all_apart(refined)
    scraps = [
        scrap
        for scrap in hopeless + result.scraps
        if not any(_covers(one.patch, scrap.box) for one in result.found)
    ]
    return _Yield(result.found, scraps)


def _typical_width(patches: Sequence[Patch]) -> float:
    """The width of a single shred in pixels: that of the narrower ones, as some patches may be several."""
    widths = [measure_size(patch.mask).width for patch in patches]
    return float(np.percentile(widths, 25)) if widths else 0.0


def _take_apart(
    scan: Scan,
    patch: Patch,
    coverage: NDArray[np.float32],
    background: Background | None,
    typical_width: float,
    options: SegmentationOptions,
) -> _Yield:
    parts = separate(
        fill_holes(patch.mask, dpi=scan.dpi),
        coverage[patch.box.slices],
        scan.image[patch.box.slices],
        typical_width=typical_width,
        min_width=to_pixels(options.min_width_mm, scan.dpi),
    )
    found, scraps = [], []
    speck = _DUST_MM2 * to_pixels(1, scan.dpi) ** 2
    for part in parts.masks:
        for piece in find_patches(part, min_area=speck, origin=(patch.box.x, patch.box.y)).large:
            reason = _misfit(piece.mask, scan.dpi, options)
            if reason is not None:
                scraps.append(Scrap(piece.box, int(piece.mask.sum()), reason))
                continue
            mask = piece.mask
            if background is not None and not background.is_colored:
                mask = fill_ink(mask, dpi=scan.dpi)
            warnings = _part_warnings(mask, len(parts.masks), parts.is_suspect)
            found.append(_Found(Patch(piece.box, mask), warnings))
    return _Yield(found, scraps)


def _part_warnings(mask: Mask, parts: int, is_suspect: bool) -> tuple[str, ...]:
    warnings = []
    if parts > 1:
        warnings.append("touched another shred and was separated from it: check the outline")
    if is_suspect:
        warnings.append("may be several shreds that touch or overlap: lay them apart and scan again")
    if has_holes(mask):
        warnings.append("has a hole that shows the background")
    if measure_size(mask).fullness < _MIN_FULLNESS:
        warnings.append(ODD_SHAPE)
    return tuple(warnings)


def _misfit(mask: Mask, dpi: float, options: SegmentationOptions) -> str | None:
    """Why a patch of paper is not a shred; None when it may be one."""
    size = measure_size(mask)
    width, length = (pixels / dpi * 25.4 for pixels in (size.width, size.length))
    if width > options.max_width_mm:
        return f"{_TOO_WIDE} ({width:.0f} mm)"
    if width < options.min_width_mm:
        return f"narrower than a shred ({width:.1f} mm)"
    if length < options.min_length_mm:
        return f"shorter than a shred ({length:.1f} mm)"
    return None


def _covers(patch: Patch, box: Box) -> bool:
    """Whether most of a box is inside this paper: then it is the paper between the strokes of a letter."""
    rows = slice(max(0, box.y - patch.box.y), max(0, box.y + box.height - patch.box.y))
    columns = slice(max(0, box.x - patch.box.x), max(0, box.x + box.width - patch.box.x))
    return bool(patch.mask[rows, columns].sum() > 0.5 * box.width * box.height)


def _in_reading_order(found: list[_Found]) -> list[_Found]:
    """Rows from top to bottom, each from left to right; a row is all whose middle lies beside its first."""
    rows: list[list[_Found]] = []
    for one in sorted(found, key=lambda found: found.patch.box.middle_y):
        first = rows[-1][0].patch.box if rows else None
        if first is not None and first.y <= one.patch.box.middle_y <= first.y + first.height:
            rows[-1].append(one)
        else:
            rows.append([one])
    return [one for row in rows for one in sorted(row, key=lambda found: found.patch.box.x)]


def _cut_out(
    scan: Scan,
    one: _Found,
    coverage: NDArray[np.float32],
    rim: Mask,
    name: ShredName,
    options: SegmentationOptions,
) -> tuple[Shred, Cutout]:
    box = one.patch.box
    wide = one.patch.with_margin(MARGIN_PX, scan.image.shape)
    posture = measure_posture(wide.mask)
    upright = straighten(
        scan.image[wide.box.slices],
        wide.mask,
        _soften(wide.mask, coverage[wide.box.slices], options.outline_coverage),
        posture=posture,
        origin=(wide.box.x, wide.box.y),
        limit=options.max_lean,
    )
    contact = _find_contact(one.patch, rim)
    cutout = Cutout(
        name=name,
        box=box,
        mask=one.patch.mask,
        outline=outer_contour(one.patch.mask) + np.array([box.x, box.y], np.int32),
        angle=posture.angle,
        area=int(one.patch.mask.sum()),
        touches_border=bool(contact.any()),
        warnings=one.warnings + _describe_loss(scan, one.patch, contact),
        trace=upright.trace,
        frame=upright.frame,
    )
    source = replace(scan.source, number=name.number)
    return Shred(str(name), upright.image, upright.mask, scan.dpi, source), cutout


def _soften(mask: Mask, coverage: NDArray[np.float32], level: float) -> NDArray[np.float32]:
    """Coverage of this shred alone, moved so that the outline lies at a half."""
    kernel = np.ones((3, 3), np.uint8)
    inner = cv2.erode(mask.view(np.uint8), kernel, borderType=cv2.BORDER_REPLICATE).astype(bool)
    outer = cv2.dilate(mask.view(np.uint8), kernel).astype(bool)
    soft = np.clip(coverage + np.float32(0.5 - level), 0, 1)
    # Pixels that were filled, bridged or split off do not follow the coverage.
    soft = np.where(mask, np.maximum(soft, 0.5), np.minimum(soft, 0.5))
    soft[inner] = 1
    soft[~outer] = 0
    return np.asarray(soft, np.float32)


def _find_contact(patch: Patch, rim: Mask) -> Mask:  # as patch.mask
    """The pixels of a patch at which the scan ends, or its rim begins."""
    height, width = rim.shape
    box = patch.box
    wide = patch.with_margin(2, rim.shape).box
    near = cv2.dilate(rim[wide.slices].view(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
    top, left = box.y - wide.y, box.x - wide.x
    beyond = near[top : top + box.height, left : left + box.width]
    beyond[0] |= box.y == 0
    beyond[-1] |= box.y + box.height == height
    beyond[:, 0] |= box.x == 0
    beyond[:, -1] |= box.x + box.width == width
    return np.asarray(patch.mask & beyond)


def _describe_loss(scan: Scan, patch: Patch, contact: Mask) -> tuple[str, ...]:
    """What a shred has lost beyond the scan; most only end there, in a blank margin, and lose nothing."""
    if scan.mask is not None or not contact.any():  # what is cut out already goes as far as its picture
        return ()
    along = max(int(contact.any(axis=0).sum()), int(contact.any(axis=1).sum()))
    if along > _LOST_SIDE * max(patch.mask.shape):
        return (LOST_SIDE,)
    reach = 2 * round(to_pixels(_LOST_INK_MM, scan.dpi)) + 1
    near = cv2.dilate(contact.view(np.uint8), np.ones((reach, reach), np.uint8)).astype(bool) & patch.mask
    gray = to_gray(scan.image[patch.box.slices])
    ink = near & (gray < _LOST_INK_LEVEL * float(np.median(gray[patch.mask])))
    return (LOST_INK,) if ink.sum() > to_pixels(_LOST_INK_MM, scan.dpi) ** 2 / 4 else ()


def _sheet_warnings(cutouts: Sequence[Cutout], scraps: Sequence[Scrap], dust: int) -> tuple[str, ...]:
    warnings = []
    if not cutouts:
        warnings.append("no shreds: the sheet is blank")
    lying = sum(abs(float(np.median(cutout.trace.angles))) > 45 for cutout in cutouts)
    if lying > len(cutouts) / 2:
        warnings.append(
            f"{lying} shreds lie on their side and were turned, right end up: if pages come out upside down, "
            "turn the scan by half"
        )
    if scraps:
        reasons = ", ".join(scrap.reason for scrap in scraps[:3]) + (", ..." if len(scraps) > 3 else "")
        warnings.append(f"{len(scraps)} scraps are not taken for shreds: {reasons}")
    if dust > _MANY_SPECKS:
        warnings.append(f"{dust} specks of dust: clean the glass")
    return tuple(warnings)
