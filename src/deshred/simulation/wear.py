"""A page in, the same page worn out: pale, stained, stamped, faxed, photographed.

Networks see ink, not gray; so pages are worn before their ink is found. Strength goes from 0 (hardly) to 1
(as bad as papers get that can still be read).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import cv2
import numpy as np
from numpy.typing import NDArray

from deshred.elements import Image
from deshred.errors import SettingsError

Wear = Literal[
    "pale",
    "faded",
    "colored",
    "stamps",
    "highlighter",
    "ruled",
    "squared",
    "fax",
    "bleed-through",
    "low-resolution",
    "jpeg",
    "photo",
    "halftone",
]
WEARS: tuple[Wear, ...] = get_args(Wear)
_Gray = NDArray[np.float32]


def wear_page(image: Image, wear: Wear, strength: float, rng: np.random.Generator) -> Image:
    """The page with this wear. (H, W, 3) RGB at 300 dpi"""
    if wear not in _WEARS:
        raise SettingsError(f"there is no wear {wear!r}. Try one of {', '.join(WEARS)}.")
    if not 0 <= strength <= 1:
        raise SettingsError(f"wear must lie between 0 and 1, got {strength:g}.")
    return _WEARS[wear](image, strength, rng)


def _to_image(values: NDArray[Any]) -> Image:
    image: Image = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return image


def _clouds(shape: tuple[int, ...], rng: np.random.Generator, cells: int) -> _Gray:
    """Smooth noise from 0 to 1 over a page. (H, W, 1)"""
    coarse = rng.random((cells + 3, cells), np.float32)
    fine = cv2.resize(coarse, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
    return np.clip(fine, 0, 1)[:, :, None].astype(np.float32)


def _pale(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Little toner on grainy paper."""
    contrast = 0.75 - 0.6 * strength
    paper = rng.uniform(225, 250)
    grain = rng.normal(0, 3, image.shape[:2]).astype(np.float32)[:, :, None]
    return _to_image(paper - (255 - image.astype(np.float32)) * (paper / 255) * contrast + grain)


