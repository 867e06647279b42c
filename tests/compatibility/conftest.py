"""Small pages of made-up text, and a small towers network with random weights, as the tests need them."""

from __future__ import annotations

from pathlib import Path

import pytest

from deshred.simulation.intact import IntactPage
from tests.scribbles import scribble


@pytest.fixture(scope="session")
def scribbled_pages() -> list[IntactPage]:
    return [IntactPage.from_ink(f"page {seed}", scribble(seed)) for seed in range(4)]


@pytest.fixture(scope="session")
def small_towers(tmp_path_factory: pytest.TempPathFactory, scribbled_pages: list[IntactPage]) -> Path:
    """A model file of untrained towers, small enough to run in milliseconds."""
    pytest.importorskip("torch", reason="making a model needs deshred[train]")
    from deshred.compatibility.towers.network import TowerTask
    from deshred.compatibility.towers.scorer import TowerOptions

    task = TowerTask(scribbled_pages, options=TowerOptions(width=32, channels=(4, 4, 6, 8), features=8))
    path = tmp_path_factory.mktemp("models") / "small.onnx"
    task.export(task.network.eval(), path, task.identity)
    return path
