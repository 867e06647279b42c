"""Shreds and their Arrangement in, Pages to read out.

Each shred is set upright, moved down by its slot's offset, and pushed against the torn outline of
what stands left of it. Where two shreds overlap the darker pixel wins, so no ink is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Arrangement, Image, Mask, Page, Placement, Shred, ShredSet, Slot
from deshred.errors import SettingsError
from deshred.executors import Executor, Progress, SerialExecutor

_BLOCKS = 24
_MIN_ROWS = 10 * _BLOCKS  # shorter scraps do not say whether they lean
_WHOLE = 0.9  # of the usual width
_NOWHERE = np.iinfo(np.int32).min  # frontier of rows that hold no paper yet


@dataclass(frozen=True)
class CompositionOptions:
    """How shreds are pushed together."""

    touching: float = 0.7  # share of the rows in which neighbors may touch or overlap by a hair
    max_lean_degrees: float = 5.0  # shreds that lean or bow at most this much are straightened
    margin: int = 0  # white px around the page

    def __post_init__(self) -> None:
        if not 0 <= self.touching <= 1:
            raise SettingsError(f"touching is a share between 0 and 1, got {self.touching:g}.")
        if not 0 <= self.max_lean_degrees <= 10:
            raise SettingsError(f"max_lean_degrees is between 0 and 10, got {self.max_lean_degrees:g}.")
        if self.margin < 0:
            raise SettingsError(f"margin is a number of px from 0, got {self.margin}.")


@dataclass(frozen=True, eq=False)
class _Upright:
    """A shred ready to be laid down: white outside the paper, its outline per row."""

    image: Image
    mask: Mask
    has_paper: NDArray[np.bool_]  # (H,)
    starts: NDArray[np.int32]  # (H,): first column of paper
    stops: NDArray[np.int32]  # (H,): one past the last column of paper
    indent: int  # columns added left of the shred's own image to straighten it


def compose(
    shreds: ShredSet,
    arrangement: Arrangement,
    *,
    options: CompositionOptions | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Page]:
    """Lay the shreds of every page side by side."""
    executor = executor or SerialExecutor()
    compose_page = partial(_compose_page, shreds=shreds, options=options or CompositionOptions())
    pages = [slots for slots in arrangement.pages if slots]
    return executor.map(compose_page, pages, stage="composing", progress=progress)


def _compose_page(slots: Sequence[Slot], *, shreds: ShredSet, options: CompositionOptions) -> Page:
    chosen = [shreds[shreds.index_of(slot.shred_id)] for slot in slots]
    uprights = [_set_upright(shred, options.max_lean_degrees) for shred in chosen]
    highest = min(slot.offset for slot in slots)
    tops = [slot.offset - highest for slot in slots]
    height = max(top + upright.mask.shape[0] for top, upright in zip(tops, uprights, strict=True))
    lefts = _push_together(uprights, tops, height, options.touching)

    width = max(left + upright.mask.shape[1] for left, upright in zip(lefts, uprights, strict=True))
    margin = options.margin
    image = np.full((height + 2 * margin, width + 2 * margin, 3), 255, np.uint8)
    mask = np.zeros(image.shape[:2], np.bool_)
    placements = []
    for shred, upright, left, top in zip(chosen, uprights, lefts, tops, strict=True):
        rows = slice(top + margin, top + margin + upright.mask.shape[0])
        columns = slice(left + margin, left + margin + upright.mask.shape[1])
        np.minimum(image[rows, columns], upright.image, out=image[rows, columns])
        mask[rows, columns] |= upright.mask
        placements.append(Placement(shred.id, left + margin + upright.indent, top + margin))
    return Page(image, mask, tuple(placements), chosen[0].dpi)


def _push_together(
    uprights: Sequence[_Upright], tops: Sequence[int], height: int, touching: float
) -> list[int]:
    """The column of each shred; the leftmost paper of the page gets column 0 or more."""
    frontier = np.full(height, _NOWHERE, np.int32)  # per row, one past the rightmost paper so far
    lefts: list[int] = []
    before = slice(0, 0)
    for upright, top in zip(uprights, tops, strict=True):
        rows = slice(top, top + len(upright.has_paper))
        left = _touch(frontier, before, upright, top, touching) if lefts else 0
        reach = np.where(upright.has_paper, left + upright.stops, _NOWHERE)
        np.maximum(frontier[rows], reach, out=frontier[rows])
        lefts.append(left)
        before = rows
    shift = min(lefts)
    return [left - shift for left in lefts]


def _touch(frontier: NDArray[np.int32], before: slice, upright: _Upright, top: int, touching: float) -> int:
    """The column at which a shred touches its neighbor, and nothing further left either."""
    rows = np.arange(top, top + len(upright.has_paper))
    shared = upright.has_paper & (frontier[rows] != _NOWHERE)
    if not shared.any():  # one stands above the other: side by side is all that is left
        return int(frontier.max())
    needed = frontier[rows].astype(np.int64) - upright.starts
    beside = (rows >= before.start) & (rows < before.stop)
    # a short neighbor must not be swallowed by the longer shreds around it: ask both groups of rows
    wishes = [needed[group] for group in (shared & beside, shared & ~beside) if group.any()]
    return int(max(round(float(np.quantile(wish, touching))) for wish in wishes))


def _set_upright(shred: Shred, max_lean_degrees: float) -> _Upright:
    """Straighten a leaning or bowed shred by moving its rows sideways by whole px; its middle row stays."""
    height, width = shred.mask.shape
    bends = _bends(shred.mask, max_lean_degrees)
    indent = int(np.abs(bends).max())
    image = np.full((height, width + 2 * indent, 3), 255, np.uint8)
    mask = np.zeros(image.shape[:2], np.bool_)
    white = cv2.bitwise_or(shred.image, cv2.merge([255 * (1 - shred.mask.view(np.uint8))] * 3))
    runs = np.flatnonzero(np.diff(bends, prepend=bends[0] - 1, append=bends[-1] - 1))
    for start, stop in pairwise(runs):
        columns = slice(indent - bends[start], indent - bends[start] + width)
        image[start:stop, columns] = white[start:stop]
        mask[start:stop, columns] = shred.mask[start:stop]
    starts = mask.argmax(axis=1).astype(np.int32)
    stops = (mask.shape[1] - mask[:, ::-1].argmax(axis=1)).astype(np.int32)
    return _Upright(image, mask, np.asarray(mask.any(axis=1)), starts, stops, indent)


def _bends(mask: Mask, max_lean_degrees: float) -> NDArray[np.int64]:
    """How far right of its middle row the paper of each row lies, smooth from top to bottom. (H,)"""
    straight = np.zeros(len(mask), np.int64)
    rows = np.flatnonzero(mask.any(axis=1))
    if rows.size < _MIN_ROWS or not max_lean_degrees:
        return straight
    starts = mask.argmax(axis=1)
    stops = mask.shape[1] - mask[:, ::-1].argmax(axis=1)
    blocks = rows[: rows.size // _BLOCKS * _BLOCKS].reshape(_BLOCKS, -1)
    # medians: teeth must not bend a straight shred
    at, lefts, rights = (np.median(values, axis=1) for values in (blocks, starts[blocks], stops[blocks]))
    whole = rights - lefts > _WHOLE * np.median(rights - lefts)  # a torn-off side misleads
    if whole.sum() < _BLOCKS / 3:
        return straight
    at, middles = at[whole], (lefts + rights)[whole] / 2
    curve = np.polynomial.Polynomial.fit(at, middles, deg=3)
    steepest = float(np.abs(curve.deriv()(at)).max())
    if steepest > np.tan(np.radians(max_lean_degrees)):
        return straight
    y = np.clip(np.arange(len(mask)), at[0], at[-1])
    return np.asarray(np.rint(curve(y) - curve(len(mask) / 2)), np.int64)
