from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from deshred.compatibility.tears import are_torn, remove_slow_part
from deshred.elements import Edge, EdgePair, RowInk


@pytest.mark.parametrize("slow_rows", [8.0, 40.0])
def test_the_slow_part_is_what_a_gaussian_filter_keeps(slow_rows: float) -> None:
    outline = np.random.default_rng(0).normal(0, 1, 3000).cumsum().astype(np.float32)
    expected = outline - gaussian_filter1d(outline.astype(np.float64), slow_rows, truncate=8)
    np.testing.assert_allclose(remove_slow_part(outline, slow_rows, clip=1e9), expected, atol=1e-3)


def test_rows_without_paper_say_nothing() -> None:
    outline = np.random.default_rng(0).normal(0, 1, 3000).astype(np.float32)
    outline[1000:1100] = np.nan
    quick = remove_slow_part(outline)
    assert np.all(quick[1000:1100] == 0)
    assert np.abs(quick[900:1000]).max() > 1
    assert not remove_slow_part(np.full(3000, np.nan, np.float32)).any()


def edges_with(ragged: float, count: int = 5) -> list[EdgePair]:
    rng = np.random.default_rng(1)
    ink, tone = np.zeros((3000, 2), np.uint8), np.full((3000, 3), 255, np.uint8)
    sides = [Edge(ink, rng.normal(0, ragged, 3000).astype(np.float32), tone, 0) for _ in range(2 * count)]
    rows = RowInk.of(*np.zeros((3, 3000), np.bool_))
    return [EdgePair(left, right, rows) for left, right in zip(sides[::2], sides[1::2], strict=True)]


def test_a_pile_is_torn_if_most_outlines_are_ragged() -> None:
    assert are_torn(edges_with(1.0))
    assert not are_torn(edges_with(0.0))
    assert not are_torn(edges_with(1.0, 2) + edges_with(0.0, 3))
