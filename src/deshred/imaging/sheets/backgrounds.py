"""The colored sheet under the shreds: a scan in, its background and the share of paper in every pixel out.

A pixel on an outline mixes paper and background, and mixing is linear: projected on the direction from
background to paper, its place between the two says how much of it is paper. For a colored background that
direction lies in the plane of equal brightness, where black ink and white paper are the same point: so ink
at a torn edge counts as paper, and a shadow on the background does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Scan
from deshred.errors import InputError

Field = NDArray[np.float32]

_THUMBNAIL_DPI = 50.0
_MIN_CHROMA = 14.0  # CIELAB units; paper yellowed by age stays below
_MAX_DARK_LIGHTNESS = 55.0  # CIELAB units; a lighter grey lies between ink and paper
_MIN_DARK_FRAME = 0.1  # of the sheet's outer belt
_MIN_SHARE = 0.03  # of the sheet that has to be background
_MOST_COLORS = 3
_MIN_CONTRAST = 24.0  # levels of 255 between background and paper
_MAX_NOISE = 0.3  # of the contrast
_ASIDE = 0.45  # of the contrast: off the line from paper to background, so it is ink of another hue
_COLORED_SPREAD = 60  # levels between the channels of colored print
_MAX_SHADOW = 0.4  # of the light: a flatbed scanner casts no deeper one
_GRADIENT_MM = 12.0  # lamp, lid and book-fold shadows are wider than this
_INK_LEVEL = 50  # of 255; print is seldom darker than a sheet below this
_NEUTRAL = np.full(3, 3**-0.5)
_REMEDY = (
    "Scan in color on a sheet of saturated color (orange, green, blue), name the color with --background, "
    "or, if every file is one shred, use reconstruct --as shreds; see docs/scanning.md."
)


@dataclass(frozen=True, eq=False)
class Background:
    """The color under the shreds, and how it changes over the sheet."""

    color: tuple[int, int, int]  # RGB
    is_colored: bool  # False: black or grey, told from paper by brightness alone
    share: float  # of the sheet's pixels
    noise: float  # standard deviation of the share of paper measured on bare background
    direction: NDArray[np.float32]  # (3,): unit vector in RGB along which paper and background differ
    level: Field  # thumbnail: the background along `direction`
    brightness: Field  # thumbnail: the background's mean of R, G, B
    paper: float  # blank paper along `direction`

    @property
    def is_dark_as_ink(self) -> bool:
        return not self.is_colored and max(self.color) <= _INK_LEVEL

    def __repr__(self) -> str:
        return f"Background(#{bytes(self.color).hex()}, {self.share:.0%} of the sheet)"


def find_background(scan: Scan, *, color: tuple[int, int, int] | None = None) -> Background:
    """Find the color on which the shreds lie, unless it is given, and its gradient over the sheet."""
    thumbnail = _shrink(scan)
    lab = np.asarray(cv2.cvtColor(thumbnail, cv2.COLOR_RGB2LAB), np.float32)
    mode = _dominant_color(scan, lab) if color is None else to_lab(color)
    is_colored = bool(np.hypot(mode[1], mode[2]) >= _MIN_CHROMA)
    bare = alike(lab, mode)
    if color is not None and bare.mean() < _MIN_SHARE:
        raise InputError(
            f"{scan.source.path}: only {bare.mean():.1%} of the sheet has the background color "
            f"#{bytes(color).hex()}. Pick the color from the scan itself, or leave out --background."
        )
    bare = _without_outlines(bare)
    rgb = np.median(thumbnail[bare], axis=0) * 255
    direction = rgb - rgb.mean() if is_colored else _NEUTRAL
    direction = (direction / np.linalg.norm(direction)).astype(np.float32)
    along = (thumbnail * 255) @ direction
    paper = _paper_level(lab, along, mode)
    radius = _GRADIENT_MM / 25.4 * _THUMBNAIL_DPI
    level = _smooth_where(along, bare, radius)
    contrast = float(abs(np.median(along[bare]) - paper))
    noise = _noise(scan, direction, bare, level) / max(contrast, 1e-6)
    if contrast < _MIN_CONTRAST or noise > _MAX_NOISE:
        raise InputError(
            f"{scan.source.path}: the background #{bytes(rgb.astype(np.uint8)).hex()} is too much like the "
            f"paper ({contrast:.0f} of 255 levels apart). {_REMEDY}"
        )
    return Background(
        color=tuple(int(c) for c in rgb.round()),  # type: ignore[arg-type]
        is_colored=is_colored,
        share=float(alike(lab, mode).mean()),
        noise=noise,
        direction=direction,
        level=level,
        brightness=_smooth_where(thumbnail.mean(axis=2) * 255, bare, radius),
        paper=paper,
    )


def measure_coverage(image: Image, background: Background) -> Field:
    """The share of paper in every pixel: 0 on background, 1 on paper and on ink, about 0.5 on the outline."""
    height, width = image.shape[:2]
    level = cv2.resize(background.level, (width, height), interpolation=cv2.INTER_LINEAR)
    along = _project(image, background.direction)
    coverage: Field = np.subtract(level, along, out=along)
    coverage /= np.subtract(level, background.paper, out=level)
    if background.is_colored:
        # Ink of the same hue family (a red stamp on orange) lies far along, but off to the side.
        side = np.cross(background.direction, _NEUTRAL).astype(np.float32)
        span = float(np.median(background.level)) - background.paper
        tone = float(np.asarray(background.color, np.float32) @ side)
        aside = np.abs(_project(image, side) - tone)
        cv2.max(coverage, (aside / abs(span) - _ASIDE) * 2 + 0.5, dst=coverage)
    else:
        _count_ink_as_paper(coverage, image, background)
    if background.noise > 0.1:
        sigma = min(1.5, 0.5 + 4 * (background.noise - 0.1))
        return np.asarray(cv2.GaussianBlur(coverage, (0, 0), sigma), np.float32)
    return coverage


def _count_ink_as_paper(coverage: Field, image: Image, background: Background) -> None:
    height, width = image.shape[:2]
    brightness = cv2.resize(background.brightness, (width, height), interpolation=cv2.INTER_LINEAR)
    grey = cv2.transform(image, np.full((1, 3), 1 / 3, np.float32))
    if not background.is_dark_as_ink:
        coverage[grey < (1 - _MAX_SHADOW) * brightness] = 1.0  # ink on a sheet of dark grey
    spread = image.max(axis=2).astype(np.int16) - image.min(axis=2)
    own_spread = max(background.color) - min(background.color)
    coverage[spread > own_spread + _COLORED_SPREAD] = 1.0


def _shrink(scan: Scan) -> Field:
    scale = min(1.0, _THUMBNAIL_DPI / scan.dpi)
    height, width = scan.image.shape[:2]
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(scan.image, size, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.float32) / np.float32(255)


def to_lab(color: tuple[int, int, int]) -> Field:
    """A color in CIELAB. (3,)"""
    lab: Field = cv2.cvtColor(np.array([[color]], np.float32) / 255, cv2.COLOR_RGB2LAB)[0, 0]
    return lab


def _dominant_color(scan: Scan, lab: Field) -> Field:
    """The most frequent color that cannot be blank paper; what frames the sheet counts double."""
    candidates = [mode for mode in (_colored_mode(lab), _dark_mode(lab)) if mode is not None]
    likeness = [alike(lab, mode) for mode in candidates]
    votes = [float(alike.mean()) + float(_frame(alike).mean()) for alike in likeness]
    if not candidates or likeness[int(np.argmax(votes))].mean() < _MIN_SHARE:
        _refuse_one_color(scan)
        raise InputError(
            f"{scan.source.path}: found no colored or dark background under the shreds. {_REMEDY}"
        )
    return candidates[int(np.argmax(votes))]


def _refuse_one_color(scan: Scan) -> None:
    """A page of a PDF whose image is damaged is drawn as blank."""
    color = scan.image[0, 0]
    if (scan.image.min(axis=(0, 1)) == scan.image.max(axis=(0, 1))).all():
        raise InputError(
            f"{scan.source.path}: nothing but the color #{bytes(color).hex()} "
            f"(page {scan.source.frame + 1}). It is blank, or its image is damaged: look at it, then leave "
            "it out or scan it again; see docs/scanning.md."
        )


def _colored_mode(lab: Field) -> Field | None:
    colored = np.hypot(lab[..., 1], lab[..., 2]) >= _MIN_CHROMA
    if not colored.any():
        return None
    tones = lab[colored]
    counts, _, _ = np.histogram2d(tones[:, 1], tones[:, 2], bins=64, range=((-128, 128), (-128, 128)))
    smooth = cv2.GaussianBlur(counts.astype(np.float32), (0, 0), 1.5)
    a, b = np.unravel_index(int(smooth.argmax()), smooth.shape)
    peak = np.array([a * 4 - 126, b * 4 - 126], np.float32)
    near = np.linalg.norm(tones[:, 1:] - peak, axis=1) < 12
    mode: Field = np.median(tones[near], axis=0)
    return mode


def _dark_mode(lab: Field) -> Field | None:
    dark = (np.hypot(lab[..., 1], lab[..., 2]) < _MIN_CHROMA) & (lab[..., 0] < _MAX_DARK_LIGHTNESS)
    # Shrunken ink is dark here and there; a background is dark all around.
    dark = cv2.erode(dark.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
    if not dark.any():
        return None
    histogram, _ = np.histogram(lab[dark][:, 0], bins=28, range=(0, 56))
    peak = 2.0 * int(np.convolve(histogram, np.ones(3), "same").argmax()) + 1
    mode: Field = np.median(lab[dark & (np.abs(lab[..., 0] - peak) < 6)], axis=0)
    # Bold print is dark in places as well, but a page of it has white margins.
    return mode if _frame(alike(lab, mode)).mean() >= _MIN_DARK_FRAME else None


def find_colors(lab: Field) -> list[Field]:
    """The colors that much of a picture has, the most frequent first; grey is none."""
    colors: list[Field] = []
    left = lab.copy()
    while len(colors) < _MOST_COLORS and (mode := _colored_mode(left)) is not None:
        region = alike(left, mode)
        if region.mean() < _MIN_SHARE:
            break
        colors.append(mode)
        left[region] = 0
    return colors


def alike(lab: Field, mode: Field) -> NDArray[np.bool_]:
    """Pixels of this color in light or shadow."""
    chroma = float(np.hypot(mode[1], mode[2]))
    if chroma < _MIN_CHROMA:
        near = np.abs(lab[..., 0] - mode[0]) < 14
        return np.asarray(near & (np.hypot(lab[..., 1], lab[..., 2]) < _MIN_CHROMA))
    along = (lab[..., 1] * mode[1] + lab[..., 2] * mode[2]) / chroma
    aside = np.abs(lab[..., 1] * mode[2] - lab[..., 2] * mode[1]) / chroma
    return np.asarray((along > 0.6 * chroma) & (along < 1.6 * chroma) & (aside < 0.45 * along))


def _frame(alike: NDArray[np.bool_]) -> NDArray[np.bool_]:
    height, width = alike.shape
    inset, belt = max(1, min(height, width) // 50), max(2, min(height, width) // 16)
    inner = alike[inset : height - inset, inset : width - inset]
    ring = np.ones(inner.shape, bool)
    ring[belt:-belt, belt:-belt] = False
    frame: NDArray[np.bool_] = inner[ring]
    return frame if frame.size else alike


def _without_outlines(bare: NDArray[np.bool_]) -> NDArray[np.bool_]:
    eroded = cv2.erode(bare.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
    return eroded if eroded.sum() > 50 else bare


def _paper_level(lab: Field, along: Field, mode: Field) -> float:
    """Blank paper: the lightest large part of what is not background; white when there is no such part."""
    other = ~alike(lab, mode) & (lab[..., 0] > max(60.0, mode[0] * 0.9))
    white = 0.0 if np.hypot(mode[1], mode[2]) >= _MIN_CHROMA else 255 * 3**0.5
    if other.mean() < 0.01:
        return white
    bright = other & (lab[..., 0] >= np.percentile(lab[..., 0][other], 50))
    return float(np.median(along[bright]))


def _smooth_where(values: Field, where: NDArray[np.bool_], sigma: float) -> Field:
    weight = cv2.GaussianBlur(where.astype(np.float32), (0, 0), sigma)
    total = cv2.GaussianBlur(np.where(where, values, 0).astype(np.float32), (0, 0), sigma)
    overall = float(np.median(values[where]))
    # A little of the overall level keeps places far from any background from dividing by nothing.
    smooth: Field = ((total + 1e-3 * overall) / (weight + 1e-3)).astype(np.float32)
    return smooth


def _noise(scan: Scan, direction: NDArray[np.float32], bare: NDArray[np.bool_], level: Field) -> float:
    """Robust standard deviation of single pixels around the smooth background."""
    rows, columns = np.nonzero(bare)
    picks = np.linspace(0, rows.size - 1, min(rows.size, 20_000)).astype(int)
    rows, columns = rows[picks], columns[picks]
    height, width = scan.image.shape[:2]
    pixels = scan.image[rows * height // bare.shape[0], columns * width // bare.shape[1]]
    return float(np.median(np.abs(pixels @ direction - level[rows, columns]))) * 1.4826


def _project(image: Image, direction: NDArray[np.float32]) -> Field:
    total: Field = np.multiply(image[..., 0], direction[0], dtype=np.float32)
    for channel in (1, 2):
        total += np.multiply(image[..., channel], direction[channel], dtype=np.float32)
    return total
