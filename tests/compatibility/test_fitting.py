"""What was fitted is in the model file and nothing else of it changed; the same pages teach the same."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="calibration needs deshred[train]")

from deshred.compatibility.fitting import (
    CalibrationResult,
    _fit_weights,
    _KnownPile,
    _Weighed,
    calibrate,
    write_calibration,
)
from deshred.compatibility.fusion import FusionScorer, FusionWeights
from deshred.compatibility.margins import Borders, Facing
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


def _pile(outline_noise: float) -> _KnownPile:
    """Thirty shreds in a row: ink sees every join, outlines see as much and noise of this size."""
    joins = np.stack([np.arange(29), np.arange(1, 30)], axis=1)
    seen = np.zeros((3, 30, 30), np.float32)
    seen[1, joins[:, 0], joins[:, 1]] = 4
    noise = np.random.default_rng(0).normal(0, outline_noise, seen.shape).astype(np.float32)
    nothing = np.zeros(30, np.float32)
    facing = Facing(nothing, nothing)
    return _KnownPile(
        _Weighed(seen, seen + noise), joins, facing, Borders(nothing, nothing, nothing, nothing)
    )


def test_evidence_that_misleads_loses_its_weight() -> None:
    prior = np.log(np.full(3, 1 / 3))
    clear, noisy = (_fit_weights([_pile(noise)], prior) for noise in (0.0, 8.0))
    assert noisy.outline < 0.3 * clear.outline
    assert noisy.ink > noisy.outline


def test_weights_that_a_pile_leaves_open_stay_near_the_usual_ones() -> None:
    pile = _pile(0.0)
    silent = np.zeros_like(pile.evidence.ink)
    fitted = _fit_weights([replace(pile, evidence=_Weighed(silent, silent))], np.log(np.full(3, 1 / 3)))
    assert (fitted.ink, fitted.outline) == pytest.approx((0.4, 0.8), rel=0.02)
