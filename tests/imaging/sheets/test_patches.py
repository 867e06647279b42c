"""Pieces of paper are found whole: cracks are bridged, ink is filled, holes of a punch stay holes."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.imaging.sheets.patches import (
    Box,
    Patch,
    bridge_cracks,
    fill_holes,
    fill_ink,
    find_patches,
    has_holes,
    measure_size,
    outer_contour,
    to_pixels,
)

DPI = 100.0


def sheet(*boxes: tuple[int, int, int, int], shape: tuple[int, int] = (200, 160)) -> np.ndarray:
    """Paper where the boxes (x, y, width, height) lie."""
    paper = np.zeros(shape, bool)
    for x, y, width, height in boxes:
        paper[y : y + height, x : x + width] = True
    return paper


def flooded(paper: np.ndarray, seed: tuple[int, int]) -> set[tuple[int, int]]:
    """The piece around a pixel, one step at a time."""
    found, waiting = set(), [seed]
    while waiting:
        y, x = waiting.pop()
        inside = 0 <= y < paper.shape[0] and 0 <= x < paper.shape[1]
        if not inside or (y, x) in found or not paper[y, x]:
            continue
        found.add((y, x))
        waiting += [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
    return found


def ragged(seed: int) -> np.ndarray:
    """Rows of one run each, which mostly touch the next."""
    rng = np.random.default_rng(seed)
    columns, starts = np.arange(40), rng.integers(0, 16, (30, 1))
    paper = (columns >= starts) & (columns < starts + rng.integers(12, 20, (30, 1)))
    paper[: seed % 3] = False
    return paper


@pytest.mark.parametrize(
    "paper",
    [
        *(np.random.default_rng(seed).random((30, 40)) < 0.55 for seed in range(5)),
        *(ragged(seed) for seed in range(12)),
        np.eye(6, dtype=bool).repeat(3, axis=1),  # rows that meet at corners alone
        np.zeros((5, 5), bool),
    ],
)
def test_pieces_are_those_of_a_plain_flood(paper: np.ndarray) -> None:
    found = find_patches(paper, min_area=5)
    rest, small = paper.copy(), 0
    pieces = {}
    while rest.any():
        piece = flooded(paper, tuple(np.argwhere(rest)[0].tolist()))
        for pixel in piece:
            rest[pixel] = False
        small += len(piece) < 5
        if len(piece) >= 5:
            pieces[frozenset(piece)] = True
    assert found.specks == small
    own = {
        frozenset((y + p.box.y, x + p.box.x) for y, x in np.argwhere(p.mask).tolist()) for p in found.large
    }
    assert own == set(pieces)


def test_a_piece_lies_where_its_part_of_the_scan_lies() -> None:
    patch = find_patches(sheet((10, 20, 30, 40)), min_area=1, origin=(100, 1000)).large[0]
    assert patch.box == Box(110, 1020, 30, 40)
    assert patch.box.as_list() == [110, 1020, 30, 40]
    assert patch.box.middle_y == 1040
    assert patch.mask.all()


def test_a_margin_goes_as_far_as_the_scan() -> None:
    wide = Patch(Box(2, 50, 10, 20), np.ones((20, 10), bool)).with_margin(5, (72, 100))
    assert wide.box == Box(0, 45, 17, 27)
    assert wide.mask.shape == (27, 17)
    assert wide.mask.sum() == 200
    assert wide.mask[5:25, 2:12].all()


@pytest.mark.parametrize(("x", "y"), [(20, 100), (100, 20)])
def test_the_size_of_a_piece_is_the_same_however_it_lies(x: int, y: int) -> None:
    size = measure_size(sheet((10, 10, x, y)))
    assert size.length == pytest.approx(100, abs=1)
    assert size.width == pytest.approx(20, abs=1.5)
    assert size.fullness == pytest.approx(1, abs=0.1)
    assert len(outer_contour(sheet((10, 10, x, y)))) == 4


@pytest.mark.parametrize("lying", [False, True])
def test_a_ruled_line_across_a_shred_is_bridged_and_a_gap_between_shreds_is_not(lying: bool) -> None:
    paper = sheet((20, 10, 30, 80), (20, 92, 30, 80), (60, 10, 30, 162))  # cut by a line of two pixels
    bridged = bridge_cracks(paper.T if lying else paper, dpi=DPI, dark_sheet=False)
    bridged = bridged.T if lying else bridged
    assert bridged[90:92, 22:48].all()
    assert not bridged[:, 51:59].any()
    assert len(find_patches(bridged, min_area=50).large) == 2


def test_a_thick_line_is_bridged_on_a_dark_sheet_alone() -> None:
    paper = sheet((20, 10, 30, 80), (20, 97, 30, 80))
    assert len(find_patches(bridge_cracks(paper, dpi=DPI, dark_sheet=True), min_area=50).large) == 1
    assert len(find_patches(bridge_cracks(paper, dpi=DPI, dark_sheet=False), min_area=50).large) == 2


def test_ink_inside_is_paper_and_a_punched_hole_is_not() -> None:
    paper = sheet((10, 10, 120, 150))
    small, large = (slice(30, 34), slice(30, 40)), (slice(80, 102), slice(50, 72))  # 5.6 mm: a punch
    paper[small] = paper[large] = False
    filled = fill_holes(paper, dpi=DPI)
    assert filled[small].all()
    assert not filled[large].any()
    assert has_holes(filled)
    assert not has_holes(sheet((10, 10, 20, 20)))
    whole = fill_ink(paper, dpi=DPI)
    assert whole[large].all()


def test_a_sharp_dent_of_ink_is_filled_and_nothing_outside_is_added() -> None:
    paper = sheet((20, 20, 60, 120))
    paper[60:64, 20:30] = False  # a line of print that runs out at the edge
    filled = fill_ink(paper, dpi=DPI)
    assert filled[60:64, 22:30].all()
    assert not filled[:, :20].any()
    assert not filled[:20].any()


def test_millimeters_are_parts_of_an_inch() -> None:
    assert to_pixels(25.4, 300) == 300
