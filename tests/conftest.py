"""A small pile that owns its truth: a drawn page, shredded by simulation, saved under shuffled names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from deshred.doctor import draw_tiny_pile
from deshred.elements import ShredSet
from deshred.imaging.decoding import encode_png


@dataclass(frozen=True)
class SavedPile:
    """Files of shreds, and the ids they have when they are loaded, in their true order."""

    folder: Path
    truth: tuple[str, ...]


@pytest.fixture(scope="session")
def tiny_pile() -> ShredSet:
    """Eight shreds of one page, in their true order."""
    return draw_tiny_pile()


@pytest.fixture(scope="session")
def saved_pile(tiny_pile: ShredSet, tmp_path_factory: pytest.TempPathFactory) -> SavedPile:
    """The tiny pile as PNG files with alpha, and one blank shred; not to be written to."""
    folder = tmp_path_factory.mktemp("pile")
    names = np.random.default_rng(3).permutation(len(tiny_pile))
    for shred, name in zip(tiny_pile, names, strict=True):
        (folder / f"s{name}.png").write_bytes(encode_png(shred.image, shred.mask))
    blank = tiny_pile[0]
    (folder / "blank.png").write_bytes(encode_png(np.full_like(blank.image, 240), blank.mask))
    return SavedPile(folder, tuple(f"s{name}" for name in names))
