"""How likely it is, from their ink, that shreds lie the right way up.

Print is looked at through a small window, a few mm wide: some of what it shows is common upright and rare
upside down, such as a bowl below a stem. How much so was counted on pages that deshred draws itself, with
`benchmarks/letters.py`; each sight adds its log-odds. Of a whole page the place of its ink counts too: pages
are filled from the top.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from deshred.elements import EdgePair

FILE = "letters.npz"
_STEP = 4  # px of paper per point of a window
_SIDE = 4  # points
_BITS = _SIDE * _SIDE
_INKED = 0.4  # share of ink that makes a point dark
_MOST = 2.0  # nats that a single sight can say
_UNIT = 60  # weights are kept as whole numbers, parts of this
_SEEN = 2.0  # sights that every window is taken to have had on top of those counted
# log-odds of a page, fitted on 152 intact pages: per standard deviation of what its shreds say, and per
# height of the page by which its ink lies above the middle
_PER_DEVIATION, _PER_HEIGHT = 2.0, 10.0


@dataclass(frozen=True, eq=False)
class LetterShapes:
    """What every sight says about the way print lies; what it shows upside down says the opposite."""

    weights: NDArray[np.int8]  # (2 ** _BITS,): in parts of a nat

    def rate(self, ink: NDArray[np.uint8]) -> float:
        """How much speaks for this way up; below 0 for the other, 0 without ink. Its size is no log-odds."""
        return float(self.weights[_see(ink)].sum(dtype=np.int64)) / _UNIT


def rate_uprightness(pair: EdgePair) -> float:
    """What the print along both sides of a shred says about the way it lies."""
    shapes = load_letters()
    return shapes.rate(pair.left.ink) + shapes.rate(pair.right.ink[:, ::-1])  # columns run inwards there


def judge_page(pairs: Sequence[EdgePair]) -> float:
    """The log-odds that a page with these shreds stands upright, by its letters and the place of its ink."""
    rates = np.array([rate_uprightness(pair) for pair in pairs])
    ink = np.sum([pair.left.ink.sum(axis=1) + pair.right.ink.sum(axis=1) for pair in pairs], axis=0)
    if not ink.any():
        return 0.0
    letters = rates.sum() / max(float(np.linalg.norm(rates)), 1.0)
    above = 0.5 - float(np.average((np.arange(len(ink)) + 0.5) / len(ink), weights=ink))
    return float(_PER_DEVIATION * letters + _PER_HEIGHT * above)


@cache
def load_letters() -> LetterShapes:
    """The shapes that come with deshred."""
    with resources.files("deshred.imaging").joinpath(FILE).open("rb") as file:
        return LetterShapes(np.load(file)["weights"])


def learn_letters(pages: Iterable[NDArray[np.uint8]]) -> LetterShapes:
    """Count what upright pages show. (H, W): 1 is ink"""
    counts = np.full(1 << _BITS, _SEEN)
    for ink in pages:
        counts += np.bincount(_see(ink), minlength=len(counts))
    ratios = np.log(counts / counts[_turned()])
    return LetterShapes(np.rint(_UNIT * np.clip(ratios, -_MOST, _MOST)).astype(np.int8))


def _see(ink: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """What the window shows at each of its places, as a number with a bit per point."""
    height, width = (size // _STEP for size in ink.shape)
    points = ink[: height * _STEP, : width * _STEP].reshape(height, _STEP, width, _STEP)
    counts = np.zeros((height, width), np.uint8)
    for row in range(_STEP):
        for column in range(_STEP):
            counts += points[:, row, :, column]
    dark = (counts >= _INKED * _STEP**2).astype(np.uint16)
    places = tuple(size - _SIDE + 1 for size in dark.shape)
    seen = np.zeros(places, np.uint16)
    for bit in range(_BITS):
        row, column = divmod(bit, _SIDE)
        seen |= dark[row : row + places[0], column : column + places[1]] << np.uint16(bit)
    return seen.ravel()


def _turned() -> NDArray[np.intp]:  # (2 ** _BITS,)
    """What each sight is upside down: its bits in the opposite order."""
    sights = np.arange(1 << _BITS)
    turned = np.zeros_like(sights)
    for bit in range(_BITS):
        turned |= ((sights >> bit) & 1) << (_BITS - 1 - bit)
    return turned
