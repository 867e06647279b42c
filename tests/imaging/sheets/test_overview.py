"""The overview shows every outline in its color, and doubts in red."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.elements import Image, Scan
from deshred.imaging.sheets.cutouts import Scrap, Segmentation
from deshred.imaging.sheets.overview import draw_overview
from deshred.imaging.sheets.patches import Box
from deshred.imaging.sheets.rims import Rim
from deshred.imaging.sheets.segmentation import segment
from tests.imaging.sheets.drawn_sheets import orange_sheet

BLUE, VIOLET, RED, GREY = (0, 90, 200), (150, 0, 130), (215, 0, 0), (90, 90, 90)


@pytest.fixture(scope="module")
def sheet() -> tuple[Scan, Segmentation]:
    scan = orange_sheet()
    return scan, segment(scan)


def has(picture: Image, color: tuple[int, int, int], part: tuple[slice, slice]) -> bool:
    distance = np.abs(picture[part].astype(int) - color).max(axis=2)
    return bool((distance < 25).any())


def around(box: Box) -> tuple[slice, slice]:
    return slice(box.y, box.y + box.height), slice(box.x, box.x + box.width)


def test_neighbors_take_turns_in_blue_and_violet(sheet: tuple[Scan, Segmentation]) -> None:
    scan, found = sheet
    picture = draw_overview(scan, found)
    first, second = (around(cutout.box) for cutout in found.cutouts)
    assert has(picture, BLUE, first)
    assert not has(picture, VIOLET, first)
    assert has(picture, VIOLET, second)
    assert not has(picture, BLUE, second)
    assert not has(picture, RED, (slice(None), slice(None)))


def test_a_doubtful_shred_is_red(sheet: tuple[Scan, Segmentation]) -> None:
    scan, found = sheet
    doubtful = replace(found.cutouts[0], warnings=("odd",))
    picture = draw_overview(scan, replace(found, cutouts=(doubtful, found.cutouts[1])))
    assert has(picture, RED, around(doubtful.box))
    assert not has(picture, RED, around(found.cutouts[1].box))


def test_scraps_are_crossed_out_and_rims_are_drawn(sheet: tuple[Scan, Segmentation]) -> None:
    scan, found = sheet
    scrap, rim = Scrap(Box(200, 300, 60, 60), 3600, "odd"), Rim("left", 8.0, 8.0)
    empty = replace(found, cutouts=(), shreds=(), scraps=(scrap,), rims=(rim,))
    picture = draw_overview(scan, empty)
    assert has(picture, GREY, (slice(328, 333), slice(228, 233)))  # where the strokes cross
    assert has(picture, GREY, (slice(240, 260), slice(6, 11)))


def test_the_scan_is_left_alone_and_the_picture_is_no_longer_than_asked_for(
    sheet: tuple[Scan, Segmentation],
) -> None:
    scan, found = sheet
    before = scan.image.copy()
    assert draw_overview(scan, found, longest_side=250).shape == (250, 150, 3)
    assert draw_overview(scan, found).shape == scan.image.shape  # never enlarged
    assert np.array_equal(scan.image, before)
