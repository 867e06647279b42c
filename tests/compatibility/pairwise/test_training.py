from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs deshred[train]")

from deshred.compatibility.models import find_model, open_model  # noqa: E402
from deshred.compatibility.pairwise.network import FITS, PairwiseNetwork  # noqa: E402
from deshred.compatibility.pairwise.samples import SampleOptions  # noqa: E402
from deshred.compatibility.pairwise.squeezenet import file_checksum  # noqa: E402
from deshred.compatibility.pairwise.training import (  # noqa: E402
    PairwiseTask,
    PairwiseTrainingOptions,
    convert_pairwise,
    export_pairwise,
    import_pairwise,
)
from deshred.compatibility.training import TrainingOptions, read_tensors, train  # noqa: E402
from deshred.errors import InputError, ModelError, SettingsError  # noqa: E402
from deshred.imaging.decoding import encode_png  # noqa: E402
from deshred.simulation.intact import IntactPage  # noqa: E402
from tests.commands import run  # noqa: E402

# torch's exporter warns about itself
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

OPTIONS = SampleOptions(shreds=10, max_positives=8)
TRAINING = PairwiseTrainingOptions(epochs=2, batch=8, seed=4, validation_share=0.34)
SAVING = TrainingOptions(seed=4, threads=1, checkpoint_every=3)


def make_pages() -> list[IntactPage]:
    y, x = np.mgrid[:200, :600]
    return [
        IntactPage.from_ink(f"page{slope}", ((y + x * slope // 3) % 12 < 5).astype(np.uint8))
        for slope in (1, 2, 4)
    ]


def make_task(training: PairwiseTrainingOptions = TRAINING) -> PairwiseTask:
    return PairwiseTask(make_pages(), options=OPTIONS, training=training)


def train_and_die(output: str) -> None:
    """Run by another process, which kills itself in the middle."""
    import os

    def die(step: int, steps: int, _: object) -> None:
        if step == steps // 2 + 1:
            os.kill(os.getpid(), signal.SIGKILL)

    train(make_task(), Path(output), options=SAVING, report=die)


def test_training_killed_in_the_middle_and_resumed_gives_the_same_model(tmp_path: Path) -> None:
    killed = tmp_path / "killed.onnx"
    code = "import sys, tests.compatibility.pairwise.test_training as here; here.train_and_die(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, str(killed)], cwd=Path(__file__).parents[3], check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert not killed.exists()
    train(make_task(), killed, options=replace(SAVING, resume=True))
    whole = train(make_task(), tmp_path / "whole.onnx", options=SAVING)
    assert killed.read_bytes() == whole.read_bytes()


def test_the_model_carries_its_options_and_how_well_it_did(tmp_path: Path) -> None:
    task = make_task(PairwiseTrainingOptions(epochs=1, batch=8, seed=4, validation_share=0.34))
    card = open_model(train(task, tmp_path / "m.onnx", options=SAVING), "pairwise", 1).card
    assert card["options"]["columns"] == 32
    assert card["training"]["seed"] == 4
    assert card["pages"] == 3
    assert 0 <= card["validation_accuracy"] <= 1
    assert (tmp_path / "m.training.png").exists()


def test_a_checkpoint_of_other_options_is_refused(tmp_path: Path) -> None:
    output = tmp_path / "m.onnx"

    def stop(step: int, _: int, __: object) -> None:
        if step == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(make_task(), output, options=SAVING, report=stop)
    other = PairwiseTrainingOptions(epochs=2, batch=8, seed=5, validation_share=0.34)
    with pytest.raises(ModelError, match="other options"):
        train(make_task(other), output, options=replace(SAVING, resume=True))


def test_a_network_that_likes_everything_is_right_half_of_the_time() -> None:
    task = make_task()
    with torch.no_grad():
        task.network.plain.classifier[1].weight.zero_()
        task.network.plain.classifier[1].bias.copy_(torch.tensor([0.0, 2.0]))
    figures = task.validate(task.network)
    assert figures["accuracy"] == pytest.approx(0.5)
    assert figures["loss"] == pytest.approx((np.log1p(np.exp(2)) + np.log1p(np.exp(-2))) / 2, abs=1e-5)


def test_pages_are_either_trained_on_or_validated_on() -> None:
    task = make_task()
    names = {page.name for page in task.training_pages}, {page.name for page in task.validation_pages}
    assert not names[0] & names[1]
    assert len(names[0] | names[1]) == 3


def test_pages_of_one_file_are_on_one_side_when_there_are_enough_files() -> None:
    ink = make_pages()[0].ink
    pages = [IntactPage.from_ink(f"f{i // 3}.pdf[{i % 3}]", ink) for i in range(30)]
    task = PairwiseTask(pages, options=OPTIONS, training=PairwiseTrainingOptions(batch=8))
    assert len(task.validation_pages) == 3
    assert len({page.name.partition("[")[0] for page in task.validation_pages}) == 1
    few = PairwiseTask(pages[:3], options=OPTIONS, training=TRAINING)
    assert len(few.validation_pages) == 1


def test_fresh_samples_differ_between_epochs_and_kept_ones_do_not() -> None:
    for fresh in (True, False):
        task = make_task(PairwiseTrainingOptions(batch=16, fresh=fresh, validation_share=0.34))
        before = task._samples.bits.copy()
        task.loss(task.validate_every)
        assert np.array_equal(before, task._samples.bits) is not fresh


def test_pages_without_ink_are_refused_at_once() -> None:
    blank = [IntactPage.from_ink(f"blank{i}", np.zeros((200, 600), np.uint8)) for i in range(3)]
    with pytest.raises(InputError, match="no window"):
        PairwiseTask(blank, options=OPTIONS, training=TRAINING)


def write_page(path: Path, image: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_png(image))


def draw_unsuitable(kind: str) -> np.ndarray:
    if kind == "too small":
        return np.zeros((200, 300, 3), np.uint8)
    if kind == "white":
        return np.full((700, 700, 3), 255, np.uint8)
    colors = np.random.default_rng(0).integers(0, 256, (70, 70, 3), np.uint8)
    return colors.repeat(10, axis=0).repeat(10, axis=1)


UNSUITABLE = {"too small": "only 300 x 200 px", "white": "it is blank", "photo": "looks like a photograph"}


@pytest.mark.filterwarnings("always::deshred.simulation.intact.UnsuitablePageWarning")
@pytest.mark.parametrize("kind", UNSUITABLE)
def test_the_command_says_why_a_page_cannot_be_trained_on(kind: str, tmp_path: Path) -> None:
    write_page(tmp_path / "pages" / "bad.png", draw_unsuitable(kind))
    result = run("train", "pairwise", tmp_path / "pages", "-o", tmp_path / "m.onnx", "--quiet")
    assert result.exit_code == 3
    assert "bad.png" in result.stderr
    assert UNSUITABLE[kind] in result.stderr
    assert "no page to train on" in result.stderr


@pytest.mark.filterwarnings("always::deshred.simulation.intact.UnsuitablePageWarning")
def test_the_command_leaves_unsuitable_pages_out_and_trains_on_the_others(tmp_path: Path) -> None:
    for kind in UNSUITABLE:
        write_page(tmp_path / "pages" / f"{kind}.png", draw_unsuitable(kind))
    for number, page in enumerate(make_pages()):
        ink = np.tile(page.ink, (4, 2))[:, :, None].repeat(3, axis=2)
        write_page(tmp_path / "pages" / f"good{number}.png", 255 * (1 - ink))
    model = tmp_path / "m.onnx"
    flags = [
        "--epochs",
        "1",
        "--batch",
        "8",
        "--max-positives",
        "8",
        "--learning-rate",
        "0.001",
        "--threads",
        "1",
    ]
    result = run("train", "pairwise", tmp_path / "pages", "-o", model, *flags)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.count("left out of training") == len(UNSUITABLE)
    card = open_model(model, "pairwise", 1).card
    assert card["pages"] == 3
    assert card["training"]["learning_rate"] == 0.001


def test_a_single_page_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="at least 2 pages"):
        PairwiseTask(make_pages()[:1], options=OPTIONS, training=TRAINING)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"epochs": 0}, "at least 1 epoch"),
        ({"batch": 1}, "batches of 2"),
        ({"validation_share": 1.0}, "validation_share must"),
        ({"dropout": 1.0}, "dropout must"),
        ({"learning_rate": 0.0}, "learning_rate must"),
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, float], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        PairwiseTrainingOptions(**wrong)  # type: ignore[arg-type]


