from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs deshred[train]")

from deshred.compatibility.models import open_model
from deshred.compatibility.towers.teaching import TeachingOptions, teach
from deshred.compatibility.training import TrainingOptions
from deshred.elements import Shred
from deshred.errors import InputError, OutputError, SettingsError
from deshred.simulation.intact import IntactPage
from deshred.simulation.shredding import ShreddingOptions, shred_page


@pytest.fixture(scope="module")
def shreds(scribbled_pages: list[IntactPage]) -> list[Shred]:
    rng = np.random.default_rng(0)
    found = []
    for name, page in enumerate(scribbled_pages):
        image = np.repeat(255 * (1 - page.ink[:, :, None]), 3, axis=2)
        cut = shred_page(image, rng, options=ShreddingOptions(shreds=5))
        found += [one.to_shred(f"{name}-{i}") for i, one in enumerate(cut)]
    return found


def test_a_pile_teaches_a_weak_model(shreds: list[Shred], small_towers: Path, tmp_path: Path) -> None:
    lesson = teach(
        shreds,
        tmp_path / "taught.onnx",
        options=TeachingOptions(init=str(small_towers), steps=30, learning_rate=2e-2),
        training=TrainingOptions(threads=1),
    )
    assert lesson.is_kept
    assert lesson.after < 0.98 * lesson.before
    assert (
        open_model(lesson.model, "towers").card["options"]
        == open_model(small_towers, "towers").card["options"]
    )
    assert [path.name for path in tmp_path.iterdir()] == ["taught.onnx"]


def test_what_is_no_better_is_not_kept(shreds: list[Shred], small_towers: Path, tmp_path: Path) -> None:
    options = TeachingOptions(init=str(small_towers), steps=1, learning_rate=1e-12)
    lesson = teach(shreds, tmp_path / "taught.onnx", options=options, training=TrainingOptions(threads=1))
    assert not lesson.is_kept
    assert lesson.model == small_towers
    assert not list(tmp_path.iterdir())


def test_a_pile_of_few_shreds_teaches_nothing(
    shreds: list[Shred], small_towers: Path, tmp_path: Path
) -> None:
    options = TeachingOptions(init=str(small_towers))
    with pytest.raises(InputError, match="3 of 3 shreds"):
        teach(shreds[:3], tmp_path / "taught.onnx", options=options)
    (tmp_path / "there.onnx").write_bytes(b"mine")
    with pytest.raises(OutputError, match="already exists"):
        teach(shreds, tmp_path / "there.onnx", options=options)
    with pytest.raises(SettingsError, match="steps must be at least 1"):
        TeachingOptions(steps=0)
