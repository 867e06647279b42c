"""A tiny collection to experiment with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.drawn_collections import write_collection


@pytest.fixture(scope="session")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two documents of four and three shreds; not to be written to."""
    pytest.importorskip("matplotlib", reason="plots need deshred[plots]")
    return write_collection(tmp_path_factory.mktemp("experiments") / "drawn", [4, 3])
