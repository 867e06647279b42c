"""What `shreds.json` says is what was found, in plain values."""

from __future__ import annotations

import json

import numpy as np

from deshred.elements import Scan
from deshred.imaging.sheets.cutouts import Segmentation, ShredName
from deshred.imaging.sheets.segmentation import segment
from tests.imaging.sheets.drawn_sheets import orange_sheet

ORANGE = (250, 180, 88)


def test_a_shred_is_called_by_its_sheet_and_its_number() -> None:
    name = ShredName("drawer", 7)
    assert str(name) == "drawer#07"
    assert name.label == "07"
    assert str(ShredName("drawer", 123)) == "drawer#123"


def found_on(scan: Scan) -> Segmentation:
    return segment(scan)


def test_the_index_tells_every_cutout_and_every_scrap_in_plain_values() -> None:
    found = found_on(orange_sheet())
    told = json.loads(json.dumps(found.as_json()))
    assert told["sheet"] == "drawer.png"
    assert (told["frame"], told["sha256"], told["size"], told["dpi"]) == (3, "ab" * 32, [300, 500], 100.0)
    assert [entry["id"] for entry in told["shreds"]] == [shred.id for shred in found.shreds]
    assert len(told["shreds"]) == 2
    assert len(told["ignored"]) + told["dust"] == 1
    background = bytes.fromhex(told["background"].removeprefix("#"))
    assert np.abs(np.array([*background], int) - ORANGE).max() < 12


def test_a_cutout_lies_where_its_shred_lies() -> None:
    scan = orange_sheet()
    found = found_on(scan)
    for cutout, entry in zip(found.cutouts, found.as_json()["shreds"], strict=True):
        x, y, width, height = entry["box_xywh"]
        assert cutout.mask.shape == (height, width)
        assert cutout.mask.sum() == cutout.area == entry["area"]
        paper = scan.image[y : y + height, x : x + width][cutout.mask]
        assert (paper == ORANGE).all(axis=1).mean() < 0.05
        outline = np.array(entry["outline"])
        assert outline.min(axis=0).tolist() >= [x - 1, y - 1]
    assert "2 shreds" in repr(found)
