"""Paper that is known to be missing from a page: how wide it is, and the hatching that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import PIL.Image
import PIL.ImageDraw
import PIL.ImageFont
from numpy.typing import NDArray

from deshred.elements import Image, Mask, Slot
from deshred.errors import SettingsError

_HATCH = np.array([205, 205, 205], np.uint8)
_HATCH_STEP, _HATCH_WIDTH = 24, 3
_LABEL_SIZE = 36
_LABEL_TONE = (90, 90, 90)


@dataclass(frozen=True)
class MissingPaper:
    """Paper that is missing beside a shred of a page."""

    shred_id: str
    side: Literal["left", "right"]  # of that shred
    width: int  # px
    label: str = ""  # a few words, such as "about 2 shreds missing"

    def __post_init__(self) -> None:
        if self.side not in ("left", "right"):
            raise SettingsError(f"side must be left or right, got {self.side!r}.")
        if self.width < 0:
            raise SettingsError(
                f"the width of missing paper must be at least 0 px, got {self.width} beside {self.shred_id}."
            )


@dataclass(frozen=True)
class Room:
    """All that is missing at one place of a page."""

    width: int = 0
    label: str = ""


def make_room(slots: Sequence[Slot], missing: Sequence[MissingPaper]) -> list[Room]:
    """Room left of every shred of a page, and right of the last. (shreds + 1)"""
    places = {slot.shred_id: place for place, slot in enumerate(slots)}
    rooms = [Room()] * (len(slots) + 1)
    for one in missing:
        if one.shred_id in places:
            place = places[one.shred_id] + (one.side == "right")
            label = ", ".join(filter(None, [rooms[place].label, one.label]))
            rooms[place] = Room(rooms[place].width + one.width, label)
    return rooms


def hatch(
    image: Image, mask: Mask, starts: NDArray[np.integer], stops: NDArray[np.integer], label: str
) -> None:
    """Hatch the rows of an image between two lines where no paper lies, and write on it what is missing."""
    rows = np.flatnonzero(stops > starts)
    if not rows.size:
        return
    left, right = max(0, int(starts[rows].min())), min(image.shape[1], int(stops[rows].max()))
    y, x = np.indices((len(mask), right - left))
    x += left
    bare = (x >= starts[:, None]) & (x < stops[:, None]) & ~mask[:, left:right]
    image[:, left:right][bare & ((x + y) % _HATCH_STEP < _HATCH_WIDTH)] = _HATCH
    if label:
        _write(image[:, left:right], bare, label)


def _write(image: Image, bare: Mask, label: str) -> None:
    """The label, upwards in the middle of the bare paper, as large as its width allows."""
    size = min(_LABEL_SIZE, image.shape[1] // 2)
    if size < 8:
        return
    font = PIL.ImageFont.load_default(size)
    x0, y0, x1, y1 = (round(value) for value in font.getbbox(label))
    canvas = PIL.Image.new("RGB", (x1 - x0 + size, y1 - y0 + size // 2), (255, 255, 255))
    PIL.ImageDraw.Draw(canvas).text((size / 2 - x0, size / 4 - y0), label, fill=_LABEL_TONE, font=font)
    text = np.rot90(np.asarray(canvas))[-len(image) :, : image.shape[1]]
    top, left = (image.shape[0] - text.shape[0]) // 2, (image.shape[1] - text.shape[1]) // 2
    window = slice(top, top + text.shape[0]), slice(left, left + text.shape[1])
    image[window][bare[window]] = text[bare[window]]
