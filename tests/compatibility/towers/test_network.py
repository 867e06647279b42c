"""What the towers learn from: scores over shifts, surprise, and batches, held against plain loops."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the network needs deshred[train]")

from deshred.compatibility.towers.network import (  # noqa: E402
    Towers,
    TowerTask,
    TowerTrainingOptions,
    WindowOptions,
    hold_out,
    load_towers,
    load_weights,
    surprise_of,
)
from deshred.compatibility.towers.scorer import TowerOptions  # noqa: E402
from deshred.errors import InputError, ModelError, SettingsError  # noqa: E402
from deshred.simulation.intact import IntactPage  # noqa: E402

SMALL = TowerOptions(width=32, channels=(4, 4, 6, 8), features=8)  # as the small model of the fixture
SHORT = WindowOptions(pages=1, cuts=4, rows=64)
TINY = TowerTrainingOptions(steps=3, short=SHORT, long=SHORT)


def test_scores_are_those_of_a_plain_loop_over_shifts() -> None:
    torch.manual_seed(0)
    towers = Towers(SMALL)
    with torch.no_grad():
        towers.shift_bias.normal_()
    rights, lefts = torch.randn(2, 12, 3), torch.randn(4, 12, 3)
    prior = towers.shift_bias.log_softmax(0)
    for i in range(2):
        for j in range(4):
            total = []
            for place, shift in enumerate(range(-SMALL.shifts, SMALL.shifts + 1)):
                nats = sum(
                    float(rights[i, row] @ lefts[j, row + shift])
                    for row in range(12)
                    if 0 <= row + shift < 12
                )
                total.append(nats + float(prior[place].detach()))
            expected = float(np.logaddexp.reduce(total))
            assert towers.scores(rights, lefts)[i, j].item() == pytest.approx(expected, abs=1e-4)


def test_an_edge_has_features_for_every_fourth_row() -> None:
    right, left = Towers(SMALL).eval()(torch.zeros(3, 64, 32), torch.zeros(2, 32, 32))
    assert right.shape == (3, 16, 8)
    assert left.shape == (2, 8, 8)


def test_surprise_is_how_unlikely_the_true_partner_is_and_any_blank_one_counts() -> None:
    scores = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    blank = torch.tensor([False, True, False, True])
    found = surprise_of(scores, blank)
    shares = scores.softmax(1)
    for i in range(4):
        right = [1, 3] if blank[i] else [i]
        assert found[i].item() == pytest.approx(-float(shares[i, right].sum().log()), abs=1e-5)


def test_every_third_batch_has_long_windows_unless_never() -> None:
    options = TowerTrainingOptions()
    assert [options.windows(step) is options.long for step in range(6)] == [False, False, True] * 2
    never = TowerTrainingOptions(long_every=0)
    assert not any(never.windows(step) is never.long for step in range(6))


@pytest.mark.parametrize("wrong", [{"pages": 0}, {"cuts": 1}, {"rows": 0}, {"rows": 6}])
def test_batches_that_cannot_be_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(SettingsError, match="a batch has"):
        WindowOptions(**{"pages": 1, "cuts": 2, "rows": 8, **wrong})


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"steps": -5}, "at least 1 step, got -5"),
        ({"steps": 0}, "at least 1 step, got 0"),
        ({"precision": "int8"}, "float32 or bfloat16"),
        ({"seed": -1}, "got -1 and"),
        ({"long_every": -1}, "and -1"),
    ],
)
def test_trainings_that_cannot_be_are_refused(wrong: dict[str, object], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        TowerTrainingOptions(**wrong)


def test_a_page_is_trained_on_or_validated_on(scribbled_pages: list[IntactPage]) -> None:
    task = TowerTask(scribbled_pages, options=SMALL, training=TINY)
    names = [page.name for page in (*task.training_pages, *task.validation_pages)]
    assert sorted(names) == sorted(page.name for page in scribbled_pages)
    with pytest.raises(InputError, match="at least 2 pages"):
        TowerTask(scribbled_pages[:1], options=SMALL)


@pytest.mark.parametrize("anneal", [True, False])
def test_the_learning_rate_falls_unless_others_are_to_start_from_here(
    anneal: bool, scribbled_pages: list[IntactPage]
) -> None:
    training = TowerTrainingOptions(steps=400, short=SHORT, long=SHORT, anneal=anneal)
    task = TowerTask(scribbled_pages, options=SMALL, training=training)
    rates = []
    for _ in range(training.steps):
        rates.append(task.optimizer.param_groups[0]["lr"])
        task.optimizer.step()
        task.schedule.step()
    assert rates[0] < 0.1 * training.learning_rate
    assert max(rates) == pytest.approx(training.learning_rate, rel=1e-3)
    last = rates[-1] / training.learning_rate
    assert last < 1e-3 if anneal else last == pytest.approx(1)


def test_a_twentieth_is_held_out_and_of_a_single_page_nothing(scribbled_pages: list[IntactPage]) -> None:
    many = 10 * scribbled_pages[:4]
    assert [len(hold_out(many, 0).training), len(hold_out(many, 0).held_out)] == [38, 2]
    assert not hold_out(many[:1], 0).held_out


def test_a_step_has_the_same_loss_again(scribbled_pages: list[IntactPage]) -> None:
    losses = []
    for _ in range(2):
        task = TowerTask(scribbled_pages, options=SMALL, training=TINY)
        losses.append([task.loss(step)[0].item() for step in range(2)])
    assert losses[0] == losses[1]
    assert losses[0][0] != losses[0][1]


def test_a_training_starts_from_the_weights_of_a_model(
    small_towers: Path, scribbled_pages: list[IntactPage]
) -> None:
    task = TowerTask(scribbled_pages, options=SMALL, training=TINY, init=load_weights(small_towers))
    original = TowerTask(scribbled_pages, options=SMALL)
    for name, weight in task.network.right.named_parameters():
        torch.testing.assert_close(weight, dict(original.network.right.named_parameters())[name])
    assert task.identity["init_sha256"] != original.identity["init_sha256"]


def test_weights_of_another_shape_are_refused(small_towers: Path, scribbled_pages: list[IntactPage]) -> None:
    other = TowerOptions(width=32, channels=(4, 4, 6, 10), features=8)
    with pytest.raises(ModelError, match="another shape"):
        TowerTask(scribbled_pages, options=other, init=load_weights(small_towers))
    lacking = {name: weight for name, weight in load_weights(small_towers).items() if "head" not in name}
    with pytest.raises(ModelError, match="lacks"):
        TowerTask(scribbled_pages, options=SMALL, init=lacking)


def test_a_student_learns_what_its_teacher_sees(
    small_towers: Path, scribbled_pages: list[IntactPage]
) -> None:
    teacher = load_towers(small_towers)
    narrow = TowerOptions(width=32, channels=(3, 4, 5, 6), features=8)
    training = TowerTrainingOptions(steps=12, short=SHORT, long=SHORT, learning_rate=1e-2)
    student = TowerTask(scribbled_pages, options=narrow, training=training, teacher=teacher)
    assert student.network.log_scale.item() == teacher.log_scale.item()
    alone = TowerTask(scribbled_pages, options=narrow, training=training)
    assert student.identity["teacher_sha256"] == teacher.fingerprint()
    assert "teacher_sha256" not in alone.identity
    unlike = []
    for step in range(training.steps):
        student.network.train()
        loss, _ = student.loss(0)
        student.optimizer.zero_grad()
        loss.backward()
        student.optimizer.step()
        unlike.append(loss.item())
        assert step or loss.item() > alone.loss(0)[0].item()  # it pays for what it does not see
    assert unlike[-1] < 0.9 * unlike[0]


def test_a_student_is_chosen_by_its_surprise_alone(
    small_towers: Path, scribbled_pages: list[IntactPage]
) -> None:
    taught = TowerTask(scribbled_pages, options=SMALL, training=TINY, teacher=load_towers(small_towers))
    alone = TowerTask(scribbled_pages, options=SMALL, training=TINY)
    assert taught.validate(taught.network) == alone.validate(taught.network)