def _faded(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Paler in some places than in others."""
    kept = 1 - (0.45 + 0.5 * strength) * _clouds(image.shape, rng, 6)
    grain = rng.normal(0, 2, image.shape[:2]).astype(np.float32)[:, :, None]
    return _to_image(250 - (255 - image.astype(np.float32)) * kept + grain)


def _colored(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Colored print on colored paper."""
    ink = rng.uniform(40, 110 + 90 * strength, 3)
    paper = 250 - rng.uniform(0, 15 + 45 * strength, 3)
    share = (255 - image.astype(np.float32)) / 255
    return _to_image(paper - share * np.maximum(paper - ink, 25))


def _stamps(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Round and framed stamps over the text."""
    page = image.copy()
    height, width = page.shape[:2]
    for _ in range(1 + round(9 * strength)):
        ink = tuple(int(v) for v in rng.integers(40, 190, 3))
        x, y = int(rng.integers(200, width - 200)), int(rng.integers(200, height - 200))
        over = page.copy()
        radius, thick = int(rng.integers(120, 260)), int(rng.integers(5, 12))
        if rng.random() < 0.5:
            cv2.circle(over, (x, y), radius, ink, thick)
            cv2.circle(over, (x, y), round(0.7 * radius), ink, max(2, thick // 2))
        else:
            box = cv2.boxPoints(((x, y), (2.6 * radius, 0.8 * radius), float(rng.uniform(-20, 20))))
            cv2.polylines(over, [box.astype(np.int32)], True, ink, thick)
        label = "".join(chr(int(c)) for c in rng.integers(65, 91, 6))
        at = (x - radius // 2, y + 20)
        cv2.putText(over, label, at, cv2.FONT_HERSHEY_DUPLEX, radius / 110, ink, thick // 2, cv2.LINE_AA)
        page = np.minimum(page, over)
    return page


def _highlighter(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Bands of a bright pen over some lines."""
    page = image.astype(np.float32)
    height, width = page.shape[:2]
    tints = np.array([(255, 255, 90), (150, 255, 120), (255, 150, 200), (120, 220, 255)], np.float32) / 255
    for _ in range(2 + round(22 * strength)):
        y, x = int(rng.integers(100, height - 100)), int(rng.integers(0, width // 2))
        end, thick = int(rng.integers(x + 200, width)), int(rng.integers(40, 75))
        page[y : y + thick, x:end] *= tints[int(rng.integers(len(tints)))] ** (0.5 + strength)
    return _to_image(page)


def _draw_lines(page: _Gray, step: float, tone: float, rng: np.random.Generator, *, across: bool) -> None:
    length = page.shape[0] if across else page.shape[1]
    for at in np.arange(rng.uniform(0, step), length - 4, step).astype(int):
        band = page[at : at + 3] if across else page[:, at : at + 3]
        np.minimum(band, tone, out=band)


def _ruled(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Lines to write on."""
    page = image.astype(np.float32)
    _draw_lines(page, rng.uniform(80, 120), 215 - 170 * strength, rng, across=True)
    return _to_image(page)


def _squared(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Squares of 5 mm."""
    page = image.astype(np.float32)
    for across in (True, False):
        _draw_lines(page, 59.06, 215 - 150 * strength, rng, across=across)
    return _to_image(page)


def _fax(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Few lines per inch, black and white, dirt and lost lines."""
    height, width = image.shape[:2]
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    lines = height * (196 - 98 * strength) / 300
    small = cv2.resize(gray, (round(width * 204 / 300), round(lines)), interpolation=cv2.INTER_AREA)
    bits = small < rng.uniform(140, 200)
    bits ^= rng.random(bits.shape, np.float32) < 0.004 * strength
    bits[rng.random(len(bits)) < 0.01 * strength] = False
    page = cv2.resize(255 * (1 - bits.astype(np.uint8)), (width, height), interpolation=cv2.INTER_NEAREST)
    return cv2.cvtColor(page, cv2.COLOR_GRAY2RGB).astype(np.uint8)


def _bleed_through(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """The back of the sheet shines through: the page itself, mirrored and moved."""
    back = np.roll(image[:, ::-1], (int(rng.integers(200, 1500)), int(rng.integers(-80, 80))), (0, 1))
    soft = cv2.GaussianBlur(back, (0, 0), 1.5 + 1.5 * (1 - strength)).astype(np.float32)
    return _to_image(np.minimum(image, 255 - (255 - soft) * (0.15 + 0.4 * strength)))


def _low_resolution(image: Image, strength: float, rng: np.random.Generator) -> Image:  # noqa: ARG001
    """Scanned at 170 down to 90 dpi, brought back to 300."""
    height, width = image.shape[:2]
    scale = (170 - 80 * strength) / 300
    small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC).astype(np.uint8)


def _jpeg(image: Image, strength: float, rng: np.random.Generator) -> Image:  # noqa: ARG001
    """Saved at a quality of 40 down to 8."""
    quality = round(40 - 32 * strength)
    _, file = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(file, cv2.IMREAD_COLOR), np.uint8)


def _photo(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Uneven light, a little out of focus, noisy."""
    light = 1 - (0.3 + 0.45 * strength) * _clouds(image.shape, rng, 3)
    soft = cv2.GaussianBlur(image, (0, 0), 0.8 + 1.6 * strength).astype(np.float32)
    noise = rng.normal(0, 2 + 6 * strength, image.shape[:2]).astype(np.float32)[:, :, None]
    return _to_image(soft * light + noise)


def _halftone(image: Image, strength: float, rng: np.random.Generator) -> Image:
    """Newsprint: the print and gray fields behind it broken into dots."""
    height, width = image.shape[:2]
    angle, pitch = rng.uniform(0.2, 1.2), rng.uniform(4.5, 8.5)
    y, x = np.mgrid[:height, :width].astype(np.float32)
    u, v = np.cos(angle) * x + np.sin(angle) * y, np.cos(angle) * y - np.sin(angle) * x
    screen = 0.5 + 0.25 * (np.cos(2 * np.pi * u / pitch) + np.cos(2 * np.pi * v / pitch))
    field = _clouds(image.shape, rng, 5)[:, :, 0] * (0.15 + 0.4 * strength)
    dots = cv2.GaussianBlur((screen < field).astype(np.float32), (0, 0), 0.8)
    return _to_image(np.minimum(image, 255 - (60 + 130 * strength) * dots[:, :, None]))


_WEARS: dict[Wear, Callable[[Image, float, np.random.Generator], Image]] = {
    "pale": _pale,
    "faded": _faded,
    "colored": _colored,
    "stamps": _stamps,
    "highlighter": _highlighter,
    "ruled": _ruled,
    "squared": _squared,
    "fax": _fax,
    "bleed-through": _bleed_through,
    "low-resolution": _low_resolution,
    "jpeg": _jpeg,
    "photo": _photo,
    "halftone": _halftone,
}
