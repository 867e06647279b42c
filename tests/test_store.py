from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deshred.elements import Compatibility, Constraints, Margins
from deshred.errors import InputError, OutputError
from deshred.store import (
    ARRANGEMENT,
    COMPATIBILITY,
    LOG,
    MARKER,
    REPORT,
    RunFolder,
    describe_write_failure,
    load_compatibility,
    load_constraints,
    page_name,
    read_arrangement,
    save_compatibility,
    to_json,
    write_atomically,
)


def dense(n: int = 4) -> Compatibility:
    rng = np.random.default_rng(n)
    scores = rng.normal(size=(n, n)).astype(np.float32)
    np.fill_diagonal(scores, -np.inf)
    offsets = rng.integers(-9, 9, (n, n)).astype(np.int16)
    ends = rng.normal(size=(3, n)).astype(np.float32)
    return Compatibility(tuple(f"ß {i}" for i in range(n)), scores, offsets, "print", margins=Margins(*ends))


def sparse() -> Compatibility:
    return Compatibility(
        ("a", "b", "c"),
        np.array([1.0, 2.0, 3.0], np.float32),
        np.array([0, -1, 1], np.int16),
        row_starts=np.array([0, 1, 3, 3], np.int64),
        columns=np.array([1, 0, 2], np.int32),
    )


def begin(path: Path, **options: Any) -> RunFolder:
    run = RunFolder.open(path, **options)
    run.begin()
    return run


def finished_run(path: Path) -> RunFolder:
    run = begin(path)
    run.write_page(1, b"one")
    run.write_page(2, b"two")
    run.write_json(ARRANGEMENT, {"pages": []})
    run.write_text(REPORT, "<html>")
    run.finish()
    return run


def test_a_new_folder_is_made_and_marked(tmp_path: Path) -> None:
    run = begin(tmp_path / "deep" / "out")
    run.write_page(1, b"png")
    assert (run.path / "pages" / "page-001.png").read_bytes() == b"png"
    assert json.loads((run.path / MARKER).read_text())["state"] == "running"


def test_an_empty_folder_may_be_used(tmp_path: Path) -> None:
    assert begin(tmp_path).path == tmp_path


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_that_is_not_ours_is_never_touched(tmp_path: Path, force: bool) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match="did not write"):
        begin(tmp_path, force=force)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]


