"""`deshred experiment comparison`: methods, sizes and piles are those of its flags."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import run


def test_the_flags_choose_methods_sizes_and_piles(collection: Path, tmp_path: Path) -> None:
    flags = ("--methods", "marques,outline", "--ks", "1,2", "--piles", 1, "--jobs", 1, "--json", "-q")
    done = run("experiment", "comparison", collection, "-o", tmp_path / "out", *flags)
    assert (done.exit_code, done.stderr) == (0, "")
    told = {name: Path(path) for name, path in json.loads(done.stdout).items()}
    results = json.loads(told["raw"].read_text())["results"].values()
    assert sorted((one["method"], one["k"]) for one in results) == [
        ("marques", 1),
        ("marques", 2),
        ("outline", 1),
        ("outline", 2),
    ]
    assert all(file.parent == tmp_path / "out" for file in told.values())


@pytest.mark.parametrize(("flag", "value"), [("--piles", "0"), ("--seed", "-1"), ("--methods", "")])
def test_what_makes_no_sense_has_exit_code_2(flag: str, value: str, collection: Path, tmp_path: Path) -> None:
    done = run("experiment", "comparison", collection, "-o", tmp_path / "out", flag, value)
    assert (done.exit_code, done.stdout) == (2, "")
    assert not (tmp_path / "out").exists()
