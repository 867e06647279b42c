"""Pages cut into shreds whose true place is known."""

import itertools
from pathlib import Path

import numpy as np

from deshred.elements import Arrangement, Seam, Shred, ShredSet, Slot, Source

SOURCE = Path("made-up.png")
COLUMNS = range(100, 1200, 100)


def make_shred(name, image, mask=None):
    mask = np.ones(image.shape[:2], bool) if mask is None else mask
    return Shred(name, image, mask, 300.0, Source(SOURCE, "0" * 64))


def arrange(*names, offsets=None):
    offsets = offsets or [0] * len(names)
    slots = tuple(Slot(name, offset) for name, offset in zip(names, offsets, strict=True))
    return Arrangement((slots,), (), (), 0.0, 0.0)


def draw_pattern(height=600, width=300, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random((height, width, 1)) < 0.2, 30, 240).astype(np.uint8).repeat(3, axis=2)


def cut(page, tears):
    """Shreds between tears (k, H): each its own rectangle with a mask along the tears."""
    height, width = page.shape[:2]
    lines = np.vstack([np.zeros((1, height)), tears, np.full((1, height), width)]).astype(int)
    shreds = []
    for i, (start, stop) in enumerate(itertools.pairwise(lines)):
        columns = np.arange(start.min(), stop.max())
        mask = (columns >= start[:, None]) & (columns < stop[:, None])
        image = np.where(mask[:, :, None], page[:, columns], 0).astype(np.uint8)  # a dark scanner lid
        shreds.append(make_shred(f"s{i}", image, mask))
    return ShredSet(shreds)


def print_page(*, natural, taken, lost=0, seed=0):
    """Rows of strokes with gaps as wide as `natural` between them; tears took ink, and paper within it."""
    rng = np.random.default_rng(seed)
    image = np.full((1500, 1200, 3), 255, np.uint8)
    for top in range(0, 1500, 12):
        x = 10
        while x < 1150:
            stop = x + int(rng.integers(15, 45))
            image[top : top + 8, x:stop] = 0
            x = stop + int(rng.choice(natural))
    seams = []
    for column in COLUMNS:
        image[:, column - taken // 2 : column - taken // 2 + taken] = 255
        stops = np.full(1500, column - lost // 2, np.int32)
        seams.append(Seam("a", "b", stops, stops + lost))
    return image, seams
