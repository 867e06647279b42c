from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import ScoringOptions
from deshred.elements import Constraints
from deshred.pipeline import reconstruct
from deshred.runs import CopiesWarning, Run
from deshred.settings import Settings
from deshred.shelf import Shelf
from tests.conftest import SavedPile
from tests.shelves import lies_on_disk

ONE_PAGE = Settings(arrangement=ArrangementOptions(pages=1), scoring=ScoringOptions(block=3))


def test_a_file_that_is_given_twice_is_told_of(saved_pile: SavedPile, tmp_path: Path) -> None:
    files = sorted(saved_pile.folder.glob("s*.png"))[:3]
    for name, file in zip("abcde", [*files, files[0], files[0]], strict=True):
        shutil.copy(file, tmp_path / f"{name}.png")
    with pytest.warns(CopiesWarning, match=r"a\.png and .*d\.png and 1 more are the same file") as told:
        found = reconstruct([tmp_path], OutlineScorer(), settings=ONE_PAGE)
    assert len(told) == 1
    assert len(found.shreds) == 5  # all are kept


def test_a_pile_beyond_memory_gives_the_same(saved_pile: SavedPile) -> None:
    done = reconstruct([saved_pile.folder], OutlineScorer(), settings=ONE_PAGE)
    run = Run(ONE_PAGE, shelf=Shelf(room=0))
    pile = run.prepare(run.load([saved_pile.folder]).shreds, OutlineScorer(), Constraints())
    assert lies_on_disk(pile.shreds[0].image)
    assert pile.shreds.fingerprint == done.shreds.fingerprint
    compatibility = run.score(pile, OutlineScorer()).compatibility
    arrangement = run.refine(run.arrange(compatibility, Constraints()), compatibility, pile)
    assert arrangement == done.arrangement
    pages = run.compose(pile, arrangement, compatibility)
    assert np.array_equal(pages[0].image, done.pages[0].image)


def test_every_verb_has_its_seconds(saved_pile: SavedPile) -> None:
    run = Run(ONE_PAGE)
    run.prepare(run.load([saved_pile.folder]).shreds, OutlineScorer(), Constraints())
    assert list(run.watch.seconds) == ["decode", "prepare"]
