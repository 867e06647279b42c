"""An intact page in, simulated shreds with known truth out: the one damage model of deshred.

`shred_page` cuts a whole page for `deshred shred` and the demo; `sample_joins` draws windows of many
cuts for training. Both lose paper and ink, shift and bend by the same functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image, Mask, Shred, Source
from deshred.errors import InputError, SettingsError
from deshred.options import option

Ink = NDArray[np.uint8]
Curve = NDArray[np.float32]
Places = NDArray[np.float64]  # where a page may be cut, as parts of its width

_NARROWEST = 16  # px of a shred at 300 dpi: less is all tear
_STRETCH = 0.15  # how far print in training is wider or narrower than its face, as a logarithm
_DPI = 300.0


@dataclass(frozen=True)
class Damage:
    """What a shredder, glue and a scanner do to a cut; all lengths in px at 300 dpi."""

    lost: int = 4  # paper lost between two shreds, at most
    ink_loss: float = 3.0  # depth of the band along the tear where ink is gone, typical
    ragged: float = 1.5  # amplitude of the tear around its straight line, at most
    fray: float = 1.5  # how far fibers make each side of a tear differ from the other, at most
    shift: int = 20  # a shred lies higher or lower than its neighbor, at most
    drift: float = 2.0  # further vertical drift over 256 rows, from tilt, at most
    specks: float = 0.01  # share of flipped pixels, at most


@dataclass(frozen=True)
class ShreddingOptions:
    """How a page is shredded."""

    shreds: int = option(25, "Shreds per page.")
    shift: int = option(10, "Largest vertical misalignment, in px.")
    tilt_degrees: float = option(0.2, "Largest tilt, in degrees.", flag="--tilt")
    damage: Damage = Damage()

    def __post_init__(self) -> None:
        if not 2 <= self.shreds <= 99:
            raise SettingsError(f"shreds must be from 2 to 99, got {self.shreds}.")
        if self.shift < 0 or not 0 <= self.tilt_degrees <= 10:
            raise SettingsError(
                f"shreds shift by 0 px or more and tilt by 0 to 10 degrees, got {self.shift} "
                f"and {self.tilt_degrees:g}."
            )


@dataclass(frozen=True, eq=False)
class SimulatedShred:
    """One simulated shred: what a scanner would see, the paper's mask, and its true vertical shift."""

    image: Image
    mask: Mask
    shift: int

    def to_shred(self, shred_id: str) -> Shred:
        """The shred as it would be loaded from a file of a scanner."""
        return Shred(shred_id, self.image, self.mask, _DPI, Source(Path("simulated"), ""))


@dataclass(frozen=True, eq=False)
class TwoSidedShred:
    """One simulated shred, scanned from both sides."""

    front: SimulatedShred
    back: SimulatedShred


@dataclass(frozen=True, eq=False)
class JoinWindows:
    """Windows of true joins: row i of both arrays belong together; column 0 is the tear on both sides."""

    rights: Ink  # (n, rows, width): right-hand edges of the shreds that stand left, mirrored
    lefts: Ink  # (n, rows, width): left-hand edges of the shreds that stand right


def smooth_noise(rng: np.random.Generator, count: int, rows: int, scale: float) -> Curve:
    """Curves of unit variance at their knots, smooth over `scale` rows. (count, rows)"""
    knots = max(4, int(np.ceil(rows / scale)) + 3)
    values = rng.standard_normal((count, knots)).astype(np.float32)
    at = np.linspace(0, knots - 1.001, rows)
    below = at.astype(int)
    part = (at - below).astype(np.float32)
    part = part * part * (3 - 2 * part)
    curves: Curve = values[:, below] * (1 - part) + values[:, below + 1] * part
    return curves


def draw_tears(rng: np.random.Generator, count: int, rows: int, amplitude: float) -> Curve:
    """Ragged lines around x = 0 that both sides of a cut share: slow wander, quick teeth. (count, rows)"""
    wander = smooth_noise(rng, count, rows, rng.uniform(60, 200))
    teeth = smooth_noise(rng, count, rows, rng.uniform(8, 30))
    grain = rng.standard_normal((count, rows)).astype(np.float32)
    tears: Curve = amplitude * (wander + 0.7 * teeth + 0.2 * grain)
    return tears


