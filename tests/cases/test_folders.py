from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from deshred.cases import Folder
from deshred.errors import InputError, OutputError


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "case").mkdir()
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "keep.txt").write_text("precious")
    return Folder(tmp_path / "case")


@pytest.mark.parametrize(
    "name", ["../victim/keep.txt", "/etc/hosts", "a/../../victim/keep.txt", "", ".", "a\\b"]
)
def test_a_name_that_leads_out_is_refused(folder: Folder, name: str) -> None:
    for use in (folder.locate, folder.remove, lambda name: folder.write_bytes(name, b"x")):
        with pytest.raises(OutputError, match="nothing was touched"):
            use(name)
    with pytest.raises(InputError):
        folder.read_bytes(name)


def test_links_are_followed_by_nobody(folder: Folder, tmp_path: Path) -> None:
    (folder.path / "pages").symlink_to(tmp_path / "victim")
    (folder.path / "one.txt").symlink_to(tmp_path / "victim" / "keep.txt")
    for name in ("pages/keep.txt", "one.txt"):
        with pytest.raises(OutputError, match="is a link"):
            folder.write_bytes(name, b"spoilt")
        with pytest.raises(OutputError, match="is a link"):
            folder.remove(name)
        with pytest.raises(InputError, match="is a link"):
            folder.read_bytes(name)
        assert not folder.exists(name)
    assert list(folder.names()) == []
    assert (tmp_path / "victim" / "keep.txt").read_text() == "precious"


def test_pipes_and_devices_are_not_read(folder: Folder) -> None:
    os.mkfifo(folder.path / "pipe")
    with pytest.raises(InputError, match="not a plain file"):
        folder.read_bytes("pipe")


def test_what_is_written_can_be_read_listed_and_removed(folder: Folder) -> None:
    folder.write_bytes("a/b/c.txt", b"content")
    folder.write_bytes("d.txt", b"more")
    assert folder.read_bytes("a/b/c.txt") == b"content"
    assert list(folder.names()) == ["a/b/c.txt", "d.txt"]
    folder.remove("a/b/c.txt")
    assert list(folder.names()) == ["d.txt"]
    assert not (folder.path / "a").exists()


def test_the_folder_itself_may_be_reached_through_a_link(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "shortcut").symlink_to(folder.path)
    Folder(tmp_path / "shortcut").write_bytes("a.txt", b"x")
    assert folder.read_bytes("a.txt") == b"x"


def test_a_file_that_claims_more_than_memory_is_refused_and_can_be_hashed(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 42)  # takes no room on disk
    with pytest.raises(InputError, match="more than the limit"):
        Folder(tmp_path).read_bytes("sparse")
    (tmp_path / "small").write_bytes(b"abc")
    assert Folder(tmp_path).hash_file("small") == hashlib.sha256(b"abc").hexdigest()
    with pytest.raises(InputError, match="more than the limit of 2"):
        Folder(tmp_path).read_bytes("small", most_bytes=2)


@pytest.mark.parametrize("name", ["a\0b", "../a", "/a", "", "a/../../b", "a\\b", "x" * 5000])
def test_no_odd_name_is_more_than_an_error(name: str, tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert not folder.exists(name)
    with pytest.raises(InputError):
        folder.read_bytes(name)
