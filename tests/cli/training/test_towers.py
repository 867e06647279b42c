"""`deshred train towers`: recipes that cannot be trained are refused, each with its code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import run


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (("--steps", "0"), 2, "at least 1 step"),
        (("--precision", "float8"), 2, "--precision"),
        (("--drawn", "-1"), 2, "drawn, scripts and looks must be at least 0"),
        (("--piles", "0"), 2, "piles at least 1"),
        (("--threads", "-1"), 2, "threads"),
        (("--init", "nowhere.onnx"), 6, "nowhere.onnx"),
        (("--init", "pairwise-cdip"), 6, "pairwise-cdip"),
    ],
)
def test_what_cannot_be_trained_has_its_own_exit_code(
    flags: tuple[str, str], code: int, told: str, pages: Path, tmp_path: Path
) -> None:
    done = run("train", "towers", pages, "-o", tmp_path / "m.onnx", *flags, "-q")
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_folder_without_pages_has_exit_code_3(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="training needs deshred[train]")
    done = run("train", "towers", tmp_path, "-o", tmp_path / "m.onnx", "-q")
    assert done.exit_code == 3
    assert str(tmp_path) in done.stderr


def test_a_model_that_is_there_is_not_replaced_unasked(pages: Path, tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"weeks of work")
    done = run("train", "towers", pages, "-o", tmp_path / "m.onnx", "--steps", 1, "-q")
    assert done.exit_code == 4
    assert "--force" in done.stderr
    assert (tmp_path / "m.onnx").read_bytes() == b"weeks of work"
