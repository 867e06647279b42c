"""Shreds in, a simulated flatbed scan of them on a colored sheet out, with the true place of each.

Paper and sheet mix in linear light, as in a scanner; then come uneven lamp, shadow, blur, channels that do
not quite meet, noise and JPEG. Tests, benchmarks and the pictures of the guide are made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Mask, Shred
from deshred.errors import SettingsError

_GAMMA = 2.2


@dataclass(frozen=True)
class LayoutOptions:
    """The sheet, how shreds lie on it, and what the scanner does to it."""

    dpi: float = 300.0
    width_mm: float = 210.0
    height_mm: float = 297.0
    color: tuple[int, int, int] = (250, 180, 88)
    top_mm: float = 8.0  # of the first row; negative: shreds run out of the scan
    gap_mm: float = 2.5
    max_lean: float = 0.0  # degrees
    curl: float = 0.0  # degrees by which the two ends lean differently
    touching_pairs: int = 0
    overlap_mm: float = 0.2  # of a touching pair
    lying: bool = False
    rim_mm: float = 0.0
    rim_color: tuple[int, int, int] = (255, 255, 255)
    gradient: float = 0.0  # share of the light that is lost in the darkest corner
    shadow: float = 0.0  # share of the light that is lost beside a shred
    blur_px: float = 0.6
    misregistration_px: float = 0.0  # between red and blue, across the rows
    noise: float = 0.0  # standard deviation in levels
    jpeg_quality: int | None = None

    def __post_init__(self) -> None:
        if self.dpi < 50 or min(self.width_mm, self.height_mm) < 20:
            raise SettingsError(
                f"a sheet of {self.width_mm} x {self.height_mm} mm at {self.dpi} dpi is too small."
            )
        if not 0 <= self.gradient < 1 or not 0 <= self.shadow < 1:
            raise SettingsError(f"gradient {self.gradient} and shadow {self.shadow} must be in [0, 1).")


@dataclass(frozen=True, eq=False)
class LaidShred:
    """The true place of one shred on the sheet."""

    id: str
    x: int
    y: int
    mask: Mask  # top left corner at (x, y); may reach beyond the scan
    lean: float  # degrees, positive: the lower end lies to the right
    touches: bool  # another shred


@dataclass(frozen=True, eq=False)
class Layout:
    """A simulated scan and the truth about it; `laid` holds only the shreds for which there was room."""

    image: Image
    dpi: float
    laid: tuple[LaidShred, ...]

    def truth(self, index: int) -> Mask:
        """The visible mask of one shred in the frame of the whole scan."""
        height, width = self.image.shape[:2]
        one = self.laid[index]
        full = np.zeros((height, width), bool)
        rows, columns, source = _overlap(one.mask.shape, one.x, one.y, (height, width))
        full[rows, columns] = one.mask[source]
        for later in self.laid[index + 1 :]:  # lies on top
            rows, columns, source = _overlap(later.mask.shape, later.x, later.y, (height, width))
            full[rows, columns] &= ~later.mask[source]
        return full


@dataclass(frozen=True, eq=False)
class _Posed:
    """A shred as it will lie, at the sheet's resolution."""

    id: str
    light: NDArray[np.float32]  # (h, w, 3): linear
    coverage: NDArray[np.float32]  # (h, w)
    lean: float


def lay_out(
    shreds: Sequence[Shred], rng: np.random.Generator, *, options: LayoutOptions | None = None
) -> Layout:
    """Lay shreds side by side, row after row, and scan them."""
    options = options or LayoutOptions()
    height, width = (round(mm / 25.4 * options.dpi) for mm in (options.height_mm, options.width_mm))
    posed = [_pose(shred, rng, options) for shred in shreds]
    joined = _choose_pairs(len(posed), rng, options.touching_pairs)
    places = _place(posed, joined, (height, width), options)
    sheet = np.broadcast_to(_to_light(np.array(options.color, np.float32)), (height, width, 3)).copy()
    sheet *= (
        1
        + 0.02
        * cv2.GaussianBlur(rng.standard_normal((height, width)).astype(np.float32), (0, 0), 1)[..., None]
    )
    laid = []
    for i, (x, y) in enumerate(places):
        one = posed[i]
        rows, columns, source = _overlap(one.coverage.shape, x, y, (height, width))
        _cast_shadow(sheet, one, x, y, options)
        share = one.coverage[source][..., None]
        sheet[rows, columns] = share * one.light[source] + (1 - share) * sheet[rows, columns]
        touches = i in joined or i - 1 in joined
        laid.append(LaidShred(one.id, x, y, one.coverage > 0.5, one.lean, touches))
    return Layout(_scan(sheet, rng, options), options.dpi, tuple(laid))


