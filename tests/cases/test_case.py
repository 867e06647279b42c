from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from deshred.cases import (
    ARRANGEMENT,
    CASE,
    JOURNAL,
    REPORT,
    Entry,
    find_case,
    open_case,
    page_name,
    working_on,
)
from deshred.errors import InputError, OutputError

NEW = {page_name(1): b"one", page_name(2): b"two", ARRANGEMENT: b'{"pages": []}', REPORT: b"<html>"}


def write(
    path: Path, results: dict[str, bytes] = NEW, *, command: str = "reconstruct", **options: bool
) -> None:
    with working_on(path, command=command, **options) as case:
        for name, content in results.items():
            case.write_bytes(name, content)


def read(path: Path) -> tuple[Entry, ...]:
    return open_case(path).journal.read()


def fail(path: Path, error: Exception, *, force: bool = False) -> None:
    with working_on(path, command="reconstruct", force=force) as case:
        case.write_bytes(page_name(1), b"new")
        raise error


def files(path: Path) -> set[str]:
    return {entry.relative_to(path).as_posix() for entry in path.rglob("*") if entry.is_file()}


def test_a_new_folder_is_made_and_marked(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "out")
    assert files(tmp_path / "deep" / "out") == {*NEW, CASE, JOURNAL}
    assert json.loads((tmp_path / "deep" / "out" / CASE).read_text())["state"] == "finished"


def test_results_appear_when_all_of_them_are_there(tmp_path: Path) -> None:
    with working_on(tmp_path / "out", command="reconstruct") as case:
        case.write_bytes(page_name(1), b"one")
        assert not (tmp_path / "out" / page_name(1)).exists()
    assert (tmp_path / "out" / page_name(1)).read_bytes() == b"one"


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_that_is_not_ours_is_never_touched(tmp_path: Path, force: bool) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match="did not write"):
        write(tmp_path, force=force)
    assert files(tmp_path) == {"thesis.txt"}


def test_files_of_the_system_and_our_own_leftovers_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").write_bytes(b"mac")
    (tmp_path / f".{CASE}.77.tmp").write_bytes(b"half a m")
    (tmp_path / JOURNAL).touch()
    write(tmp_path)
    assert (tmp_path / page_name(1)).exists()
    assert not (tmp_path / f".{CASE}.77.tmp").exists()
    assert (tmp_path / ".DS_Store").exists()


def test_looking_does_not_make_the_folder(tmp_path: Path) -> None:
    find_case(tmp_path / "out", command="reconstruct")
    assert list(tmp_path.iterdir()) == []


def test_inputs_must_not_lie_in_the_folder_to_be_written(tmp_path: Path) -> None:
    def begin(inputs: Iterable[Path]) -> None:
        with working_on(tmp_path / "out", command="reconstruct", inputs=inputs):
            pass

    begin([tmp_path, tmp_path / "outside" / "a.png"])
    for path in (tmp_path / "out", tmp_path / "out" / "shreds" / "a.png", tmp_path / "x" / ".." / "out"):
        with pytest.raises(OutputError, match="is inside the folder"):
            begin([path])


