from __future__ import annotations

import os
from pathlib import Path

import pytest

from deshred.cases import CASE
from deshred.errors import InputError
from deshred.imaging.files import UnreadImagesWarning, _Folders, find_images, find_mask, name_files
from deshred.textfiles import read_file


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_names_are_as_long_as_needed() -> None:
    files = ["/x/a/strips/1.png", "/x/b/strips/1.png", "/y/b/strips/1.png", "/y/b/2.png", "/y/b/2.jpg"]
    assert name_files([Path(file) for file in files]) == ["a/1", "x/b/1", "y/b/1", "2.png", "2.jpg"]


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["same/a.png", "same/a.jpg"], ["a.png", "a.jpg"]),
        (["same/a.png", "same/a.jpg", "other/a.png"], ["same/a", "a.jpg", "other/a"]),
        (["x/a.png", "x/a.jpg", "y/a.png", "y/a.jpg"], ["x/a.png", "x/a.jpg", "y/a.png", "y/a.jpg"]),
        (["same/strips/a.png", "same/a.png"], ["strips/a.png", "same/a.png"]),
        (["same/strips/a.png", "same/shreds/a.png"], ["strips/a.png", "shreds/a.png"]),
        ([os.fsdecode(b"same/\xe9.png"), os.fsdecode(b"same/\xe8.png")], ["\ufffd", "\ufffd-2"]),
    ],
)
def test_names_do_not_tell_where_the_files_lie(files: list[str], names: list[str]) -> None:
    assert name_files([Path("/home/jane/secret project") / file for file in files]) == names


def test_names_stay_unique_when_frames_and_shreds_are_numbered() -> None:
    files = ["/x/a.tif", "/x/a#01.png", "/x/b.tif", "/x/b#02#01.png", "/x/c#ratch.png", "/x/c.png"]
    assert name_files([Path(file) for file in files]) == ["a.tif", "a#01", "b.tif", "b#02#01", "c#ratch", "c"]


@pytest.mark.parametrize(
    "files",
    [
        ["/x/strips/1.png", "/x/1.png"],
        ["/1.png", "/strips/1.png", "/shreds/strips/shreds/1.png", "/strips/shreds/1.png", "/1"],
        ["/x/a.png", "/x/a.jpg", "/x/a.png.png", "/x/a.jpg.jpg", "/a/a.png/a.png"],
        ["/x/a.tif", "/x/a.tif#01", "/x/a.tif#01#02"],
        ["/x/a.tif", "/x/a.png", "/x/a.tif#01.png", "/y/a.tif#01.png", "/x/a#01.tif", "/y/a#01.tif"],
        [os.fsdecode(b"/x/caf\xe9.png"), os.fsdecode(b"/x/caf\xe8.png"), "/x/caf.png"],
    ],
)
def test_names_are_unique_whatever_the_files_are_called(files: list[str]) -> None:
    names = name_files([Path(file) for file in files])
    numbered = [name + number for name in names for number in ("", "#01", "#02", "#01#01")]
    assert len(set(numbered)) == len(numbered)
    "".join(names).encode()


def test_a_file_given_twice_is_read_once(tmp_path: Path) -> None:
    path = touch(tmp_path / "a.png")
    assert find_images([tmp_path, path]) == [path]


def test_images_beside_a_result_of_deshred_are_read_and_the_result_is_not(tmp_path: Path) -> None:
    scan = touch(tmp_path / "scan.png")
    shred = touch(tmp_path / "shreds/shreds/scan#01.png")
    touch(tmp_path / "shreds" / CASE)
    assert find_images([tmp_path]) == [scan]
    assert find_images([tmp_path / "shreds"]) == [shred]
    assert find_images([tmp_path, tmp_path / "shreds"]) == [scan, shred]


def test_the_shreds_of_a_result_that_was_named_are_read(tmp_path: Path) -> None:
    touch(tmp_path / "pile" / CASE)
    shred = touch(tmp_path / "pile/shreds/a.png")
    assert find_images([tmp_path / "pile"]) == [shred]


def test_images_left_unread_beside_shreds_are_told_of(tmp_path: Path) -> None:
    shred = touch(tmp_path / "strips/a.png")
    touch(tmp_path / "masks/a.png")
    touch(tmp_path / "notes.txt")
    touch(tmp_path / ".hidden.png")
    assert find_images([tmp_path]) == [shred]
    one, two = touch(tmp_path / "one.png"), touch(tmp_path / "two.TIF")
    with pytest.warns(UnreadImagesWarning, match=r"2 images beside .*strips were not read; give them by"):
        assert find_images([tmp_path]) == [shred]
    with pytest.warns(UnreadImagesWarning, match=r"1 image beside .*strips was not read; give it by name"):
        assert find_images([tmp_path, one]) == [shred, one]
    assert find_images([tmp_path, one, two]) == [shred, one, two]


def test_links_that_lead_in_circles_come_to_an_end(tmp_path: Path) -> None:
    path = touch(tmp_path / "a/z.png")
    for name in ("up", "back", "again"):
        (tmp_path / "a" / name).symlink_to(tmp_path)
    assert find_images([tmp_path]) == [path]
    assert find_images([tmp_path, tmp_path / "a"]) == [path]


def test_a_link_that_leads_to_itself_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "loop.png").symlink_to("loop.png")
    with pytest.raises(InputError, match=r"loop.*link"):
        find_images([tmp_path])


@pytest.mark.parametrize("name", ["x" * 300 + ".png", "y" * 300 + "/a.png"])
def test_an_over_long_name_is_an_input_error_with_a_remedy(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"too long.*Check the name"):
        find_images([tmp_path / name])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
@pytest.mark.parametrize("given", ["shut/inner/a.png", "shut/inner", "shut"])
def test_a_forbidden_folder_is_an_input_error_with_a_remedy(tmp_path: Path, given: str) -> None:
    touch(tmp_path / "shut/inner/a.png")
    (tmp_path / "shut").chmod(0)
    try:
        with pytest.raises(InputError, match="permissions"):
            find_images([tmp_path / given])
    finally:
        (tmp_path / "shut").chmod(0o700)


def test_a_mask_whose_name_would_be_too_long_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "masks").mkdir()
    with pytest.raises(InputError, match="too long"):
        find_mask(tmp_path / "strips" / ("x" * 254 + ".b"))


def test_what_is_no_file_is_passed_over_in_a_folder_and_refused_by_name(tmp_path: Path) -> None:
    path = touch(tmp_path / "a.png")
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "device.png").symlink_to("/dev/zero")
    assert find_images([tmp_path]) == [path]
    for name in ("pipe.png", "device.png"):
        with pytest.raises(InputError, match=rf"{name}: a pipe, socket or device.*Save"):
            read_file(*find_images([tmp_path / name]))


def test_a_broken_link_is_called_so(tmp_path: Path) -> None:
    link = tmp_path / "lost.png"
    link.symlink_to("moved/away.png")
    for given in (tmp_path, link):
        with pytest.raises(
            InputError, match=r"lost\.png: a broken link; moved.away\.png is not there\. Remove"
        ):
            read_file(*find_images([given]))


def test_files_lie_where_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "real/deep/a.png").write_bytes(b"")
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "real/link.png").symlink_to(tmp_path / "real/deep/a.png")
    folders = _Folders()
    for name in (
        "real/deep/a.png",
        "folder/deep/a.png",
        "folder/link.png",
        "folder/..",
        "real/../gone/b.png",
    ):
        assert folders.resolve(tmp_path / name) == (tmp_path / name).resolve()
