"""`deshred train`: help without torch, and how to get it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from deshred.cli.train import command
from tests.commands import run


@pytest.mark.parametrize("kind", ["pairwise", "towers"])
def test_without_torch_training_says_how_to_get_it(kind: str) -> None:
    script = "import sys; sys.modules['torch'] = None; from deshred.cli import main; main()"
    for args in (["--help"], ["x", "-o", "m.onnx"]):
        given = [sys.executable, "-c", script, "train", kind, *args]
        done = subprocess.run(given, capture_output=True, text=True, check=False)
        assert done.returncode == 8
        assert "pip install 'deshred[train]'" in done.stderr
        assert done.stderr.count("\n") == 1


def test_help_lists_the_networks_without_torch() -> None:
    script = "import sys; sys.modules['torch'] = None; from deshred.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "train", "--help"], capture_output=True, text=True, check=True
    )
    listed = [line.split()[0] for line in done.stdout.partition("Commands:")[2].splitlines() if line]
    assert listed == list(command.summaries)
    assert {"towers", "pairwise", "pile"} <= set(listed)


def test_a_network_that_nobody_knows_has_exit_code_2() -> None:
    done = run("train", "magic")
    assert done.exit_code == 2
    assert "No such command 'magic'" in done.stderr
