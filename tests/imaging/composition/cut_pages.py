"""Pages cut into shreds whose true place is known."""

import itertools
from pathlib import Path

import numpy as np

from deshred.elements import Arrangement, Shred, ShredSet, Slot, Source

SOURCE = Path("made-up.png")


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
