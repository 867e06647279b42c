"""`deshred experiment feedback`: strategies, loads and people are those of its flags."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import run


def test_the_flags_choose_who_is_asked_what(collection: Path, tmp_path: Path) -> None:
    asked = (
        "--strategies",
        "random",
        "--loads",
        "0.5",
        "--rounds",
        "1,2",
        "--errors",
        "0,0.3",
        "--seeds",
        "7",
    )
    flags = ("--methods", "outline", *asked, "--jobs", 1, "--json", "-q")
    done = run("experiment", "feedback", collection, "-o", tmp_path / "out", *flags)
    assert (done.exit_code, done.stderr) == (0, "")
    results = json.loads(Path(json.loads(done.stdout)["raw"]).read_text())["results"].values()
    assert sorted((one["rounds"], one["error"]) for one in results) == [
        (1, 0.0),
        (1, 0.3),
        (2, 0.0),
        (2, 0.3),
    ]
    assert {(one["strategy"], one["load"], one["seed"]) for one in results} == {("random", 0.5, 7)}


@pytest.mark.parametrize(
    ("flag", "value", "told"),
    [
        ("--strategies", "magic", "no strategy magic"),
        ("--loads", "0", "shares from 0 to 1"),
        ("--errors", "1", "shares from 0 to 1"),
        ("--rounds", "0", "rounds must be at least 1"),
        ("--methods", "words", "leave out characters and words"),
    ],
)
def test_what_makes_no_sense_has_exit_code_2(
    flag: str, value: str, told: str, collection: Path, tmp_path: Path
) -> None:
    done = run("experiment", "feedback", collection, "-o", tmp_path / "out", flag, value)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr
