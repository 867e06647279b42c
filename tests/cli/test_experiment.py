"""`deshred experiment`: four experiments, and help that loads none of them."""

from __future__ import annotations

import subprocess
import sys

from tests.commands import run


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
