"""Collections drawn for tests: every cut of a page has its own random tones, equal on both sides."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import PIL.Image


def draw_document(
    rng: np.random.Generator, n_shreds: int, rows: int = 160, width: int = 30
) -> list[np.ndarray]:
    """Gray shreds in true order; only true neighbors share the tones along an edge."""
    rows, width = 160, 30
    cuts = rng.integers(30, 226, (n_shreds + 1, rows), np.uint8)
    shreds = []
    for left, right in pairwise(cuts):
        shred = np.full((rows, width), 235, np.uint8)
        shred[:, :4], shred[:, -4:] = left[:, None], right[:, None]
        shred[20:40, 10:20] = 0  # ink enough not to be blank
        shreds.append(shred)
    return shreds


def write_document(folder: Path, shreds: list[np.ndarray], prefix: str = "") -> None:
    """Save shreds as `strips/<prefix>01.png`, ..."""
    (folder / "strips").mkdir(parents=True)
    for position, shred in enumerate(shreds, 1):
        PIL.Image.fromarray(shred).save(folder / "strips" / f"{prefix}{position:02d}.png")


def write_collection(folder: Path, sizes: list[int], seed: int = 0) -> Path:
    """A collection with one document per size: D001, D002, ..."""
    rng = np.random.default_rng(seed)
    for number, size in enumerate(sizes, 1):
        name = f"D{number:03d}"
        write_document(folder / name, draw_document(rng, size), prefix=name)
    return folder