def test_links_that_lead_in_a_circle_are_no_reason_to_fall_over(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    with working_on(tmp_path / "out", command="reconstruct", inputs=[tmp_path / "circle"]):
        pass
    with pytest.raises(OutputError, match="circle"), working_on(tmp_path / "circle", command="reconstruct"):
        pass


def test_a_file_in_the_way_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("I am a file")
    with pytest.raises(OutputError, match="in the way"):
        write(tmp_path / "out", force=True)
    assert (tmp_path / "out").read_text() == "I am a file"


def test_a_finished_case_is_kept_without_force(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(OutputError, match=r"--add.*--force"):
        write(tmp_path)
    assert (tmp_path / page_name(2)).read_bytes() == b"two"


def test_old_results_stay_until_new_ones_are_complete(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(RuntimeError, match="unknown name"):
        fail(tmp_path, RuntimeError("unknown name in the constraints"), force=True)
    assert {name: (tmp_path / name).read_bytes() for name in NEW} == NEW
    assert files(tmp_path) == {*NEW, CASE, JOURNAL}


def test_force_replaces_results_but_keeps_what_the_user_put_there(tmp_path: Path) -> None:
    write(tmp_path)
    for name in ("notes.txt", "pages/my favorite.png"):
        (tmp_path / name).write_text("mine")
    (tmp_path / page_name(2)).write_text("the user has painted on it")
    write(tmp_path, {page_name(1): b"new"}, force=True)
    assert files(tmp_path) == {
        *(page_name(1), page_name(2), "notes.txt", "pages/my favorite.png", CASE, JOURNAL)
    }
    assert (tmp_path / page_name(1)).read_bytes() == b"new"
    assert (tmp_path / page_name(2)).read_text() == "the user has painted on it"


def test_the_folder_of_another_command_needs_force(tmp_path: Path) -> None:
    write(tmp_path, {"truth.json": b"{}"}, command="shred")
    with pytest.raises(OutputError, match="deshred shred"):
        write(tmp_path)
    assert (tmp_path / "truth.json").exists()
    write(tmp_path, force=True)
    assert not (tmp_path / "truth.json").exists()


def test_a_failure_before_there_is_anything_to_keep_leaves_no_folder_behind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing to see"):
        fail(tmp_path / "out", InputError("nothing to see"))
    assert list(tmp_path.iterdir()) == []


def test_a_case_that_is_worked_on_is_not_taken_for_an_interrupted_one(tmp_path: Path) -> None:
    with (
        working_on(tmp_path, command="reconstruct"),
        pytest.raises(OutputError, match=r"another deshred is writing.*nothing was touched"),
    ):
        write(tmp_path)
    with pytest.raises(OutputError, match="--force"):
        write(tmp_path)


def test_a_second_process_does_not_replace_what_the_first_finished_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It looked when the folder was new; under the lock it must look again."""
    mkdir = Path.mkdir
    raced = []

    def finish_first(self: Path, *args: object, **kwargs: object) -> None:
        if self == tmp_path / "out" and not raced:
            raced.append(self)
            write(self)
        mkdir(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "mkdir", finish_first)
    with pytest.raises(OutputError, match="already holds the results"):
        write(tmp_path / "out", {page_name(1): b"second"})
    assert (tmp_path / "out" / page_name(1)).read_bytes() == b"one"


KILLED = """
import os, signal, sys
from pathlib import Path
from deshred.cases import working_on
calls = 0
replace = Path.replace
def dying(self, target):
    global calls
    calls += 1
    if calls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)
Path.replace = dying
with working_on(sys.argv[1], command="reconstruct", force=True) as case:
    for name in ("pages/page-001.png", "report.html"):
        case.write_bytes(name, b"new")
"""


def test_a_kill_at_any_rename_leaves_the_old_results_or_all_of_the_new(tmp_path: Path) -> None:
    new = {page_name(1): b"new", REPORT: b"new"}
    outcomes = set()
    for at in range(1, 9):
        out = tmp_path / str(at)
        write(out)
        done = subprocess.run([sys.executable, "-c", KILLED, str(out), str(at)], check=False)
        if done.returncode == 0:
            break
        write(out, {"arrangement.json": b"after"}, force=True)  # opening it completes what was begun
        finished = [set(entry.fields["files"]) for entry in read(out) if entry.event == "finished"]
        outcomes.add("completed" if set(new) in finished else "kept")
        assert (out / ARRANGEMENT).read_bytes() == b"after"
        assert files(out) == {ARRANGEMENT, CASE, JOURNAL}
    assert outcomes == {"kept", "completed"}
    assert at > 4


def test_a_case_from_a_stranger_touches_nothing_outside(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "keep.txt").write_text("precious")
    write(tmp_path / "case")
    marker = json.loads((tmp_path / "case" / CASE).read_text())
    for name in ("../victim/keep.txt", str(victim / "keep.txt"), "link/keep.txt"):
        marker["results"][name] = "0" * 64
    (tmp_path / "case" / CASE).write_text(json.dumps(marker))
    (tmp_path / "case" / "link").symlink_to(victim)
    (tmp_path / "case" / "store").symlink_to(victim)
    write(tmp_path / "case", force=True)
    assert files(victim) == {"keep.txt"}
    (tmp_path / "case" / "pages" / "page-001.png").unlink()
    (tmp_path / "case" / "pages" / "page-001.png").symlink_to(victim / "keep.txt")
    with pytest.raises(OutputError, match="is a link"):
        write(tmp_path / "case", force=True)
    (tmp_path / "case" / JOURNAL).unlink()
    (tmp_path / "case" / JOURNAL).symlink_to(victim / "keep.txt")
    with pytest.raises(OutputError):
        write(tmp_path / "case", force=True)
    assert (victim / "keep.txt").read_text() == "precious"


@pytest.mark.parametrize(
    "plan",
    [
        {"command": "reconstruct", "results": [[1, "x"]], "old": {}},
        {"command": "reconstruct", "results": {}, "old": [[None, 2]]},
        {"command": "reconstruct", "results": {"x" * 300: "x"}, "old": {}},
        {"command": "reconstruct", "results": {"a/" * 3000 + "b": "x"}, "old": {}},
        {"command": "reconstruct", "results": {"../victim.txt": "x"}, "old": {"../victim.txt": "x"}},
        {"results": 5},
        [],
    ],
    ids=lambda plan: str(plan)[:60],
)
def test_a_plan_that_a_stranger_left_is_carried_out_inside_or_not_at_all(
    plan: object, tmp_path: Path
) -> None:
    (tmp_path / "victim.txt").write_text("precious")
    write(tmp_path / "case")
    (tmp_path / "case/.new").mkdir()
    (tmp_path / "case/.new/complete.json").write_text(json.dumps(plan))
    with suppress(OutputError):
        write(tmp_path / "case", force=True)
    assert (tmp_path / "victim.txt").read_text() == "precious"
    assert files(tmp_path / "case") >= {CASE, JOURNAL}


def test_only_a_finished_case_can_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not the folder of a finished run"):
        open_case(tmp_path)
    write(tmp_path / "out")
    case = open_case(tmp_path / "out")
    assert case.command == "reconstruct"
    assert case.read_json(ARRANGEMENT) == {"pages": []}
    (tmp_path / "out" / ARRANGEMENT).write_text('{"pages": [')
    with pytest.raises(InputError, match="damaged"):
        case.read_json(ARRANGEMENT)
    with pytest.raises(InputError, match="is no folder"):
        open_case(tmp_path / "out" / ARRANGEMENT)


def test_what_is_added_to_a_finished_case_is_recorded_and_goes_with_it(tmp_path: Path) -> None:
    write(tmp_path)
    open_case(tmp_path).write_bytes("explanations/page-001.png", b"green")
    entry = open_case(tmp_path).journal.read()[-1]
    assert (entry.event, set(entry.fields["files"])) == ("wrote", {"explanations/page-001.png"})
    write(tmp_path, force=True)
    assert not (tmp_path / "explanations").exists()


def test_what_a_review_left_survives_a_run_with_force(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with working_on(folder, command="reconstruct") as case:
        case.write_text("pages/001.png", "old")
    open_case(folder).write_text("review/001/decisions.csv", "a person's word")
    for _ in range(2):  # and a second one, which finds it in the plan of the first
        with working_on(folder, command="reconstruct", force=True) as case:
            case.write_text("pages/002.png", "new")
    assert (folder / "review/001/decisions.csv").read_text() == "a person's word"
    assert "review/001/decisions.csv" in open_case(folder).results
    assert not (folder / "pages/001.png").exists()


def test_paths_are_kept_relative_to_the_case(tmp_path: Path) -> None:
    write(tmp_path / "out")
    case = open_case(tmp_path / "out")
    recorded = case.relate(tmp_path / "scans" / "a.png")
    assert recorded == "../scans/a.png"
    assert case.resolve(recorded) == tmp_path / "scans" / "a.png"


def test_a_damaged_mark_is_not_taken_for_anything(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / CASE).write_text("{}")
    with pytest.raises(OutputError, match="damaged"):
        write(tmp_path, force=True)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a file system that nobody can write to")
def test_a_read_only_place_is_noticed_before_the_work() -> None:
    with pytest.raises(OutputError, match="-o"), working_on("/proc/deshred/out", command="reconstruct"):
        raise AssertionError("began to work")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_an_output_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="permissions"):
        write(tmp_path / "out")


def test_results_that_could_not_all_take_their_place_do_so_the_next_time(tmp_path: Path) -> None:
    folder = tmp_path / "case"

    def write() -> None:
        with working_on(folder, command="reconstruct") as case:
            case.write_text("a.txt", "a")
            case.write_text("b.txt", "b")
            (folder / "b.txt").mkdir()  # in the way, from now on

    with pytest.raises(OutputError, match=r"b\.txt"):
        write()
    (folder / "b.txt").rmdir()
    with working_on(folder, command="reconstruct") as case:
        assert (folder / "a.txt").read_text() == "a"
        assert (folder / "b.txt").read_text() == "b"
        case.write_text("c.txt", "c")
    assert open_case(folder).results.keys() == {"c.txt"}
