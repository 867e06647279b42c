from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs deshred[train]")

from deshred.compatibility.fusion import FusionScorer
from deshred.compatibility.models import find_model, open_model
from deshred.compatibility.towers.network import TowerTrainingOptions, WindowOptions
from deshred.compatibility.towers.training import TowerRecipe, train_on, train_towers
from deshred.compatibility.training import TrainingOptions
from deshred.errors import InputError, SettingsError
from deshred.simulation.intact import draw_intact

TINY = TowerTrainingOptions(
    steps=2,
    short=WindowOptions(pages=1, cuts=4, rows=64),
    long=WindowOptions(pages=1, cuts=3, rows=128),
    long_every=2,
)


def test_a_recipe_gives_the_same_calibrated_model_again(tmp_path: Path) -> None:
    recipe = TowerRecipe(drawn=3, piles=1, looks=1)
    first, second = (
        train_towers(
            [], tmp_path / f"{i}.onnx", recipe=recipe, training=TINY, options=TrainingOptions(threads=1)
        )
        for i in range(2)
    )
    assert FusionScorer(first).calibration is not None
    assert FusionScorer(first).close_look is not None
    assert FusionScorer(first).model.card == FusionScorer(second).model.card


def test_a_network_that_others_start_from_is_not_calibrated_and_does_not_change_what_is_held_out(
    tmp_path: Path,
) -> None:
    pages = draw_intact(4, np.random.default_rng(0))
    base = train_on(
        [pages[:2]],
        tmp_path / "base.onnx",
        recipe=TowerRecipe(),
        training=replace(TINY, anneal=False),
        options=TrainingOptions(threads=1),
    )
    assert "calibration" not in open_model(base, "towers").card
    made = train_on(
        [pages[:2], pages[2:], []],
        tmp_path / "made.onnx",
        recipe=TowerRecipe(init=str(base), piles=1, looks=0),
        training=replace(TINY, seed=1),
        options=TrainingOptions(threads=1),
    )
    assert open_model(made, "towers").card["init_sha256"]
    assert FusionScorer(made).calibration is not None


def test_a_recipe_without_pages_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 2 pages"):
        train_towers([], tmp_path / "m.onnx")
    with pytest.raises(SettingsError, match="piles at least 1"):
        TowerRecipe(piles=0)


def test_a_student_of_a_shipped_model_has_its_features_and_fewer_weights(tmp_path: Path) -> None:
    recipe = TowerRecipe(drawn=3, piles=1, looks=0, teacher="towers-isri")
    made = train_towers(
        [], tmp_path / "m.onnx", recipe=recipe, training=TINY, options=TrainingOptions(threads=1)
    )
    student, teacher = FusionScorer(made).model, FusionScorer("towers-isri").model
    assert student.card["options"]["features"] == teacher.card["options"]["features"]
    assert student.card["options"]["channels"] < teacher.card["options"]["channels"]
    assert made.stat().st_size < 0.6 * find_model("towers-isri").stat().st_size
