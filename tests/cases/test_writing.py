from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deshred.cases import describe_write_failure, to_json, write_atomically
from deshred.cases.writing import is_leftover, replace_durably


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomically(path, b"old")
    # A process that may not write more than 1,000 bytes to a file: as on a full disk, but for real.
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from deshred.errors import OutputError\n"
        "from deshred.cases import write_atomically\n"
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


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot sync folders")
def test_a_file_and_its_folder_are_on_disk_before_a_write_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, list[str]]] = []
    sync = os.fsync

    def watch(descriptor: int) -> None:
        sync(descriptor)
        what = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        synced.append((what, [entry.name for entry in tmp_path.iterdir() if not is_leftover(entry.name)]))

    monkeypatch.setattr(os, "fsync", watch)
    write_atomically(tmp_path / "a.json", b"new")
    assert synced == [("file", []), ("folder", ["a.json"])]  # what had its own name then
    synced.clear()
    (tmp_path / "b.part").write_bytes(b"x")
    replace_durably(tmp_path / "b.part", tmp_path / "b")
    assert [(what, "b" in names) for what, names in synced] == [("file", False), ("folder", True)]


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


def test_only_our_own_leftovers_are_taken_for_such() -> None:
    assert is_leftover(".page-001.png.77.tmp")
    assert not is_leftover(".editor.tmp")
    assert not is_leftover(".page-001.png.swap.tmp")
    assert not is_leftover("page-001.png.77.tmp")


@pytest.mark.parametrize("name", ["x" * 251 + ".png", "\N{GRINNING FACE}" * 63 + "abc"], ids=["long", "wide"])
def test_the_longest_name_that_there_can_be_is_written(name: str, tmp_path: Path) -> None:
    write_atomically(tmp_path / name, b"content")
    assert [entry.name for entry in tmp_path.iterdir()] == [name]
