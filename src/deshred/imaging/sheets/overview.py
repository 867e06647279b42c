"""A sheet and what was found on it in, one picture to check at a glance out."""

from __future__ import annotations

import cv2
import numpy as np

from deshred.elements import Image, Scan
from deshred.imaging.sheets.cutouts import Segmentation
from deshred.imaging.sheets.patches import Box

_OVERVIEW_SIDE = 1600
_FOUND = ((0, 90, 200), (150, 0, 130))  # neighbors take turns, so that merged or split ones stand out
_DOUBTFUL, _IGNORED, _RIM = (215, 0, 0), (90, 90, 90), (90, 90, 90)


def draw_overview(scan: Scan, segmentation: Segmentation, *, longest_side: int = _OVERVIEW_SIDE) -> Image:
    """The sheet with numbered outlines: blue and violet in turn, red with a warning; scraps crossed out."""
    height, width = scan.image.shape[:2]
    scale = min(1.0, longest_side / max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    picture = np.array(cv2.resize(scan.image, size, interpolation=cv2.INTER_AREA), np.uint8)
    thickness = max(1, longest_side // 700)
    for rim in segmentation.rims:
        _draw_rim(picture, rim.side, rim.start_depth * scale, rim.end_depth * scale)
    for scrap in segmentation.scraps:
        _cross_out(picture, scrap.box, scale, thickness)
    for number, cutout in enumerate(segmentation.cutouts):
        color = _DOUBTFUL if cutout.warnings else _FOUND[number % 2]
        # Four fractional bits keep the outline smooth in the shrunken picture.
        outline = ((cutout.outline + 0.5) * scale * 16 - 8).round().astype(np.int32)
        cv2.polylines(picture, [outline], True, color, thickness, cv2.LINE_AA, shift=4)
        _label(picture, cutout.name.label, cutout.box, scale, color)
    return picture


def _draw_rim(picture: Image, side: str, start: float, end: float) -> None:
    height, width = picture.shape[:2]
    ends = {
        "top": ((0, start), (width - 1, end)),
        "bottom": ((0, height - 1 - start), (width - 1, height - 1 - end)),
        "left": ((start, 0), (end, height - 1)),
        "right": ((width - 1 - start, 0), (width - 1 - end, height - 1)),
    }[side]
    first, last = ((round(x), round(y)) for x, y in ends)
    cv2.line(picture, first, last, _RIM, 1, cv2.LINE_AA)


def _cross_out(picture: Image, box: Box, scale: float, thickness: int) -> None:
    left, top = round(box.x * scale), round(box.y * scale)
    right, bottom = round((box.x + box.width) * scale), round((box.y + box.height) * scale)
    cv2.line(picture, (left, top), (right, bottom), _IGNORED, thickness, cv2.LINE_AA)
    cv2.line(picture, (left, bottom), (right, top), _IGNORED, thickness, cv2.LINE_AA)


def _label(picture: Image, text: str, box: Box, scale: float, color: tuple[int, int, int]) -> None:
    size = max(0.5, picture.shape[0] / 2000)
    weight = max(1, round(2 * size))
    (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, weight)
    middle_x, middle_y = (box.x + box.width / 2) * scale, (box.y + box.height / 2) * scale
    left = int(np.clip(middle_x - width / 2, 4, max(4, picture.shape[1] - width - 4)))
    base = int(np.clip(middle_y + height / 2, height + 4, max(height + 4, picture.shape[0] - 4)))
    cv2.rectangle(
        picture, (left - 4, base - height - 4), (left + width + 4, base + 4), (255, 255, 255), cv2.FILLED
    )
    cv2.rectangle(picture, (left - 4, base - height - 4), (left + width + 4, base + 4), color, 1)
    cv2.putText(picture, text, (left, base), cv2.FONT_HERSHEY_SIMPLEX, size, color, weight, cv2.LINE_AA)
