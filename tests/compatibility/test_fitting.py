"""What was fitted is in the model file and nothing else of it changed; the same pages teach the same."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="calibration needs deshred[train]")

from deshred.compatibility.fitting import CalibrationResult, calibrate, write_calibration
from deshred.compatibility.fusion import FusionScorer, FusionWeights
from deshred.compatibility.models import open_model
from deshred.compatibility.towers.scorer import TowersScorer
from deshred.elements import Calibration
from deshred.errors import InputError
from deshred.simulation.intact import IntactPage

RESULT = CalibrationResult(
    FusionWeights(0.25, 0.75), Calibration(0.5, -1.0), Calibration(0.75, -2.0, beaten=0.25), 123
)


def test_scorers_use_what_was_written_into_the_model(small_towers: Path, tmp_path: Path) -> None:
    model = Path(shutil.copy(small_towers, tmp_path / "m.onnx"))
    before = open_model(model, "towers").card
    write_calibration(model, RESULT)
    after = open_model(model, "towers").card
    assert TowersScorer(model).calibration == RESULT.towers
    assert FusionScorer(model).calibration == replace(RESULT.default, asks_for_fit=True)
    assert after["fusion"] == {"ink": 0.25, "outline": 0.75}
    assert after["calibration_joins"] == 123
    assert {key: after[key] for key in before} == before
    assert [file.name for file in tmp_path.iterdir()] == ["m.onnx"]


def test_the_same_pages_and_seed_teach_the_same(
    small_towers: Path, scribbled_pages: list[IntactPage]
) -> None:
    first, again = (calibrate(small_towers, scribbled_pages[:1], seed=2, piles=1) for _ in range(2))
    assert first == again
    assert first.joins > 10
    assert first.fusion.ink > 0
    assert first.fusion.outline > 0
    assert min(first.towers.slope, first.default.slope) > 0


def test_without_pages_nothing_can_be_learned(small_towers: Path) -> None:
    with pytest.raises(InputError, match="at least one intact page"):
        calibrate(small_towers, [])
