from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from deshred.compatibility.tears import remove_slow_part


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
