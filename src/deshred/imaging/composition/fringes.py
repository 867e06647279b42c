"""What tears and the sheet behind them leave at the rims of shreds: fringe, shadow and bare fiber.

It goes from the image of a shred before it is laid down, and where nothing is written from the seams of a
page. Ink stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d, percentile_filter

from deshred.elements import Image, Seam, Shred
from deshred.imaging.composition.mending import WIDEST_FILLED
from deshred.imaging.composition.uprights import Sides

_FRINGE_DEPTH = 4  # px into the paper
_BEYOND = 3  # px out of the paper that resampling looks at
_FRINGE_COLOR = 6.0  # gray levels by which the rim is more colorful than the paper, at least
_FRINGE_SHARE = 0.3  # of the rim's color that counts as fringe
_BESIDE = 8  # px beside a seam that show the paper there
_AROUND = 61  # rows that share their paper
_PAPER_RANK = 70  # percent: most rows of a line of text are not ink at a seam
_INK = 0.7  # of the paper's brightness: what is darker in its brightest color is ink
_CLEAR_ROWS = 4  # above and below ink that stay as they are
_OTHER_COLOR = 20.0  # gray levels: more is a colored area, and no paper


def clean_rim(shred: Shred, sides: Sides) -> Image:
    """The image of a shred without the fringe of the colored sheet it lay on, its rim drawn on outwards.

    The fringe colors the whole rim alike, so the usual color of the rim tells it from colored ink. It is as
    bright as paper in its brightest channel: there ink alone is dark.
    """
    rows = np.flatnonzero(sides.has_paper)
    image = shred.image.copy()
    if not rows.size:
        return image
    paper = np.median(shred.image[::5, ::3][shred.mask[::5, ::3]], axis=0)
    image[~shred.mask] = np.rint(paper)  # holes too: resampling mixes what lies in them into the paper
    for tears, inwards in ((sides.starts[rows], 1), (sides.stops[rows] - 1, -1)):
        inside = tears[:, None] + inwards * np.arange(_FRINGE_DEPTH)
        inside = np.clip(inside, sides.starts[rows, None], sides.stops[rows, None] - 1)
        image[rows[:, None], inside] = _without_fringe(image[rows[:, None], inside], paper)
        # at the tear the outermost pixel goes on, be it ink or paper
        outside = np.clip(tears[:, None] - inwards * np.arange(1, _BEYOND + 1), 0, image.shape[1] - 1)
        is_outside = (outside < sides.starts[rows, None]) | (outside >= sides.stops[rows, None])
        image[rows[:, None], outside] = np.where(
            is_outside[..., None], image[rows, tears][:, None], image[rows[:, None], outside]
        )
    return image


def _without_fringe(band: Image, paper: NDArray[np.float64]) -> Image:
    """A band of pixels along the rim, outermost first. (rows, depth, 3)"""
    rim = np.median(band[:, 0], axis=0)
    tint = (rim - rim.mean()) - (paper - paper.mean())
    strength = float(np.linalg.norm(tint))
    if strength < _FRINGE_COLOR:
        return band
    pixels = band.astype(np.float64)
    colors = pixels - pixels.mean(axis=2, keepdims=True) - (paper - paper.mean())
    is_fringe = colors @ tint / strength**2 > _FRINGE_SHARE
    brightest = int(tint.argmax())
    neutral = np.minimum(pixels[..., brightest : brightest + 1] / max(paper[brightest], 1), 1) * paper
    return np.where(is_fringe[..., None], np.rint(neutral), pixels).astype(np.uint8)


def clear_seams(image: Image, seams: Sequence[Seam]) -> Image:
    """A page with its paper drawn on over the seams, in rows where nothing is written beside them."""
    cleared = image.copy()
    for seam in seams:
        _clear(cleared, _find_strip(cleared, seam))
    return cleared


@dataclass(frozen=True, eq=False)
class _Strip:
    """The rows of a seam that lie well inside the page, and the columns between which it is cleared."""

    rows: NDArray[np.intp]
    first: NDArray[np.int32]
    last: NDArray[np.int32]  # one past

    def choose(self, chosen: NDArray[np.bool_]) -> _Strip:
        return _Strip(self.rows[chosen], self.first[chosen], self.last[chosen])


def _find_strip(image: Image, seam: Seam) -> _Strip:
    lost = seam.starts - seam.stops
    rows = np.flatnonzero((seam.stops >= 0) & (lost <= WIDEST_FILLED))
    first = np.minimum(seam.stops, seam.starts)[rows] - _FRINGE_DEPTH
    last = np.maximum(seam.stops, seam.starts)[rows] + _FRINGE_DEPTH
    return _Strip(rows, first, last).choose((first >= _BESIDE) & (last + _BESIDE <= image.shape[1]))


def _clear(image: Image, strip: _Strip) -> None:
    if not strip.rows.size:
        return
    beside = [_look_beside(image, strip.rows, start) for start in (strip.first - _BESIDE, strip.last)]
    papers = [percentile_filter(side, _PAPER_RANK, size=(_AROUND, 1)) for side in beside]
    is_paper = np.ones(strip.rows.size, np.bool_)
    for side, paper in zip(beside, papers, strict=True):
        is_paper &= np.abs(_hue(side) - _hue(paper)).max(axis=1) < _OTHER_COLOR
    blank = is_paper & ~_has_ink(image, strip, np.minimum(*(paper.max(axis=1) for paper in papers)))
    strip = strip.choose(blank)
    left, right = (paper[blank] for paper in papers)
    for step in range(int((strip.last - strip.first).max(initial=0))):
        inside = strip.first + step < strip.last
        part = ((step + 1) / (strip.last - strip.first + 1))[inside, None]
        paper = left[inside] * (1 - part) + right[inside] * part
        image[strip.rows[inside], strip.first[inside] + step] = np.rint(paper).astype(np.uint8)


def _look_beside(image: Image, rows: NDArray[np.intp], start: NDArray[np.int32]) -> NDArray[np.float32]:
    """The mean color of the bright pixels from some columns on, row by row. (rows, 3)"""
    pixels = image[rows[:, None], start[:, None] + np.arange(_BESIDE)].astype(np.float32)
    bright = pixels.max(axis=2)
    is_paper = bright >= 0.85 * bright.max(axis=1, keepdims=True)
    return np.asarray((pixels * is_paper[..., None]).sum(axis=1) / is_paper.sum(axis=1)[:, None])


def _hue(colors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(colors - colors.mean(axis=1, keepdims=True))


def _has_ink(image: Image, strip: _Strip, paper: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether there is ink at the seam or beside it, row by row."""
    columns = (strip.first - _BESIDE)[:, None] + np.arange(
        int((strip.last - strip.first).max()) + 2 * _BESIDE
    )
    inside = columns < (strip.last + _BESIDE)[:, None]
    pixels = image[strip.rows[:, None], np.minimum(columns, image.shape[1] - 1)].max(axis=2)
    inked = ((pixels < _INK * paper[:, None]) & inside).any(axis=1)
    return np.asarray(maximum_filter1d(inked.astype(np.uint8), 2 * _CLEAR_ROWS + 1) > 0)
