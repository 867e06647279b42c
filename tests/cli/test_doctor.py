"""`deshred doctor`: what is there, whether it works, and the same for programs."""

from __future__ import annotations

import json

from deshred.doctor import OPTIONAL_PARTS
from tests.commands import run


def test_it_says_what_is_there_and_tries_it() -> None:
    done = run("doctor")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = {line.split("  ")[0]: line for line in done.stdout.splitlines()}
    assert done.stdout.splitlines()[-1] == "Everything works."
    assert {part.name for part in OPTIONAL_PARTS} <= set(lines)
    assert "ok: 8 drawn shreds in the right order" in lines["tiny reconstruction"]


def test_programs_learn_what_was_tried_and_whether_all_is_well() -> None:
    done = run("doctor", "--json")
    assert done.exit_code == 0
    content = json.loads(done.stdout)
    assert content["well"] is True
    assert [(check["name"], check["passed"]) for check in content["checks"]] == [
        ("models", True),
        ("tiny reconstruction", True),
    ]
