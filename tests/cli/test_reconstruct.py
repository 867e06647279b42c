"""`deshred reconstruct`: pages out of shreds, and exact codes for what cannot be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deshred.imaging.decoding import encode_png
from deshred.settings import Settings
from tests.commands import run
from tests.conftest import SavedPile


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def png(level: int = 200, height: int = 120, width: int = 40) -> bytes:
    image = np.full((height, width, 3), 240, np.uint8)
    image[30:60, 5:30] = level
    return encode_png(image)


def test_shreds_in_pages_out(saved_pile: SavedPile, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run("reconstruct", saved_pile.folder, "-o", out, "--scorer", "outline", "--pages", 1)
    assert result.exit_code == 0, result.stderr
    told = result.stdout.splitlines()
    assert told[0].startswith("read as 9 single shreds: ")
    assert told[1].startswith("8 shreds, 1 page, 1 blank shred set aside")
    assert str(out / "report.html") in result.stdout
    assert "reading: 9/9" in result.stderr
    content = json.loads((out / "arrangement.json").read_text())
    assert tuple(shred["id"] for shred in content["pages"][0]["shreds"]) == saved_pile.truth
    assert (out / "pages" / "page-001.png").stat().st_size > 10_000

    again = run("reconstruct", saved_pile.folder, "-o", out, "--scorer", "outline", "--pages", 1)
    assert (again.exit_code, again.stdout) == (4, "")
    assert "--force" in again.stderr

    flags = ("--scorer", "outline", "--pages", 1, "--force", "--quiet", "--json")
    forced = run("reconstruct", saved_pile.folder, "-o", out, *flags)
    assert (forced.exit_code, forced.stderr) == (0, "")
    again = json.loads(forced.stdout)["pages"]
    assert [page["joins"] for page in again] == [page["joins"] for page in content["pages"]]


def test_flags_override_the_settings_file_and_it_the_defaults(saved_pile: SavedPile, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('scorer = "outline"\njobs = 1\n[arrangement]\npages = 3\n')
    given = ("--settings", tmp_path / "s.toml", "--pages", 1, "--json")
    result = run("reconstruct", saved_pile.folder, "-o", tmp_path / "out", *given)
    assert result.exit_code == 0, result.stderr
    settings = json.loads(result.stdout)["settings"]
    assert (settings["scorer"], settings["jobs"]) == ("outline", 1)
    assert settings["arrangement"]["pages"] == 1
    assert settings["arrangement"]["solver"] == Settings().arrangement.solver


def zero_bytes(folder: Path) -> None:
    write(folder / "a.png", b"")


def truncated(folder: Path) -> None:
    write(folder / "a.png", png()[:90])


def wrong_mask(folder: Path) -> None:
    write(folder / "strips" / "a.png", png())
    write(folder / "masks" / "a.png", png(height=99))


def one_shred(folder: Path) -> None:
    write(folder / "a.png", png(0))


def all_blank(folder: Path) -> None:
    for name in "abc":
        write(folder / f"{name}.png", png(230))


def nothing(folder: Path) -> None:
    folder.mkdir()


@pytest.mark.parametrize("make", [zero_bytes, truncated, wrong_mask, one_shred, all_blank, nothing])
def test_bad_input_is_one_line_and_exit_code_3(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "in put")
    flags = ("-o", tmp_path / "out", "--scorer", "outline", "-q")
    result = run("reconstruct", tmp_path / "in put", *flags)
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_ours_is_left_alone(saved_pile: SavedPile, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years")
    result = run("reconstruct", saved_pile.folder, "-o", tmp_path, "--force")
    assert result.exit_code == 4
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_input_is_never_overwritten(saved_pile: SavedPile) -> None:
    before = sorted(saved_pile.folder.iterdir())
    result = run("reconstruct", saved_pile.folder, "-o", saved_pile.folder, "--force")
    assert result.exit_code == 4
    assert sorted(saved_pile.folder.iterdir()) == before


@pytest.mark.parametrize(
    "args",
    [
        ("reconstruct", "x", "-o", "out", "--pages", "0"),
        ("reconstruct", "x", "-o", "out", "--as", "pages"),
        ("reconstruct", "x", "-o", "out", "--background", "orangish"),
        ("reconstruct", "x", "-o", "out", "--settings", "none.toml"),
        ("reconstruct", "x", "-o", "out", "--frobnicate"),
        ("reconstruct", "-o", "out"),
    ],
)
def test_senseless_flags_have_exit_code_2(args: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        result = run(*args)
    assert result.exit_code == 2
    assert result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_flag_that_makes_no_sense_is_named_as_it_was_given(saved_pile: SavedPile, tmp_path: Path) -> None:
    done = run("reconstruct", saved_pile.folder, "-o", tmp_path / "out", "--dpi", "7")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: --dpi: dpi must lie between")


def test_a_flag_is_not_taken_for_the_name_of_a_folder(saved_pile: SavedPile, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = run("reconstruct", saved_pile.folder, "-o", "-q")
    assert done.exit_code == 2
    assert "looks like a flag" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse names that are no text")
def test_names_of_files_may_hold_bytes_that_are_no_text(saved_pile: SavedPile, tmp_path: Path) -> None:
    for number, file in enumerate(sorted(saved_pile.folder.glob("s*.png"))[:3]):
        shutil.copy(file, os.fsencode(tmp_path) + b"/caf\xe9-%d.png" % number)
    flags = ["-o", tmp_path / "out", "--scorer", "outline", "--pages", "1", "--json", "-q"]
    command = [sys.executable, "-m", "deshred", "reconstruct", tmp_path, *flags]
    done = subprocess.run([*map(str, command)], capture_output=True, check=True)
    sources = [entry["path"] for entry in json.loads(done.stdout)["inputs"]]
    assert sources == [os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9-%d.png" % n) for n in range(3)]
    kept = json.loads((tmp_path / "out" / "arrangement.json").read_text())
    assert [entry["path"] for entry in kept["inputs"]] == [f"../caf\udce9-{n}.png" for n in range(3)]


def test_what_is_known_for_sure_is_obeyed_and_written_down(saved_pile: SavedPile, tmp_path: Path) -> None:
    one, two, *_, last = saved_pile.truth
    known = tmp_path / "known.toml"
    known.write_text(f'forbidden = [["{one}", "{two}"]]\nfirst = ["{last}"]\n')
    flags = ["--scorer", "outline", "--pages", 1, "--constraints", known]
    done = run("reconstruct", saved_pile.folder, "-o", tmp_path / "out", "--json", *flags)
    assert done.exit_code == 0, done.stderr
    content = json.loads(done.stdout)
    order = [shred["id"] for shred in content["pages"][0]["shreds"]]
    assert order[0] == last
    assert order.index(two) != order.index(one) + 1
    assert content["constraints"] == {"forbidden": [[one, two]], "first": [last]}
    again = run("arrange", tmp_path / "out" / "compatibility.npz", "--json", *flags[2:])
    assert json.loads(again.stdout)["pages"] == [order]


def test_constraints_that_contradict_or_name_nobody_are_told_apart(
    saved_pile: SavedPile, tmp_path: Path
) -> None:
    one, two, *_ = saved_pile.truth
    known = tmp_path / "known.toml"
    for text, code, told in (
        (f'required = [["{one}", "{two}"]]\nforbidden = [["{one}", "{two}"]]', 7, two),
        ('first = ["nobody"]', 5, "nobody"),
    ):
        known.write_text(text)
        flags = ["--scorer", "outline", "--constraints", known, "--force"]
        done = run("reconstruct", saved_pile.folder, "-o", tmp_path / "out", *flags)
        assert done.exit_code == code
        assert told in done.stderr


def test_adding_scans_later_gives_the_same_pages(saved_pile: SavedPile, tmp_path: Path) -> None:
    files = sorted(saved_pile.folder.glob("s*.png"))
    flags = ("--scorer", "outline", "--pages", 1, "--json", "-q")
    whole = run("reconstruct", *files, "-o", tmp_path / "whole", *flags)
    run("reconstruct", *files[:5], "-o", tmp_path / "grown", *flags)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)  # the case knows where its scans are, wherever one stands
        added = run("reconstruct", *files[5:], "-o", "grown", "--add", *flags)
    assert added.exit_code == 0, added.stderr
    pages = [json.loads(done.stdout)["pages"] for done in (whole, added)]
    assert pages[0] == pages[1]
    scores = [(tmp_path / name / "compatibility.npz").read_bytes() for name in ("whole", "grown")]
    assert scores[0] == scores[1]


def test_scans_that_changed_are_not_added_to(saved_pile: SavedPile, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    files = [shutil.copy(file, tmp_path / "in") for file in sorted(saved_pile.folder.glob("s*.png"))]
    flags = ("--scorer", "outline", "--pages", 1, "-q")
    assert run("reconstruct", *files[:5], "-o", tmp_path / "out", *flags).exit_code == 0
    shutil.copy(files[6], files[0])
    done = run("reconstruct", *files[5:], "-o", tmp_path / "out", "--add", *flags)
    assert done.exit_code == 5
    assert "has changed since it was read" in done.stderr
