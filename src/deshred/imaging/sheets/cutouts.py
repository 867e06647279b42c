"""What was found on a sheet: a cut-out for every shred, scraps, and what `shreds.json` says about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Mask, Shred, Source
from deshred.imaging.files import to_text
from deshred.imaging.sheets.patches import Box
from deshred.imaging.sheets.rims import Rim
from deshred.imaging.sheets.straightening import Frame, Trace

LOST_SIDE = "runs off the sheet along one side: scan the whole shred again"
LOST_INK = "runs off the sheet where something is written: scan the whole shred again"
ODD_SHAPE = "does not have the shape of a shred"


@dataclass(frozen=True)
class ShredName:
    """What a shred that was cut out of a sheet is called; as text, the id of the shred: `sheet#07`."""

    sheet: str
    number: int  # in reading order, from 1

    @property
    def label(self) -> str:
        """The number as it is written on the overview."""
        return f"{self.number:02d}"

    def __str__(self) -> str:
        return f"{self.sheet}#{self.label}"


@dataclass(frozen=True, eq=False)
class Cutout:
    """How one shred lies on its sheet, in scan pixels."""

    name: ShredName
    box: Box
    mask: Mask  # (box.height, box.width): as on the sheet, not straightened
    outline: NDArray[np.int32]  # (n, 2): x, y of its corner pixels, clockwise
    angle: float  # degrees clockwise against upright
    area: int
    touches_border: bool
    warnings: tuple[str, ...]
    trace: Trace
    frame: Frame

    def as_json(self) -> dict[str, Any]:
        return {
            "id": str(self.name),
            "box_xywh": self.box.as_list(),
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


@dataclass(frozen=True)
class Ground:
    """The color that shreds lie on."""

    color: tuple[int, int, int]  # RGB
    share: float  # of the sheet's pixels


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
    background: Ground | None  # None: the file itself says what is opaque
    warnings: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """What `shreds.json` holds."""
        return {
            "sheet": to_text(self.sheet.path.name),
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
                    "box_xywh": scrap.box.as_list(),
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
