"""A drawn collection for the experiments."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.drawn_collections import write_collection


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents of 4, 3 and 5 shreds; not to be written to."""
    return write_collection(tmp_path_factory.mktemp("data") / "drawn", [4, 3, 5])
