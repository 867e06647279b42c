from __future__ import annotations

import numpy as np

from deshred.imaging.sheets.rims import draw_rims, find_rims


def sheet(height: int = 600, width: int = 500) -> np.ndarray:
    return np.zeros((height, width), bool)


def test_a_sheet_that_fills_the_scan_has_no_rim() -> None:
    paper = sheet()
    paper[:, 100:150] = True  # a shred from top to bottom
    paper[0, 300] = True
    assert find_rims(paper, dpi=300) == ()


def test_a_slanted_rim_is_cut_along_its_line() -> None:
    paper = sheet()
    depths = np.linspace(4, 20, 500)
    rim = np.arange(600)[:, None] < depths
    paper |= rim
    paper[:300, 200:240] = True  # a shred that overlaps the rim
    (found,) = find_rims(paper, dpi=300)
    assert found.side == "top"
    drawn = draw_rims((found,), paper.shape)
    assert np.abs(drawn.sum(axis=0) - depths).max() <= 3
    assert not (paper & ~drawn)[:, :190].any()


def test_a_ragged_shred_along_the_border_is_no_rim() -> None:
    paper = sheet()
    rng = np.random.default_rng(0)
    edge = 40 + np.cumsum(rng.normal(0, 2, 600))
    paper |= np.arange(500) < edge[:, None]
    assert find_rims(paper, dpi=300) == ()
