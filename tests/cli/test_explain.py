"""`deshred explain`: a tinted page, or why there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deshred.imaging.scans import read_scans
from tests.commands import run


def test_the_picture_is_as_large_as_its_page(own_case: Path) -> None:
    done = run("explain", own_case, "--json", "-q")
    assert (done.exit_code, done.stderr) == (0, "")
    picture = read_scans(Path(json.loads(done.stdout)["picture"]))[0].image
    page = read_scans(own_case / "pages" / "page-001.png")[0].image
    assert picture.shape == page.shape
    assert (picture != page).any()


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (("--page", "2"), 3, "no page 2"),
        (("--page", "0"), 3, "no page 0"),
        (("--model", "nowhere.onnx"), 6, "nowhere.onnx"),
        (("--model", "towers-default"), 6, "pairwise"),
        (("--jobs", "0"), 2, "--jobs"),
    ],
)
def test_what_cannot_be_shown_has_its_own_exit_code(
    flags: tuple[str, str], code: int, told: str, own_case: Path
) -> None:
    before = sorted(own_case.rglob("*"))
    done = run("explain", own_case, *flags, "-q")
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr
    assert sorted(own_case.rglob("*")) == before


def test_a_folder_that_is_no_case_has_exit_code_3(tmp_path: Path) -> None:
    done = run("explain", tmp_path)
    assert done.exit_code == 3
    assert str(tmp_path) in done.stderr