def test_looking_does_not_make_the_folder(tmp_path: Path) -> None:
    RunFolder.open(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_inputs_must_not_lie_in_the_folder_to_be_written(tmp_path: Path) -> None:
    run = RunFolder.open(tmp_path / "out")
    run.keep_apart([tmp_path, tmp_path / "outside" / "a.png"])
    for path in (tmp_path / "out", tmp_path / "out" / "shreds" / "a.png", tmp_path / "x" / ".." / "out"):
        with pytest.raises(OutputError, match="lies in the folder"):
            run.keep_apart([path])


def test_a_file_in_the_way_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("I am a file")
    with pytest.raises(OutputError, match="in the way"):
        begin(tmp_path / "out", force=True)
    assert (tmp_path / "out").read_text() == "I am a file"


def test_a_finished_run_is_kept_without_force(tmp_path: Path) -> None:
    finished_run(tmp_path)
    with pytest.raises(OutputError, match="--force"):
        begin(tmp_path)
    assert (tmp_path / "pages" / "page-002.png").read_bytes() == b"two"


def test_force_replaces_results_but_keeps_what_the_user_put_there(tmp_path: Path) -> None:
    finished_run(tmp_path)
    for name in ("notes.txt", "pages/my favorite.png"):
        (tmp_path / name).write_text("mine")
    begin(tmp_path, force=True)
    assert not (tmp_path / ARRANGEMENT).exists()
    assert not (tmp_path / REPORT).exists()
    assert [page.name for page in (tmp_path / "pages").iterdir()] == ["my favorite.png"]
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_the_folder_of_another_command_needs_force(tmp_path: Path) -> None:
    run = begin(tmp_path, command="shred")
    run.write_text("truth.json", "{}")
    run.leave()
    with pytest.raises(OutputError, match="deshred shred"):
        begin(tmp_path, command="reconstruct")
    assert (tmp_path / "truth.json").exists()
    begin(tmp_path, command="reconstruct", force=True)
    assert not (tmp_path / "truth.json").exists()


def test_a_log_that_was_cut_off_does_not_stop_a_run(tmp_path: Path) -> None:
    run = begin(tmp_path)
    run.write_page(1, b"one")
    with (tmp_path / LOG).open("ab") as log:
        log.write(b'{"event": "write", "write": 5}\n\xff\xfe\n{"time": "2026-')
    run.leave()
    begin(tmp_path)
    assert not (tmp_path / "pages" / "page-001.png").exists()


def test_a_log_that_names_what_is_not_ours_deletes_nothing(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("keep me")
    finished_run(tmp_path / "out")
    with (tmp_path / "out" / LOG).open("a") as log:
        for name in ("../precious.txt", str(tmp_path / "precious.txt"), "pages"):
            log.write(json.dumps({"event": "write", "write": name}) + "\n")
    begin(tmp_path / "out", force=True)
    assert (tmp_path / "precious.txt").read_text() == "keep me"
    assert (tmp_path / "out" / "pages").is_dir()


def test_a_run_that_is_at_work_is_not_taken_for_an_interrupted_one(tmp_path: Path) -> None:
    first = begin(tmp_path)
    first.write_page(1, b"mine")
    with pytest.raises(OutputError, match=r"another deshred is writing.*nothing was touched"):
        begin(tmp_path)
    assert (tmp_path / page_name(1)).read_bytes() == b"mine"
    first.leave()  # as its end does, finished or not
    begin(tmp_path)


def test_an_interrupted_run_goes_on_with_its_scores(tmp_path: Path) -> None:
    run = begin(tmp_path)
    run.save_compatibility(dense(), "key")
    run.log("write", write=page_name(1))
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / ".page-001.png.77.tmp").write_bytes(b"half a p")
    (tmp_path / ".editor.tmp").write_bytes(b"of the user")
    (tmp_path / ".page-001.png.swap.tmp").write_bytes(b"of the user")
    run.leave()
    again = begin(tmp_path)
    kept = again.load_compatibility("key")
    assert kept is not None
    assert np.array_equal(kept.scores, dense().scores)
    assert list((tmp_path / "pages").iterdir()) == []
    assert (tmp_path / ".editor.tmp").exists()
    assert (tmp_path / ".page-001.png.swap.tmp").exists()
    events = [json.loads(line)["event"] for line in (tmp_path / LOG).read_text().splitlines()]
    assert events == ["started", "write", "write", "resumed"]


def test_scores_of_other_shreds_or_damaged_ones_are_not_used(tmp_path: Path) -> None:
    run = begin(tmp_path)
    assert run.load_compatibility("key") is None
    run.save_compatibility(dense(), "key")
    assert run.load_compatibility("another key") is None
    file = tmp_path / COMPATIBILITY
    file.write_bytes(file.read_bytes()[:200])
    assert run.load_compatibility("key") is None


@pytest.mark.parametrize("given", [dense(), sparse()], ids=["dense", "sparse"])
def test_scores_survive_the_file(tmp_path: Path, given: Compatibility) -> None:
    save_compatibility(given, tmp_path / "c.npz")
    loaded = load_compatibility(tmp_path / "c.npz")
    assert loaded.ids == given.ids
    assert loaded.fingerprint == given.fingerprint
    for name in ("scores", "offsets", "row_starts", "columns"):
        expected = getattr(given, name)
        assert getattr(loaded, name) is expected is None or np.array_equal(getattr(loaded, name), expected)
        assert expected is None or getattr(loaded, name).dtype == expected.dtype
    if given.margins is not None:
        assert loaded.margins is not None
        assert np.array_equal(loaded.margins.widths_mm, given.margins.widths_mm)


def test_a_bare_matrix_of_scores_is_enough(tmp_path: Path) -> None:
    np.savez(tmp_path / "c.npz", scores=np.eye(3))
    loaded = load_compatibility(tmp_path / "c.npz")
    assert loaded.ids == ("0", "1", "2")
    assert not loaded.offsets.any()


def test_ids_may_be_numbers_but_not_twice_the_same(tmp_path: Path) -> None:
    np.savez(tmp_path / "numbers.npz", scores=np.zeros((2, 2)), ids=np.array([7, 8]))
    assert load_compatibility(tmp_path / "numbers.npz").ids == ("7", "8")
    np.savez(tmp_path / "twice.npz", scores=np.zeros((2, 2)), ids=np.array(["a", "a"]))
    with pytest.raises(InputError, match=r"twice.npz.*unique"):
        load_compatibility(tmp_path / "twice.npz")


def test_what_is_no_file_of_scores_is_an_input_error(tmp_path: Path) -> None:
    save_compatibility(dense(), tmp_path / "whole.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "whole.npz").read_bytes()[:300])
    (tmp_path / "text.npz").write_text("scores")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.savez(tmp_path / "flat.npz", scores=np.ones((2, 3)))
    np.savez(tmp_path / "other.npz", something=np.ones((2, 2)))
    np.savez(tmp_path / "pickle.npz", scores=np.array([{}], dtype=object))
    for name in ("cut", "text", "empty", "flat", "other", "pickle", "absent"):
        with pytest.raises(InputError, match=f"{name}.npz"):
            load_compatibility(tmp_path / f"{name}.npz")


BAD_SCORES: dict[str, dict[str, Any]] = {
    "ids of two dimensions": {"ids": np.array([["a", "b"]])},
    "margins that are words": {name: np.array(["x", "y"]) for name in ("starts", "ends", "widths_mm")},
    "places that are no whole numbers": {
        "row_starts": np.array([0.0, 1.5, 2]),
        "columns": np.array([1.0, 0.0]),
        "scores": np.zeros(2),
    },
    "offsets beyond all paper": {"offsets": np.full((2, 2), 70_000)},
}


@pytest.mark.parametrize("wrong", BAD_SCORES)
def test_scores_that_make_no_sense_are_an_input_error(tmp_path: Path, wrong: str) -> None:
    np.savez(tmp_path / "s.npz", **{"scores": np.zeros((2, 2)), **BAD_SCORES[wrong]})
    with pytest.raises(InputError, match=r"s.npz: this is no complete file of scores"):
        load_compatibility(tmp_path / "s.npz")


def test_a_damaged_file_of_scores_is_read_by_nobody_and_made_again(tmp_path: Path) -> None:
    run = begin(tmp_path)
    file = run.save_compatibility(dense(), "key")
    whole = file.read_bytes()
    for at in range(30, len(whole), len(whole) // 40):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        kept = run.load_compatibility("key")
        assert kept is None or len(kept) == len(dense())
    np.savez_compressed(file, scores=np.zeros((50, 50)), key=np.array("key"))
    squeezed = bytearray(file.read_bytes())
    squeezed[60:90] = bytes(30)
    file.write_bytes(squeezed)
    assert run.load_compatibility("key") is None


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomically(path, b"old")
    # A process that may not write more than 1,000 bytes to a file: as on a full disk, but for real.
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from deshred.errors import OutputError\n"
        "from deshred.store import write_atomically\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    write_atomically(Path(sys.argv[1]), b'x' * 5000)\n"
        "except OutputError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    assert "Free some space" in done.stdout
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_output_error_with_a_remedy(tmp_path: Path) -> None:
    run = begin(tmp_path)
    (tmp_path / LOG).unlink()
    (tmp_path / LOG).symlink_to("/dev/full")
    with pytest.raises(OutputError, match="Free some space"):
        run.log("scored")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a file system that nobody can write to")
def test_a_read_only_place_is_an_output_error() -> None:
    with pytest.raises(OutputError, match="-o"):
        begin("/proc/deshred/out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_an_output_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="permissions"):
        begin(tmp_path / "out")


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "Free some space"),
        (errno.EROFS, "permissions"),
        (errno.ENOTDIR, "in the way"),
        (errno.EIO, "another place"),
    ],
)
def test_what_the_system_says_comes_with_a_remedy(number: int, remedy: str) -> None:
    told = str(describe_write_failure(OSError(number, os.strerror(number)), Path("out/a.png")))
    assert told.startswith("out/a.png: ")
    assert os.strerror(number) in told
    assert remedy in told


def test_json_has_no_numbers_that_json_does_not_know() -> None:
    text = to_json({"a": float("inf"), "b": np.float32(0.5), "c": (np.int64(2), Path("x"))})
    assert json.loads(text) == {"a": None, "b": 0.5, "c": [2, "x"]}


def test_only_a_finished_run_has_an_arrangement(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not the folder of a finished run"):
        read_arrangement(tmp_path)
    (tmp_path / ARRANGEMENT).write_text('{"pages": [')
    with pytest.raises(InputError, match="damaged"):
        read_arrangement(tmp_path)
    finished_run(tmp_path / "out")
    assert read_arrangement(tmp_path / "out") == {"pages": []}


def test_constraints_are_read_from_toml(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text('required = [["a", "b"]]\nfirst = ["a"]\napart = [["a", "c", "d"]]\n')
    assert load_constraints(file) == Constraints(
        required=frozenset({("a", "b")}), first=frozenset("a"), apart=frozenset({frozenset("acd")})
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("required = [", "not a TOML file"),
        ('requires = [["a", "b"]]', "no constraint 'requires'.*Known are: required"),
        ('first = "a"', r"first must look like \[.a., .b.\], got 'a'"),
        ('forbidden = ["a", "b"]', "forbidden must look like"),
        ("last = [1]", "last must look like"),
        ('required = [["a", "b", "c"]]', "a left id and a right id"),
    ],
)
def test_constraints_that_are_none_are_an_input_error(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "known.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=f"known.toml.*{complaint}"):
        load_constraints(file)