def draw_fray(rng: np.random.Generator, count: int, rows: int, most: float) -> Curve:
    """How much paper each row of one side lacks of the shared tear: fibers, a few rows long. (count, rows)"""
    depth = rng.uniform(min(0.2, most), most, (count, 1))
    fibers = smooth_noise(rng, count, rows, rng.uniform(3, 12))
    grain = rng.standard_normal((count, rows)).astype(np.float32)
    fray: Curve = np.abs(0.8 * fibers + 0.5 * grain) * depth.astype(np.float32)
    return fray


def draw_ink_loss(rng: np.random.Generator, count: int, rows: int, depth: float) -> Curve:
    """How deep from the tear ink is gone, per row; negative where all of it survived. (count, rows)"""
    base = rng.uniform(-depth, depth, (count, 1))
    amplitude = rng.uniform(0, depth, (count, 1))
    band = base + amplitude * smooth_noise(rng, count, rows, rng.uniform(6, 40))
    return (band + min(depth, 1.0) * rng.uniform(0, 1, (count, rows))).astype(np.float32)


def sample_joins(
    ink: Ink,
    rng: np.random.Generator,
    *,
    cuts: int,
    rows: int,
    width: int,
    damage: Damage | None = None,
    places: Places | None = None,
) -> JoinWindows:
    """Cut one band of a page at many places; all windows share their rows, so text lines are alike.

    Cuts are spread evenly unless there are `places`, of which some are taken.
    """
    damage = damage or Damage()
    ink = _vary_strokes(ink, rng)
    ink = _vary_size(ink, rng, rows + 2 * damage.shift + 8, 2 * width + 16)
    margin = damage.shift + 4
    lacking = rows + 2 * margin + 1 - len(ink)
    if lacking > 0:  # a short page ends in blank paper
        ink = np.pad(ink, ((0, lacking), (0, 0)))
    height, page_width = ink.shape
    for _ in range(6):
        top = int(rng.integers(margin, height - rows - margin))
        if ink[top : top + rows].mean() > 0.01:
            break
    if places is None:
        step = (page_width - 2 * width - 8) / cuts
        x = width + 4 + step * (np.arange(cuts) + rng.random())
    else:
        cuts = min(cuts, len(places))
        x = page_width * rng.choice(places, cuts, replace=False)
    x = np.clip(x, width + 4, page_width - width - 6)
    lost = rng.integers(0, damage.lost + 1, cuts)
    # most shreds lie nearly level with their neighbor, a few far off
    shift = np.clip(rng.normal(0, damage.shift / 2.5, cuts), -damage.shift, damage.shift)
    y = np.arange(rows)
    drift = rng.uniform(-damage.drift, damage.drift, (cuts, 1)) * (y / 256 - rows / 512)

    at_right = x.astype(int) - lost // 2 - 1
    at_left = at_right + 1 + lost
    rights = _window(ink, np.broadcast_to(top + y, (cuts, rows)), at_right, -1, width, rng, damage)
    lefts = _window(ink, np.rint(top + y + shift[:, None] + drift), at_left, 1, width, rng, damage)
    return JoinWindows(rights, lefts)


def _vary_strokes(ink: Ink, rng: np.random.Generator) -> Ink:
    """Sometimes thicker or thinner strokes, as other printers and thresholds give."""
    kernel = np.ones((2, 2), np.uint8)
    match int(rng.integers(0, 7)):
        case 0:
            return cv2.dilate(ink, kernel).astype(np.uint8)
        case 1:
            return cv2.erode(ink, kernel).astype(np.uint8)
    return ink


