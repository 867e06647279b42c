"""Shreds in, small pictures for the browser out: upright strips at four sizes, and atlases of thumbnails.

Pictures are made when they are asked for and remembered up to a limit; they are previews. What is exported
never comes from here.
"""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import Image as Pillow

from deshred.elements import Arrangement, Image, Mask, Shred, ShredSet, Slot
from deshred.errors import InputError
from deshred.imaging.composition import CompositionOptions, compose

LEVELS = 4  # whole, a half, a quarter, an eighth
PER_ATLAS = 64
_THUMB = LEVELS - 1
_MOST_BYTES = 192 * 2**20
_QUALITY = 80


@dataclass(frozen=True)
class Picture:
    """WebP bytes; the shred's own image begins `indent` px (at full size) right of the picture's left."""

    content: bytes
    indent: int = 0


@dataclass(frozen=True)
class Cell:
    """Where a shred lies in its atlas, px."""

    x: int
    width: int
    height: int


class Pictures:
    """The pictures of one pile; indices count the shreds with ink first, then the blank ones."""

    def __init__(self, shreds: ShredSet, blank: ShredSet, composition: CompositionOptions) -> None:
        self._shreds = (*shreds, *blank)
        self._composition = composition
        self._kept: OrderedDict[tuple[str, int, int], Picture] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._shreds)

    def cells(self) -> list[Cell]:
        """Of every shred, in its atlas."""
        cells, x = [], 0
        for k, shred in enumerate(self._shreds):
            x = 0 if k % PER_ATLAS == 0 else x
            height, width = (-(-side // 2**_THUMB) for side in shred.mask.shape)
            cells.append(Cell(x, width, height))
            x += width + 1
        return cells

    def strip(self, index: int, level: int) -> Picture:
        """One shred, set upright as it is composed."""
        if not 0 <= index < len(self._shreds) or not 0 <= level < LEVELS:
            raise InputError(f"there is no picture {index} at level {level}.")
        return self._keep(("strip", index, level), lambda: self._make_strip(index, level))

    def atlas(self, number: int) -> Picture:
        """Thumbnails of shreds side by side."""
        if not 0 <= number <= (len(self._shreds) - 1) // PER_ATLAS:
            raise InputError(f"there is no atlas {number}.")
        return self._keep(("atlas", number, 0), lambda: self._make_atlas(number))

    def _keep(self, key: tuple[str, int, int], make: Callable[[], Picture]) -> Picture:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        picture = make()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = picture
                self._bytes += len(picture.content)
            while self._bytes > _MOST_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= len(oldest.content)
        return picture

    def _make_strip(self, index: int, level: int) -> Picture:
        shred = self._shreds[index]
        alone = Arrangement(((Slot(shred.id, 0),),), (), (), 0.0, 0.0)
        page = compose(ShredSet([shred]), alone, options=self._composition)[0]
        return Picture(_encode(page.image, page.mask, level), page.placements[0].x)

    def _make_atlas(self, number: int) -> Picture:
        first = number * PER_ATLAS
        shreds, cells = self._shreds[first : first + PER_ATLAS], self.cells()[first : first + PER_ATLAS]
        width, height = cells[-1].x + cells[-1].width, max(cell.height for cell in cells)
        atlas = Pillow.new("RGBA", (width, height))
        for shred, cell in zip(shreds, cells, strict=True):
            atlas.paste(_shrink(shred, cell), (cell.x, 0))
        return Picture(_save(atlas))


def _shrink(shred: Shred, cell: Cell) -> Pillow.Image:
    return _with_alpha(shred.image, shred.mask).resize((cell.width, cell.height), Pillow.Resampling.BOX)


def _encode(image: Image, mask: Mask, level: int) -> bytes:
    picture = _with_alpha(image, mask)
    if level:
        height, width = (max(1, -(-side // 2**level)) for side in mask.shape)
        picture = picture.resize((width, height), Pillow.Resampling.BOX)
    return _save(picture)


def _with_alpha(image: Image, mask: Mask) -> Pillow.Image:
    return Pillow.fromarray(np.dstack([image, 255 * mask.astype(np.uint8)]))


def _save(picture: Pillow.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "WEBP", quality=_QUALITY, method=0)
    return buffer.getvalue()