def test_a_model_read_back_gives_the_same_map(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    export_pairwise(make_task().network.eval().fold(), file, options=OPTIONS, card={})
    rng = np.random.default_rng(0)
    rights, lefts = (rng.integers(0, 2, (1, 96, 16), np.uint8) for _ in range(2))
    network = PairwiseNetwork(open_model(file, "pairwise", 1))
    found = network.join(network.look("right", rights), network.look("left", lefts))
    ink = torch.from_numpy(np.concatenate([rights, lefts], axis=2)[:, None].astype(np.float32))
    with torch.no_grad():
        again = import_pairwise(file, options=OPTIONS).eval().map(ink)[..., 0].numpy()
    np.testing.assert_allclose(again[:, FITS] - again[:, 1 - FITS], found, atol=1e-5)


def test_a_model_that_is_laid_out_anew_keeps_its_weights_bytes_and_card(tmp_path: Path) -> None:
    shipped, again = find_model("pairwise-cdip"), tmp_path / "again.onnx"
    convert_pairwise(shipped, again)
    before, after = read_tensors(shipped), read_tensors(again)
    assert before.keys() == after.keys()
    assert all(bool((before[name] == after[name]).all()) for name in before)
    assert open_model(again, "pairwise", 1).card == open_model(shipped, "pairwise", 1).card


def test_a_model_of_another_kind_is_not_laid_out_anew(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is a towers model"):
        convert_pairwise("towers-cdip", tmp_path / "again.onnx")


def test_training_goes_on_from_a_model(tmp_path: Path) -> None:
    first = train(make_task(), tmp_path / "first.onnx", options=SAVING)
    more = PairwiseTrainingOptions(epochs=1, batch=8, seed=4, validation_share=0.34, init=first)
    task = make_task(more)
    assert task.validate(task.network)["accuracy"] == pytest.approx(
        open_model(first, "pairwise", 1).card["validation_accuracy"], abs=1e-5
    )
    assert open_model(train(task, tmp_path / "second.onnx", options=SAVING), "pairwise", 1).card["training"][
        "init"
    ] == file_checksum(first)


def test_a_model_of_another_window_size_is_no_start(tmp_path: Path) -> None:
    first = train(make_task(), tmp_path / "first.onnx", options=SAVING)
    with pytest.raises(SettingsError, match="32 x 32 px, not 64 x 32"):
        import_pairwise(first, options=SampleOptions(rows=64))
