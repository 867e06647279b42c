"""`deshred segment`: the shreds it cuts out are those that `reconstruct` would have read."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from deshred.elements import ShredSet
from tests.commands import run


@pytest.fixture
def sheet(tiny_pile: ShredSet, tmp_path: Path) -> Path:
    """Four shreds on orange paper."""
    image = np.full((1800, 1200, 3), (255, 153, 51), np.uint8)
    for at, shred in enumerate(list(tiny_pile)[2:6]):
        height, width = shred.mask.shape
        view = image[60 : 60 + height, 80 + 280 * at : 80 + 280 * at + width]
        view[shred.mask] = shred.image[shred.mask]
    path = tmp_path / "sheet.jpg"
    cv2.imwrite(str(path), cv2.cvtColor(image, cv2.COLOR_RGB2BGR))
    return path


def test_segment_cuts_out_what_reconstruct_reads(sheet: Path, tmp_path: Path) -> None:
    out = tmp_path / "cut"
    result = run("segment", sheet, "-o", out)
    assert result.exit_code == 0, result.stderr
    assert "sheet: 4 shreds" in result.stdout
    names = [path.name for path in sorted((out / "shreds").iterdir())]
    assert names == [f"sheet#0{number}.png" for number in range(1, 5)]
    index = json.loads((out / "shreds.json").read_text())
    assert [shred["id"] for shred in index["sheets"][0]["shreds"]] == [name[:-4] for name in names]
    assert (out / index["sheets"][0]["overview"]).exists()
    flags = ("--scorer", "outline", "--pages", 1, "--json", "-q")
    from_cut = run("reconstruct", out, "-o", tmp_path / "a", *flags)
    from_sheet = run("reconstruct", sheet, "-o", tmp_path / "b", *flags)
    assert from_cut.exit_code == from_sheet.exit_code == 0
    pages = [json.loads(done.stdout)["pages"][0] for done in (from_cut, from_sheet)]
    assert [shred["id"] for shred in pages[0]["shreds"]] == [shred["id"] for shred in pages[1]["shreds"]]


def test_what_is_printed_for_programs_is_what_is_written(sheet: Path, tmp_path: Path) -> None:
    done = run("segment", sheet, "-o", tmp_path / "cut", "--json", "-q")
    assert (done.exit_code, done.stderr) == (0, "")
    kept = json.loads((tmp_path / "cut" / "shreds.json").read_text())
    assert json.loads(done.stdout)["sheets"] == kept["sheets"]


@pytest.mark.parametrize(
    ("flags", "code", "told"),
    [
        (("--background", "orangish"), 2, "--background"),
        (("--min-width-mm", "-1"), 2, "--min-width-mm"),
        (("--as", "sheets"), 2, "No such option"),  # whatever it is given is a sheet
        (("--force",), 4, "did not write"),
    ],
)
def test_what_it_refuses_is_told_and_nothing_is_written(
    flags: tuple[str, ...], code: int, told: str, sheet: Path, tmp_path: Path
) -> None:
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "thesis.txt").write_text("years")
    done = run("segment", sheet, "-o", tmp_path / "cut", *flags, "-q")
    assert done.exit_code == code
    assert told in done.stderr
    assert [path.name for path in (tmp_path / "cut").iterdir()] == ["thesis.txt"]
