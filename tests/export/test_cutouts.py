"""Shreds cut out of a sheet are files with every pixel, an index, and a picture to check."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deshred.errors import OutputError
from deshred.export.cutouts import list_warnings, segment_into
from deshred.imaging.decoding import encode_png
from deshred.imaging.intakes import Sheet
from deshred.imaging.scans import read_scans
from tests.imaging.sheets.drawn_sheets import orange_sheet


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Sheet, ...]]:
    folder = tmp_path_factory.mktemp("sheets")
    image = orange_sheet().image.repeat(2, axis=0).repeat(2, axis=1)
    image[300:340, 80:90] = image[300:340, 240:250] = image[0, 0]  # both shreds have a notch
    (folder / "drawer.png").write_bytes(encode_png(image, dpi=200))
    return folder / "out", segment_into(folder / "out", [folder / "drawer.png"])


def test_every_shred_is_a_file_with_its_pixels_and_its_outline(cut: tuple[Path, tuple[Sheet, ...]]) -> None:
    folder, sheets = cut
    shreds = sheets[0].segmentation.shreds
    assert sorted(file.stem for file in (folder / "shreds").iterdir()) == [shred.id for shred in shreds]
    for shred in shreds:
        scan = read_scans(folder / "shreds" / f"{shred.id}.png")[0]
        assert scan.mask is not None
        assert np.array_equal(scan.mask, shred.mask)
        assert np.array_equal(scan.image[shred.mask], shred.image[shred.mask])
        assert scan.dpi == pytest.approx(200, abs=0.5)


def test_the_index_names_the_overview_that_lies_beside_it(cut: tuple[Path, tuple[Sheet, ...]]) -> None:
    folder, _ = cut
    told = json.loads((folder / "shreds.json").read_text(encoding="utf-8"))["sheets"]
    assert [entry["sheet"] for entry in told] == ["drawer.png"]
    assert (folder / told[0]["overview"]).is_file()
    assert [shred["id"] for shred in told[0]["shreds"]] == ["drawer#01", "drawer#02"]


def test_a_folder_of_somebody_else_is_not_written_to(
    cut: tuple[Path, tuple[Sheet, ...]], tmp_path: Path
) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OutputError, match="did not write"):
        segment_into(tmp_path, [cut[0].parent / "drawer.png"])
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_shreds_that_share_a_doubt_share_its_line(cut: tuple[Path, tuple[Sheet, ...]]) -> None:
    sheet = cut[1][0]
    found = sheet.segmentation
    doubtful = tuple(replace(cutout, warnings=("leans",)) for cutout in found.cutouts)
    warned = replace(sheet, segmentation=replace(found, cutouts=doubtful, warnings=("dark",)))
    assert list_warnings(warned) == ["dark", "01, 02: leans"]
