"""`deshred experiment ablation`: factors and documents are those of its flags; training needs pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import run


def test_only_the_factors_asked_for_are_varied(collection: Path, tmp_path: Path) -> None:
    flags = ("--factors", "evidence", "--ks", 1, "--documents", 1, "--jobs", 1, "--json", "-q")
    done = run("experiment", "ablation", collection, "-o", tmp_path / "out", *flags)
    assert (done.exit_code, done.stderr) == (0, "")
    results = json.loads(Path(json.loads(done.stdout)["raw"]).read_text())["results"].values()
    assert {one["factor"] for one in results} == {"evidence"}
    assert {one["documents"] for one in results} == {1}


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (("--steps", "10"), 3, "training needs intact pages"),
        (("--steps", "10", "--pages", "nowhere"), 3, "nowhere is not a folder"),
        (("--steps", "-1"), 2, "must be at least 0"),
        (("--factors", "magic"), 2, "no factor magic"),
    ],
)
def test_what_cannot_be_measured_has_its_own_exit_code(
    flags: tuple[str, ...], code: int, told: str, collection: Path, tmp_path: Path
) -> None:
    done = run("experiment", "ablation", collection, "-o", tmp_path / "out", *flags)
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr
    assert not (tmp_path / "out").exists()
