"""Experiments that are killed: the same command goes on, and ends with what an undisturbed run has."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="plots need deshred[plots]")

from tests.evaluation.experiments.entries import Entry, read_entries

# runs an experiment and kills itself, as a power cut would, when progress was told so many times
RUN = """
import os, signal, sys
from pathlib import Path
from deshred.evaluation.experiments.{name} import {options}, {name}

calls = 0

def count(stage, done, total):
    global calls
    calls += 1
    if calls == {kill_at}:
        os.kill(os.getpid(), signal.SIGKILL)

{name}([Path(sys.argv[1])], Path(sys.argv[2]), options={options}({given}, jobs=1), progress=count)
"""


def run(folder: Path, out: Path, kill_at: int, **code: str) -> int:
    script = RUN.format(kill_at=kill_at, **code)
    return subprocess.run([sys.executable, "-c", script, str(folder), str(out)], check=False).returncode


def without_seconds(entries: dict[str, Entry]) -> dict[str, Entry]:
    timed = ("seconds", "processor_seconds")
    return {key: {k: v for k, v in entry.items() if k not in timed} for key, entry in entries.items()}


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="nothing kills like this here")
@pytest.mark.parametrize(
    ("name", "options", "given", "kill_at", "kept"),
    [
        # told after every pile
        ("comparison", "ComparisonOptions", "methods=('marques',), ks=(1, 2)", 2, 2),
        # told three times while reading and scoring, and after every pile; the fourth is the first of k = 2
        ("incremental", "IncrementalOptions", "methods=('marques',)", 3 + 3 + 4, 1),
        # two documents: told while reading, scoring and after every pile, for one value after the other
        ("ablation", "AblationOptions", "factors=('evidence',), documents=2, ks=(1,)", 2 + 2 + 2 + 1, 1),
        # told after every trial
        (
            "feedback",
            "FeedbackOptions",
            "methods=('outline',), loads=(0.5,), rounds=(1,), errors=(0.0,)",
            3,
            3,
        ),
    ],
)
def test_a_killed_experiment_goes_on_where_it_stopped(
    name: str, options: str, given: str, kill_at: int, kept: int, folder: Path, tmp_path: Path
) -> None:
    code = {"name": name, "options": options, "given": given}
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    assert run(folder, killed, kill_at, **code) == -signal.SIGKILL
    before = read_entries(killed / f"{name}.json")
    assert len(before) == kept
    assert run(folder, killed, -1, **code) == 0
    assert run(folder, whole, -1, **code) == 0
    after, undisturbed = (read_entries(out / f"{name}.json") for out in (killed, whole))
    assert {key: after[key] for key in before} == before, "measured again"
    assert without_seconds(after) == without_seconds(undisturbed)
    assert list(after) == list(undisturbed)
    assert (killed / "experiments.html").exists()
