from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from deshred.arrangement import ArrangementOptions
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import ScoringOptions
from deshred.pipeline import reconstruct
from deshred.runs import CopiesWarning
from deshred.settings import Settings
from tests.conftest import SavedPile

ONE_PAGE = Settings(arrangement=ArrangementOptions(pages=1), scoring=ScoringOptions(block=3))


def test_a_file_that_is_given_twice_is_told_of(saved_pile: SavedPile, tmp_path: Path) -> None:
    files = sorted(saved_pile.folder.glob("s*.png"))[:3]
    for name, file in zip("abcde", [*files, files[0], files[0]], strict=True):
        shutil.copy(file, tmp_path / f"{name}.png")
    with pytest.warns(CopiesWarning, match=r"a\.png and .*d\.png and 1 more are the same file") as told:
        found = reconstruct([tmp_path], OutlineScorer(), settings=ONE_PAGE)
    assert len(told) == 1
    assert len(found.shreds) == 5  # all are kept