def _to_light(levels: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray((levels / 255) ** _GAMMA, np.float32)


def _pose(shred: Shred, rng: np.random.Generator, options: LayoutOptions) -> _Posed:
    scale = options.dpi / shred.dpi
    lean = float(rng.uniform(-options.max_lean, options.max_lean))
    shape = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    size = (max(1, round(shred.mask.shape[1] * scale)), max(1, round(shred.mask.shape[0] * scale)))
    light = cv2.resize(_to_light(shred.image.astype(np.float32)), size, interpolation=shape)
    soft = cv2.GaussianBlur(shred.mask.astype(np.float32), (0, 0), 0.5, borderType=cv2.BORDER_CONSTANT)
    coverage = cv2.resize(soft, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    width, height = size
    tilt, bow = np.radians(lean), np.radians(options.curl) / (2 * max(height, 1))
    margin_x = int(np.ceil(abs(np.sin(tilt)) * height / 2 + abs(bow) * height**2 / 4)) + 3
    margin_y = int(np.ceil(abs(np.sin(tilt)) * width / 2)) + 3
    columns, rows = np.meshgrid(
        np.arange(-margin_x, width + margin_x, dtype=np.float32) - (width - 1) / 2,
        np.arange(-margin_y, height + margin_y, dtype=np.float32) - (height - 1) / 2,
    )
    across = columns * np.cos(tilt) - rows * np.sin(tilt)
    along = columns * np.sin(tilt) + rows * np.cos(tilt)
    at_x = (across - bow * along**2 + (width - 1) / 2).astype(np.float32)
    at_y = (along + (height - 1) / 2).astype(np.float32)
    light = cv2.remap(light, at_x, at_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    coverage = cv2.remap(coverage, at_x, at_y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT)
    if options.lying:
        light, coverage = np.rot90(light, -1), np.rot90(coverage, -1)
    return _Posed(shred.id, np.clip(light, 0, 1).astype(np.float32), coverage.astype(np.float32), lean)


def _choose_pairs(count: int, rng: np.random.Generator, pairs: int) -> set[int]:
    """Indices of shreds whose right neighbor touches them; no chains of three."""
    lefts = np.arange(0, count - 1, 2)
    return set(rng.choice(lefts, min(pairs, lefts.size), replace=False).tolist())


def _place(
    posed: list[_Posed], joined: set[int], shape: tuple[int, int], options: LayoutOptions
) -> list[tuple[int, int]]:
    """Top left corners; each shred slides left until its outline is one gap from its neighbor's."""
    height, width = shape
    gap, margin = (
        options.gap_mm / 25.4 * options.dpi,
        max(options.rim_mm, options.gap_mm) / 25.4 * options.dpi,
    )
    overlap = options.overlap_mm / 25.4 * options.dpi
    y, row_height = round(options.top_mm / 25.4 * options.dpi), 0
    skyline = np.full(4 * height, margin - gap)
    places: list[tuple[int, int]] = []
    for i, one in enumerate(posed):
        mask = one.coverage > 0.5
        x = _slide(skyline, mask, y + height, -overlap if i - 1 in joined else gap)
        if x + mask.shape[1] > width - margin and places:
            y, row_height = y + row_height + round(gap), 0
            skyline[:] = margin - gap
            x = _slide(skyline, mask, y + height, gap)
        if y + mask.shape[0] > height and y > options.top_mm / 25.4 * options.dpi:
            break
        rows = np.flatnonzero(mask.any(axis=1))
        right = mask.shape[1] - mask[rows, ::-1].argmax(axis=1)
        at = rows + y + height
        skyline[at] = np.maximum(skyline[at], x + right)
        row_height = max(row_height, mask.shape[0])
        places.append((x, y))
    return places


def _slide(skyline: NDArray[np.float64], mask: Mask, top: int, gap: float) -> int:
    rows = np.flatnonzero(mask.any(axis=1))
    return int(np.ceil((skyline[rows + top] + gap - mask[rows].argmax(axis=1)).max()))


def _overlap(
    shape: tuple[int, ...], x: int, y: int, frame: tuple[int, int]
) -> tuple[slice, slice, tuple[slice, slice]]:
    """The part of the frame that a patch at (x, y) covers, and that part of the patch."""
    top, bottom = max(0, y), max(0, min(frame[0], y + shape[0]))
    left, right = max(0, x), max(0, min(frame[1], x + shape[1]))
    source = slice(top - y, max(top, bottom) - y), slice(left - x, max(left, right) - x)
    return slice(top, max(top, bottom)), slice(left, max(left, right)), source


def _cast_shadow(sheet: NDArray[np.float32], one: _Posed, x: int, y: int, options: LayoutOptions) -> None:
    if not options.shadow:
        return
    reach = max(2, round(0.6 / 25.4 * options.dpi))
    padded = np.pad(one.coverage, 2 * reach)
    dark = cv2.GaussianBlur(padded, (0, 0), reach / 2)
    rows, columns, source = _overlap(padded.shape, x - reach, y - 2 * reach, (sheet.shape[0], sheet.shape[1]))
    sheet[rows, columns] *= 1 - options.shadow * dark[source][..., None]


def _scan(light: NDArray[np.float32], rng: np.random.Generator, options: LayoutOptions) -> Image:
    height, width = light.shape[:2]
    fall = np.linspace(0, 1, height)[:, None] * 0.5 + np.linspace(0, 1, width)[None] * 0.5
    light *= (1 - options.gradient * fall).astype(np.float32)[..., None]
    rim = round(options.rim_mm / 25.4 * options.dpi)
    if rim:
        border = np.ones((height, width), bool)
        border[rim:-rim, rim:-rim] = False
        light[border] = _to_light(np.array(options.rim_color, np.float32))
    blurred = cv2.GaussianBlur(light, (0, 0), options.blur_px) if options.blur_px else light
    levels = 255 * np.clip(blurred, 0, 1) ** np.float32(1 / _GAMMA)
    if options.misregistration_px:
        for channel, sign in ((0, 0.5), (2, -0.5)):
            move = np.array([[1, 0, 0], [0, 1, sign * options.misregistration_px]], np.float32)
            plane = np.ascontiguousarray(levels[..., channel])
            levels[..., channel] = cv2.warpAffine(
                plane, move, (width, height), borderMode=cv2.BORDER_REPLICATE
            )
    if options.noise:
        levels += rng.normal(0, options.noise, levels.shape).astype(np.float32)
    image: Image = np.clip(levels.round(), 0, 255).astype(np.uint8)
    if options.jpeg_quality is not None:
        _, packed = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, options.jpeg_quality])
        image = np.ascontiguousarray(np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)[..., ::-1])
    return image
