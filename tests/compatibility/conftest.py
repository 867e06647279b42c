"""Small pages of made-up text, and a small towers network with random weights, as the tests need them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deshred.imaging.intact import IntactPage


def scribble(seed: int, height: int = 700, width: int = 900) -> NDArray[np.uint8]:
    """Ink of a page: lines of strokes that cross any cut somewhere."""
    rng = np.random.default_rng(seed)
    ink = np.zeros((height, width), np.uint8)
    for top in range(30, height - 40, 44):
        for _ in range(width // 6):
            x, y = rng.integers(20, width - 40), top + rng.integers(0, 24)
            if rng.random() < 0.5:
                ink[y : y + 4, x : x + rng.integers(8, 26)] = 1
            else:
                ink[y : y + rng.integers(8, 20), x : x + 4] = 1
    return ink


@pytest.fixture(scope="session")
def scribbled_pages() -> list[IntactPage]:
    return [IntactPage.from_ink(f"page {seed}", scribble(seed)) for seed in range(4)]


@pytest.fixture(scope="session")
def small_towers(tmp_path_factory: pytest.TempPathFactory, scribbled_pages: list[IntactPage]) -> Path:
    """A model file of untrained towers, small enough to run in milliseconds."""
    pytest.importorskip("torch", reason="making a model needs deshred[train]")
    from deshred.compatibility.tower_network import TowerTask
    from deshred.compatibility.towers import TowerOptions

    task = TowerTask(scribbled_pages, options=TowerOptions(width=32, channels=(4, 4, 6, 8), features=8))
    path = tmp_path_factory.mktemp("models") / "small.onnx"
    task.export(task.network.eval(), path, task.identity)
    return path
