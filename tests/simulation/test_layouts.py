from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deshred.elements import Shred, Source
from deshred.errors import SettingsError
from deshred.simulation.layouts import LayoutOptions, lay_out

SHEET = LayoutOptions(dpi=100, width_mm=100, height_mm=80)


def white_shreds(count: int = 4) -> list[Shred]:
    source = Source(Path("white.png"), "")
    image, mask = np.full((600, 90, 3), 255, np.uint8), np.ones((600, 90), bool)
    return [Shred(f"w{i}", image, mask, 300, source) for i in range(count)]


def test_the_truth_is_where_the_white_is() -> None:
    layout = lay_out(white_shreds(), np.random.default_rng(0), options=SHEET)
    white = layout.image[..., 2] > 200
    truth = np.any([layout.truth(i) for i in range(4)], axis=0)
    assert (white == truth).mean() > 0.99
    assert not (layout.truth(0) & layout.truth(1)).any()


def test_touching_pairs_touch_and_others_do_not() -> None:
    layout = lay_out(white_shreds(), np.random.default_rng(0), options=replace(SHEET, touching_pairs=1))
    gaps = []
    for i in range(3):
        left, right = layout.truth(i), layout.truth(i + 1)
        row = 100
        gaps.append(int(right[row].argmax()) - int(np.flatnonzero(left[row])[-1]) - 1)
    assert sorted(gap > 0 for gap in gaps) == [False, True, True]
    assert sum(one.touches for one in layout.laid) == 2


def test_shreds_without_room_are_left_out() -> None:
    layout = lay_out(white_shreds(40), np.random.default_rng(0), options=SHEET)
    assert 0 < len(layout.laid) < 40


def test_the_same_seed_gives_the_same_sheet() -> None:
    options = LayoutOptions(dpi=100, width_mm=100, height_mm=80, max_lean=3, noise=4, jpeg_quality=75)
    once, again = (lay_out(white_shreds(), np.random.default_rng(5), options=options) for _ in range(2))
    assert np.array_equal(once.image, again.image)


def test_a_sheet_too_small_is_refused() -> None:
    with pytest.raises(SettingsError, match="too small"):
        LayoutOptions(width_mm=5)
    with pytest.raises(SettingsError, match="gradient"):
        LayoutOptions(gradient=1.5)
