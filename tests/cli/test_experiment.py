"""`deshred experiment`: four experiments, and help that loads none of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import run
from tests.evaluation.drawn_collections import write_collection

# a module that is None in sys.modules upsets SciPy, which looks for torch there
HIDE = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name == "{hidden}":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Hidden())
from deshred.cli import main
main()
"""


def test_help_lists_the_experiments_without_matplotlib() -> None:
    script = (
        "import sys; sys.modules['matplotlib'] = None; from deshred.cli import main\n"
        "try: main()\nfinally: print('deshred.evaluation' in sys.modules)"
    )
    command = [sys.executable, "-c", script, "experiment", "--help"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    listed = lines[lines.index("Commands:") + 1 : -1]
    assert [line.split()[0] for line in listed] == ["incremental", "ablation", "comparison", "feedback"]
    assert lines[-1] == "False"


def test_an_experiment_that_nobody_knows_has_exit_code_2() -> None:
    done = run("experiment", "magic")
    assert done.exit_code == 2
    assert "No such command 'magic'" in done.stderr


@pytest.mark.parametrize(
    ("experiment", "hidden", "flags", "remedy"),
    [
        ("ablation", "torch", ("--steps", "2", "--factors", "rho_black", "--pages", "."), "deshred[train]"),
        *((name, "matplotlib", (), "deshred[plots]") for name in ("incremental", "comparison", "feedback")),
    ],
)
def test_what_is_not_installed_is_told_before_anything_is_measured(
    experiment: str, hidden: str, flags: tuple[str, ...], remedy: str, tmp_path: Path
) -> None:
    folder, out = write_collection(tmp_path / "drawn", [2]), tmp_path / "out"
    script = HIDE.format(hidden=hidden)
    command = [sys.executable, "-c", script, "experiment", experiment, str(folder), "-o", str(out), *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 8
    assert remedy in done.stderr
    assert not out.exists()
