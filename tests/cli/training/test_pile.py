"""`deshred train pile`: what a pile cannot teach is refused, each with its code, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import run
from tests.conftest import SavedPile

pytest.importorskip("torch", reason="training needs deshred[train]")


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (("--steps", "0"), 2, "step"),
        (("--seed", "-1"), 2, "seed"),
        (("--threads", "-1"), 2, "threads"),
        (("--init", "nowhere.onnx"), 6, "nowhere.onnx"),
        (("--init", "pairwise-cdip"), 6, "pairwise-cdip"),
    ],
)
def test_what_cannot_be_taught_has_its_own_exit_code(
    flags: tuple[str, str], code: int, told: str, saved_pile: SavedPile, tmp_path: Path
) -> None:
    done = run("train", "pile", saved_pile.folder, "-o", tmp_path / "m.onnx", *flags, "-q")
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr
    assert not list(tmp_path.iterdir())


def test_too_few_shreds_teach_nothing(saved_pile: SavedPile, tmp_path: Path) -> None:
    scans = sorted(saved_pile.folder.glob("s*.png"))[:2]
    done = run("train", "pile", *scans, "-o", tmp_path / "m.onnx", "-q")
    assert (done.exit_code, done.stdout) == (3, "")
    assert "2 of 2 shreds" in done.stderr


def test_a_model_that_is_there_is_not_replaced_unasked(saved_pile: SavedPile, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"weeks of work")
    done = run("train", "pile", saved_pile.folder, "-o", tmp_path / "m.onnx", "-q")
    assert done.exit_code == 4
    assert "already exists" in done.stderr
    assert (tmp_path / "m.onnx").read_bytes() == b"weeks of work"
