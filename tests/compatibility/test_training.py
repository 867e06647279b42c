from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="training needs deshred[train]")

import onnx
import torch

from deshred.compatibility.fitting import calibrate, write_calibration
from deshred.compatibility.fusion import FusionScorer
from deshred.compatibility.towers.network import (
    TowerTask,
    TowerTrainingOptions,
    WindowOptions,
    load_weights,
    surprise_of,
)
from deshred.compatibility.towers.scorer import TowerOptions, TowersScorer
from deshred.compatibility.training import Report, TrainingOptions, train
from deshred.errors import InputError, ModelError, OutputError, SettingsError
from deshred.simulation.intact import IntactPage
from deshred.simulation.shredding import Damage

SMALL = TowerOptions(width=32, channels=(4, 4, 6, 8), features=8)
MILD = Damage(shift=8)
SHORT = WindowOptions(pages=2, cuts=6, rows=128)
LONG = WindowOptions(pages=1, cuts=4, rows=256, worth=0.5)


def _task(pages: list[IntactPage], steps: int = 6, seed: int = 0) -> TowerTask:
    training = TowerTrainingOptions(steps=steps, short=SHORT, long=LONG, seed=seed, damage=MILD)
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
        _task(scribbled_pages), tmp_path / "killed.onnx", options=replace(options, resume=True), average=0.9
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
        train(_task(scribbled_pages, seed=1), tmp_path / "m.onnx", options=replace(options, resume=True))
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
    scorer = FusionScorer(copy)
    assert scorer.weights == result.fusion
    assert scorer.calibration == replace(result.default, asks_for_fit=True)
    assert result.fusion.outline > 0


def test_a_model_whose_training_did_not_end_is_refused(small_towers: Path, tmp_path: Path) -> None:
    model = onnx.load(str(small_towers))
    properties = {prop.key: prop.value for prop in model.metadata_props}
    card = {key: value for key, value in json.loads(properties["deshred.card"]).items() if key != "fusion"}
    onnx.helper.set_model_props(model, {**properties, "deshred.card": json.dumps(card)})
    onnx.save(model, str(tmp_path / "bare.onnx"))
    with pytest.raises(ModelError, match="training was not finished"):
        FusionScorer(tmp_path / "bare.onnx")


def test_a_kill_while_a_model_is_refined_loses_nothing(
    tmp_path: Path, scribbled_pages: list[IntactPage]
) -> None:
    def die(_: Path) -> None:
        raise Killed

    file = tmp_path / "m.onnx"
    options = TrainingOptions(threads=1)
    with pytest.raises(Killed):
        train(_task(scribbled_pages), file, options=options, refine=die)
    assert not file.exists()
    refined: list[Path] = []
    steps: list[int] = []
    train(
        _task(scribbled_pages),
        file,
        options=replace(options, resume=True),
        refine=refined.append,
        report=lambda step, *_: steps.append(step),
    )
    assert file.is_file()
    assert len(refined) == 1
    assert not steps  # all of them were done


def test_nothing_of_the_user_is_overwritten(tmp_path: Path, scribbled_pages: list[IntactPage]) -> None:
    file, picture = tmp_path / "letters.onnx", tmp_path / "letters.png"
    picture.write_text("a page of mine")
    options = TrainingOptions(threads=1)
    train(_task(scribbled_pages, steps=1), file, options=options)
    first = file.read_bytes()
    with pytest.raises(OutputError, match=r"already exists.*--force"):
        train(_task(scribbled_pages, steps=2), file, options=options)
    assert file.read_bytes() == first
    train(_task(scribbled_pages, steps=2), file, options=replace(options, force=True))
    assert file.read_bytes() != first
    assert picture.read_text() == "a page of mine"


def test_a_checkpoint_goes_on_with_its_own_pages_only(
    tmp_path: Path, scribbled_pages: list[IntactPage]
) -> None:
    options = TrainingOptions(checkpoint_every=1, threads=1)
    with pytest.raises(Killed):
        train(_task(scribbled_pages), tmp_path / "m.onnx", options=options, report=_kill_at(2))
    others = [*scribbled_pages[1:], scribbled_pages[1]]
    with pytest.raises(ModelError, match="other options, pages"):
        train(_task(others), tmp_path / "m.onnx", options=replace(options, resume=True))


@pytest.mark.parametrize("wrong", [{"cuts": 1}, {"pages": 0}, {"rows": 255}])
def test_a_batch_that_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match="2 cuts"):
        WindowOptions(**{"pages": 2, "cuts": 6, "rows": 128, **wrong})


def test_every_third_batch_is_of_long_windows_unless_they_are_not_wanted() -> None:
    mixed = TowerTrainingOptions(short=SHORT, long=LONG)
    assert [mixed.windows(step) is mixed.long for step in range(6)] == [False, False, True] * 2
    short = TowerTrainingOptions(short=SHORT, long=LONG, long_every=0)
    assert all(short.windows(step) is short.short for step in range(6))


def test_the_weights_with_the_least_loss_are_kept(tmp_path: Path, scribbled_pages: list[IntactPage]) -> None:
    task = _task(scribbled_pages, steps=9)
    model = train(task, tmp_path / "m.onnx", options=TrainingOptions(threads=1))
    history = json.loads((tmp_path / "m.training.json").read_text())
    best = min(history, key=lambda figures: figures["validation loss"])
    card = TowersScorer(model).model.card
    assert card["best_step"] == best["step"]
    assert card["validation_loss"] == pytest.approx(best["validation loss"], abs=1e-5)


def test_a_model_that_was_replaced_is_read_again(small_towers: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.onnx"
    file.write_bytes(small_towers.read_bytes())
    before = TowersScorer(file)
    model = onnx.load(str(file))
    onnx.helper.set_model_props(
        model, {**{prop.key: prop.value for prop in model.metadata_props}, "note": "another"}
    )
    onnx.save(model, str(file))
    assert TowersScorer(file).card.fingerprint != before.card.fingerprint
    assert TowersScorer(file).model is TowersScorer(file).model


def test_any_blank_partner_is_as_right_as_the_true_one() -> None:
    scores = torch.tensor([[1.0, 2.0, 0.0], [0.5, 3.0, 1.0], [2.0, 0.0, 1.5]])
    blank = torch.tensor([True, False, True])
    surprise = surprise_of(scores, blank)
    share = scores.exp() / scores.exp().sum(1, keepdim=True)
    expected = -torch.stack([share[0, 0] + share[0, 2], share[1, 1], share[2, 0] + share[2, 2]]).log()
    torch.testing.assert_close(surprise, expected)
