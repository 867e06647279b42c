"""`deshred export`: files of a case in a folder to hand over, and exact codes for what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import run

UNREAD = ("--engine", "none", "-q")


def test_files_and_folders_are_named_and_the_hashes_to_write_down_come_last(
    finished_case: Path, tmp_path: Path
) -> None:
    done = run("export", finished_case, "-o", tmp_path / "out", "--as", "csv, json,bag", *UNREAD)
    assert (done.exit_code, done.stderr) == (0, "")
    summary, *named, tags, seal, journal, told = done.stdout.splitlines()
    assert summary == "1 page, not read: no engine was asked for"
    assert all(Path(name).is_file() for name in named)
    assert {Path(name).name for name in named} >= {"record.json", "joins.csv"}
    assert tags == f"{tmp_path / 'out/bag'}: 4 files"
    assert told.startswith("Write this down")
    known = ("--seal", seal.removeprefix("seal:").strip(), "--head", journal.removeprefix("journal:").strip())
    checked = run("verify", tmp_path / "out", *known)
    assert checked.exit_code == 0, checked.stderr


def test_a_hash_that_was_cut_short_is_refused_and_told_why(finished_case: Path, tmp_path: Path) -> None:
    run("export", finished_case, "-o", tmp_path / "out", "--as", "json,bag", *UNREAD)
    checked = run("verify", tmp_path / "out", "--seal", "294bccc2")
    assert checked.exit_code == 9
    assert "not 294bccc2, which does not have all 64 digits" in checked.stderr


def test_programs_get_the_same_names(finished_case: Path, tmp_path: Path) -> None:
    flags = ("--as", "csv,png", "--json", *UNREAD)
    done = run("export", finished_case, "-o", tmp_path / "out", *flags)
    content = json.loads(done.stdout)
    assert all((tmp_path / "out" / name).is_file() for name in content["files"])
    assert {Path(name).parts[0] for name in content["files"]} >= {"csv", "png"}


def test_the_case_is_not_changed(finished_case: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in finished_case.rglob("*") if path.is_file()}
    assert run("export", finished_case, "-o", tmp_path / "out", "--as", "csv", *UNREAD).exit_code == 0
    after = {path: path.stat().st_mtime_ns for path in finished_case.rglob("*") if path.is_file()}
    assert {path.relative_to(finished_case).parts[0] for path in after.keys() - before} <= {"store"}
    assert all(after[path] == time for path, time in before.items())


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (("--as", "docx"), 2, "docx"),
        (("--as", ","), 2, "format"),
        (("--as", "text"), 2, "--engine"),
        (("--as", "csv", "--jobs", "0"), 2, "--jobs"),
        (("--as", "csv", "--language", "../x"), 2, "language"),
        (("--as", "csv", "--case", "none.toml"), 3, "none.toml"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(
    flags: tuple[str, ...], code: int, told: str, finished_case: Path, tmp_path: Path
) -> None:
    done = run("export", finished_case, "-o", tmp_path / "out", *flags, *UNREAD)
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_case_has_exit_code_3(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    done = run("export", tmp_path / "thesis", "-o", tmp_path / "out", "--as", "csv", *UNREAD)
    assert done.exit_code == 3
    assert "thesis" in done.stderr


def test_what_is_not_ours_is_never_replaced(finished_case: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years")
    done = run("export", finished_case, "-o", tmp_path, "--as", "csv", "--force", *UNREAD)
    assert done.exit_code == 4
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_chosen_pages_are_written_and_others_are_told_to_be_missing(
    finished_case: Path, tmp_path: Path
) -> None:
    done = run("export", finished_case, "-o", tmp_path / "one", "--as", "png", "--pages", "1-1", *UNREAD)
    assert done.exit_code == 0
    assert [file.name for file in (tmp_path / "one" / "png").iterdir()] == ["page-001-evidence.png"]
    for pages, told in (("2", "there is no page 2"), ("x", "such as 1-4,7"), ("0", "from 1")):
        done = run("export", finished_case, "-o", tmp_path / "two", "--as", "png", "--pages", pages, *UNREAD)
        assert done.exit_code == 2
        assert told in done.stderr
        assert not (tmp_path / "two" / "png").exists()
