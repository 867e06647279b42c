"""Pages to learn from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deshred.imaging.decoding import encode_png
from deshred.simulation.drawing import draw_page


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Most of two drawn pages; not to be written to."""
    pytest.importorskip("torch", reason="training needs deshred[train]")
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(2)
    for name in ("one", "two"):
        (folder / f"{name}.png").write_bytes(encode_png(draw_page("text", rng)[:2600]))
    return folder