def _vary_size(ink: Ink, rng: np.random.Generator, min_rows: int, min_columns: int) -> Ink:
    """Sometimes larger, smaller, wider or narrower print, cut out before it is resized to keep this cheap."""
    if rng.random() < 0.5:
        return ink
    scale = float(np.exp(rng.uniform(np.log(0.65), np.log(2.2))))  # footnotes to titles
    wide = scale * float(np.exp(rng.uniform(-_STRETCH, _STRETCH)))
    rows = min(ink.shape[0], int(np.ceil((min_rows + 40) / scale)))
    top = int(rng.integers(0, ink.shape[0] - rows + 1))
    band = cv2.resize(ink[top : top + rows] * 255, None, fx=wide, fy=scale, interpolation=cv2.INTER_LINEAR)
    if band.shape[0] < min_rows or band.shape[1] < min_columns:
        return ink
    return (band > 127).view(np.uint8)


def _window(
    ink: Ink,
    y: NDArray[np.floating | np.integer],
    x: NDArray[np.int64],
    inwards: int,
    width: int,
    rng: np.random.Generator,
    damage: Damage,
) -> Ink:
    """One side of many cuts with its damage; columns run inwards from the tear."""
    count, rows = y.shape
    # rectification follows the outline, not the cut: rows are displaced a little against each other
    jitter = (
        damage.ragged * rng.uniform(0, 1, (count, 1)) * smooth_noise(rng, count, rows, rng.uniform(8, 60))
    )
    columns = np.arange(width)
    at = x[:, None] + np.rint(jitter).astype(int)
    window = look_inwards(ink, np.clip(y.astype(int), 0, ink.shape[0] - 1), at, inwards, width)
    lost = draw_ink_loss(rng, count, rows, damage.ink_loss)
    near = slice(int(np.count_nonzero(columns < lost.max())))
    window[:, :, near] *= columns[near] >= lost[:, :, None]
    if damage.specks and rng.random() < 0.3:
        window[:, :, :2] = rng.random((count, rows, 2)) < rng.uniform(0, 0.5)
    if damage.specks and rng.random() < 0.3:
        window ^= rng.random(window.shape, np.float32) < rng.uniform(0, damage.specks)
    return window


def look_inwards(
    ink: Ink, y: NDArray[np.int64], x: NDArray[np.int64], inwards: int, width: int
) -> Ink:  # (n, rows, width)
    """The ink of `width` columns from every (y, x) on, to the right or left; paper goes on as it ends."""
    top = int(y.min())
    band = ink[top : int(y.max()) + 1]
    first = x if inwards > 0 else x - width + 1
    before = max(0, -int(first.min()))
    behind = max(0, int(first.max()) + width - band.shape[1])
    if before or behind:
        band = np.pad(band, ((0, 0), (before, behind)), mode="edge")
    # whole runs of a row are copied, which is many times quicker than pixel by pixel
    runs = np.lib.stride_tricks.sliding_window_view(band, width, axis=1)
    found = runs[y - top, first + before]
    return np.ascontiguousarray(found[:, :, ::inwards])


def shred_page(
    image: Image, rng: np.random.Generator, *, options: ShreddingOptions | None = None
) -> list[SimulatedShred]:
    """Cut a page into shreds from left to right, with torn outlines that neighbors share."""
    options = options or ShreddingOptions()
    return _cut_along(image, _draw_cuts(image, rng, options), rng, options)


def shred_both_sides(
    front: Image, back: Image, rng: np.random.Generator, *, options: ShreddingOptions | None = None
) -> list[TwoSidedShred]:
    """Cut a sheet that is printed on both sides, as the front shows it from left to right.

    Both faces share their tears. Ink flakes off each by itself, and each is laid on the scanner anew.
    """
    if front.shape != back.shape:
        raise InputError(f"the two sides of a sheet have one size, got {front.shape} and {back.shape}.")
    options = options or ShreddingOptions()
    cuts = _draw_cuts(front, rng, options)
    fronts = _cut_along(front, cuts, rng, options)
    seen_through = np.ascontiguousarray(back[:, ::-1])
    backs = _cut_along(seen_through, cuts, rng, options)
    return [TwoSidedShred(one, _mirror(two)) for one, two in zip(fronts, backs, strict=True)]


