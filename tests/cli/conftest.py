"""A finished case for the commands that begin with one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deshred.arrangement import ArrangementOptions
from deshred.export.results import reconstruct_into
from deshred.settings import Settings
from tests.conftest import SavedPile


@pytest.fixture(scope="session")
def finished_case(saved_pile: SavedPile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One page of eight shreds, by their outlines; not to be written to."""
    folder = tmp_path_factory.mktemp("cases") / "case"
    settings = Settings(scorer="outline", arrangement=ArrangementOptions(pages=1))
    reconstruct_into(folder, [saved_pile.folder], settings=settings)
    return folder


@pytest.fixture
def own_case(finished_case: Path, tmp_path: Path) -> Path:
    """A copy to write to, which still finds its scans."""
    copy = tmp_path / "cases" / "case"
    shutil.copytree(finished_case, copy)
    scans = finished_case.parent.parent
    for folder in scans.iterdir():
        if folder.name.startswith("pile"):
            (tmp_path / folder.name).symlink_to(folder)
    return copy
