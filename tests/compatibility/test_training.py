from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs deshred[train]")

import torch

from deshred.compatibility.calibration import calibrate, write_calibration
from deshred.compatibility.fusion import FusionScorer
from deshred.compatibility.shredding import Damage
from deshred.compatibility.tower_network import (
    TowerTask,
    TowerTrainingOptions,
    load_weights,
    surprise_of,
)
from deshred.compatibility.towers import TowerOptions
from deshred.compatibility.training import Report, TrainingOptions, train
from deshred.errors import InputError, ModelError, OutputError, SettingsError
from deshred.imaging.intact import IntactPage

SMALL = TowerOptions(width=32, channels=(4, 4, 6, 8), features=8)
MILD = Damage(shift=8)


def _task(pages: list[IntactPage], steps: int = 6, seed: int = 0) -> TowerTask:
    training = TowerTrainingOptions(steps=steps, pages=2, cuts=6, rows=128, seed=seed, damage=MILD)
    task = TowerTask(pages, options=SMALL, training=training)
    task.validate_every = 3
    return task


class Killed(Exception):
    pass


def _kill_at(step: int) -> Report:
    def report(done: int, _steps: int, _figures: object) -> None:
        if done == step:
            raise Killed

    return report


def test_a_training_that_was_killed_and_resumed_gives_the_same_weights(
    tmp_path: Path, scribbled_pages: list[IntactPage]
) -> None:
    options = TrainingOptions(checkpoint_every=2, threads=1)
    whole = train(_task(scribbled_pages), tmp_path / "whole.onnx", options=options, average=0.9)
    with pytest.raises(Killed):
        train(
            _task(scribbled_pages),
            tmp_path / "killed.onnx",
            options=options,
            average=0.9,
            report=_kill_at(5),  # one step after the last checkpoint
        )
    resumed = train(
        _task(scribbled_pages), tmp_path / "killed.onnx", options=options, average=0.9, resume=True
    )
    expected, found = load_weights(whole), load_weights(resumed)
    assert expected.keys() == found.keys()
    for name in expected:
        torch.testing.assert_close(found[name], expected[name], rtol=0, atol=0)


def test_training_lowers_the_loss(tmp_path: Path, scribbled_pages: list[IntactPage]) -> None:
    losses: list[float] = []
    task = _task(scribbled_pages, steps=40)
    task.validate_every = 100

    def report(_done: int, _steps: int, figures: Mapping[str, float]) -> None:
        if "loss" in figures:
            losses.append(figures["loss"])

    train(task, tmp_path / "model.onnx", options=TrainingOptions(threads=1), report=report)
    assert np.mean(losses[-5:]) < np.mean(losses[:5])


def test_another_seed_cannot_resume_a_checkpoint(tmp_path: Path, scribbled_pages: list[IntactPage]) -> None:
    options = TrainingOptions(checkpoint_every=1, threads=1)
    with pytest.raises(Killed):
        train(_task(scribbled_pages), tmp_path / "m.onnx", options=options, report=_kill_at(2))
    with pytest.raises(ModelError, match="other options"):
        train(_task(scribbled_pages, seed=1), tmp_path / "m.onnx", options=options, resume=True)
    with pytest.raises(OutputError, match="--resume"):
        train(_task(scribbled_pages), tmp_path / "m.onnx", options=options)


def test_a_place_that_cannot_be_written_is_found_out_at_once(
    tmp_path: Path, scribbled_pages: list[IntactPage]
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        train(_task(scribbled_pages), tmp_path / "file" / "m.onnx")
    with pytest.raises(SettingsError, match="onnx"):
        train(_task(scribbled_pages), tmp_path / "m.pt")


def test_one_page_is_too_few(scribbled_pages: list[IntactPage]) -> None:
    with pytest.raises(InputError, match="at least 2 pages"):
        _task(scribbled_pages[:1])


def test_a_training_can_start_from_a_model_and_refuses_one_of_another_shape(
    small_towers: Path, scribbled_pages: list[IntactPage]
) -> None:
    weights = load_weights(small_towers)
    task = TowerTask(scribbled_pages, options=SMALL, init=weights)
    torch.testing.assert_close(task.network.right.stem[0].weight, weights["right.stem.0.weight"])
    with pytest.raises(ModelError, match="another shape"):
        TowerTask(scribbled_pages, options=TowerOptions(width=32, channels=(4, 4, 4, 4)), init=weights)


def test_calibration_is_written_into_the_model(
    tmp_path: Path, small_towers: Path, scribbled_pages: list[IntactPage]
) -> None:
    copy = tmp_path / "copy.onnx"
    copy.write_bytes(small_towers.read_bytes())
    result = calibrate(copy, scribbled_pages[:2], piles=1)
    write_calibration(copy, result)
    calibrated = tmp_path / "calibrated.onnx"
    copy.rename(calibrated)
    scorer = FusionScorer(calibrated)
    assert scorer.weights == result.fusion
    assert scorer.calibration == result.default
    assert result.fusion.outline > 0


def test_any_blank_partner_is_as_right_as_the_true_one() -> None:
    scores = torch.tensor([[1.0, 2.0, 0.0], [0.5, 3.0, 1.0], [2.0, 0.0, 1.5]])
    blank = torch.tensor([True, False, True])
    surprise = surprise_of(scores, blank)
    share = scores.exp() / scores.exp().sum(1, keepdim=True)
    expected = -torch.stack([share[0, 0] + share[0, 2], share[1, 1], share[2, 0] + share[2, 2]]).log()
    torch.testing.assert_close(surprise, expected)