def _mirror(shred: SimulatedShred) -> SimulatedShred:
    return SimulatedShred(shred.image[:, ::-1].copy(), shred.mask[:, ::-1].copy(), shred.shift)


@dataclass(frozen=True, eq=False)
class _Cuts:
    """Where every shred of a page begins and ends, row by row. (shreds, rows)"""

    starts: NDArray[np.float64]
    ends: NDArray[np.float64]


def _draw_cuts(image: Image, rng: np.random.Generator, options: ShreddingOptions) -> _Cuts:
    height, width = image.shape[:2]
    if width < _NARROWEST * options.shreds:
        raise InputError(
            f"a page {width} px wide is too narrow for {options.shreds} shreds: each needs {_NARROWEST} px. "
            "Ask for fewer, or give its resolution with --dpi."
        )
    damage = options.damage
    cuts = options.shreds - 1
    tears = draw_tears(rng, cuts, height, damage.ragged)
    tears *= rng.uniform(0.3, 1, (cuts, 1)).astype(np.float32)  # some knives cut straighter than others
    pitch = width / options.shreds
    centers = pitch * np.arange(1, options.shreds) + rng.uniform(-0.05, 0.05, cuts) * pitch
    lost = rng.integers(0, damage.lost + 1, cuts)[:, None]
    fray = [draw_fray(rng, cuts, height, damage.fray) for _ in range(2)]
    line = centers[:, None] + tears
    return _Cuts(
        np.vstack([np.zeros((1, height)), np.rint(line + lost / 2 + fray[1])]),
        np.vstack([np.rint(line - lost / 2 - fray[0]), np.full((1, height), width)]),
    )


def _cut_along(
    image: Image, cuts: _Cuts, rng: np.random.Generator, options: ShreddingOptions
) -> list[SimulatedShred]:
    count, height = cuts.starts.shape
    losses = draw_ink_loss(rng, 2 * count, height, options.damage.ink_loss).reshape(2, count, height)
    shreds = []
    for i in range(count):
        start = cuts.starts[i].astype(int)
        end = cuts.ends[i].astype(int)
        loss_left = losses[0, i] if i > 0 else np.zeros(height)
        loss_right = losses[1, i] if i < count - 1 else np.zeros(height)
        shreds.append(_cut_out(image, start, end, loss_left, loss_right, rng, options))
    return shreds


def _cut_out(
    image: Image,
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    loss_left: NDArray[np.floating],
    loss_right: NDArray[np.floating],
    rng: np.random.Generator,
    options: ShreddingOptions,
) -> SimulatedShred:
    """One shred between two tears: ink flaked off along them, shifted and tilted, on white."""
    x0, x1 = int(start.min()), int(end.max())
    columns = np.arange(x0, x1)
    mask = (columns >= start[:, None]) & (columns < end[:, None])
    cut = image[:, x0:x1].copy()
    paper = np.median(cut[mask], axis=0).astype(np.uint8)
    flaked = (columns < (start + loss_left)[:, None]) | (columns >= (end - loss_right)[:, None])
    cut[flaked] = np.maximum(cut[flaked], paper)
    cut[~mask] = 255

    shift = int(rng.integers(-options.shift, options.shift + 1))
    angle = float(rng.uniform(-options.tilt_degrees, options.tilt_degrees))
    room = options.shift
    height, width = mask.shape
    pad = int(np.ceil(abs(np.sin(np.radians(angle))) * height / 2)) + 2
    size = (width + 2 * pad, height + 2 * room)
    move = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
    move[:, 2] += (pad, room + shift)
    tilted = cv2.warpAffine(cut, move, size, flags=cv2.INTER_LINEAR, borderValue=(255, 255, 255))
    soft = cv2.warpAffine(mask.view(np.uint8) * 255, move, size, flags=cv2.INTER_LINEAR)
    tilted_mask = soft > 127
    tilted[~tilted_mask] = 255
    keep = np.flatnonzero(tilted_mask.any(axis=0))
    box = slice(keep[0], keep[-1] + 1)
    return SimulatedShred(tilted[:, box].astype(np.uint8), tilted_mask[:, box], shift)
