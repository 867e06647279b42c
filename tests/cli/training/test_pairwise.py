"""`deshred train pairwise`: a model file that says how it was made, and exact codes for what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deshred.compatibility.models import open_model
from tests.commands import run


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's exporter warns about itself
def test_the_flags_become_the_card_of_the_model(pages: Path, tmp_path: Path) -> None:
    flags = ("--epochs", 1, "--batch", 8, "--max-positives", 8, "--seed", 3, "--min-ink", 0.1, "--threads", 1)
    done = run("train", "pairwise", pages, "-o", tmp_path / "m.onnx", *flags, "-q", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"model": str(tmp_path / "m.onnx")}
    card = open_model(tmp_path / "m.onnx", "pairwise", 1).card
    assert (card["training"]["seed"], card["training"]["batch"]) == (3, 8)
    assert (card["options"]["min_ink"], card["pages"]) == (0.1, 2)


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (("--epochs", "0"), 2, "at least 1 epoch"),
        (("--rows", "33"), 2, "32 or 64 px"),
        (("--learning-rate", "0"), 2, "learning_rate must be above 0"),
        (("--init", "nowhere.onnx"), 6, "nowhere.onnx"),
    ],
)
def test_what_cannot_be_trained_has_its_own_exit_code(
    flags: tuple[str, str], code: int, told: str, pages: Path, tmp_path: Path
) -> None:
    done = run("train", "pairwise", pages, "-o", tmp_path / "m.onnx", *flags, "-q")
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr
    assert not list(tmp_path.iterdir())


def test_one_page_is_not_enough_to_train_and_to_validate_on(pages: Path, tmp_path: Path) -> None:
    done = run("train", "pairwise", pages / "one.png", "-o", tmp_path / "m.onnx", "-q")
    assert done.exit_code == 3
    assert "at least 2 pages" in done.stderr


def test_a_model_that_is_there_is_not_replaced_unasked(pages: Path, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"weeks of work")
    flags = ("--epochs", 1, "--max-positives", 8, "-q")
    done = run("train", "pairwise", pages, "-o", tmp_path / "m.onnx", *flags)
    assert done.exit_code == 4
    assert "--force" in done.stderr
    assert (tmp_path / "m.onnx").read_bytes() == b"weeks of work"
