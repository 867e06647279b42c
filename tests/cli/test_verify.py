"""`deshred verify`: what is as it was, and code 9 for what is not, with the finding still on stdout."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands import run
from tests.conftest import SavedPile


def test_a_case_that_nobody_touched_is_as_it_was(finished_case: Path) -> None:
    done = run("verify", finished_case)
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-1] == "Everything is as it was."
    assert all(line.startswith("ok ") for line in lines[:-1])


def test_a_changed_page_is_found_and_still_printed_for_programs(own_case: Path) -> None:
    with (own_case / "pages" / "page-001.png").open("ab") as page:
        page.write(b"more")
    done = run("verify", own_case, "--json")
    assert done.exit_code == 9
    assert "pages/page-001.png" in done.stderr
    content = json.loads(done.stdout)
    assert content["sound"] is False
    assert [one["check"] for one in content["findings"] if not one["passed"]] == ["files of the journal"]


def test_a_head_that_was_noted_is_compared(own_case: Path) -> None:
    head = run("verify", own_case).stdout.split("head ")[1].split()[0]
    assert run("verify", own_case, "--head", head).exit_code == 0
    other = run("verify", own_case, "--head", "0" * 64)
    assert other.exit_code == 9
    assert "FAILED journal" in other.stdout


def test_a_seal_needs_a_package(finished_case: Path) -> None:
    done = run("verify", finished_case, "--seal", "0" * 64)
    assert done.exit_code == 9
    assert "there is no package to compare it with" in done.stderr


def test_scans_are_compared_with_those_that_were_read(
    finished_case: Path, saved_pile: SavedPile, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert run("export", finished_case, "-o", out, "--as", "json", "--engine", "none").exit_code == 0
    scans = sorted(saved_pile.folder.glob("*.png"))
    given = [word for scan in scans for word in ("--inputs", scan)]
    assert run("verify", out, *given).exit_code == 0
    (tmp_path / scans[0].name).write_bytes(b"another")
    done = run("verify", out, "--inputs", tmp_path / scans[0].name, *given[2:])
    assert done.exit_code == 9
    assert scans[0].name in done.stderr


def test_a_case_is_reconstructed_once_more_when_asked_for(finished_case: Path) -> None:
    done = run("verify", finished_case, "--repeat", "-q")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "ok     pixels of a new run: the same on 1 pages" in done.stdout


def test_a_folder_of_somebody_else_has_exit_code_3(tmp_path: Path) -> None:
    done = run("verify", tmp_path)
    assert (done.exit_code, done.stdout) == (3, "")
    assert "neither a journal nor a package" in done.stderr
