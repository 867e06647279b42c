"""`deshred experiment incremental`: what is printed is what is written, and a second run measures nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import run


def test_it_prints_the_tables_that_it_writes(collection: Path, tmp_path: Path) -> None:
    flags = ("-o", tmp_path / "out", "--methods", "outline", "--ks", "1,2", "--jobs", 1, "-q")
    done = run("experiment", "incremental", collection, *flags)
    assert (done.exit_code, done.stderr) == (0, "")
    *tables, page = done.stdout.splitlines()
    assert page == f"page: {tmp_path / 'out' / 'experiments.html'}"
    written = (tmp_path / "out" / "incremental.md").read_text()
    assert "\n".join(tables).strip() in written
    raw = (tmp_path / "out" / "incremental.json").read_bytes()
    again = run("experiment", "incremental", collection, *flags, "--json")
    assert json.loads(again.stdout)["raw"] == str(tmp_path / "out" / "incremental.json")
    assert (tmp_path / "out" / "incremental.json").read_bytes() == raw


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (("--methods", "magic"), 2, "magic"),
        (("--ks", "0"), 2, "ks must be at least 1"),
        (("--ks", "one"), 2, "1,2,5"),
        (("--seeds", "-1"), 2, "seeds must be at least 0"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(
    flags: tuple[str, str], code: int, told: str, collection: Path, tmp_path: Path
) -> None:
    done = run("experiment", "incremental", collection, "-o", tmp_path / "out", *flags)
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr
    assert not (tmp_path / "out").exists()
