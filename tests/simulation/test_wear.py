from __future__ import annotations

import numpy as np
import pytest

from deshred.errors import SettingsError
from deshred.imaging.binarization import to_gray
from deshred.simulation.drawing import DrawingOptions, draw_page
from deshred.simulation.wear import WEARS, Wear, wear_page

PAGE = draw_page("text", np.random.default_rng(0), options=DrawingOptions(dpi=150, scanned=False))


@pytest.mark.parametrize("wear", WEARS)
def test_every_wear_keeps_the_size_and_changes_the_page(wear: Wear) -> None:
    worn = wear_page(PAGE, wear, 0.5, np.random.default_rng(1))
    assert worn.shape == PAGE.shape
    assert worn.dtype == np.uint8
    assert (worn != PAGE).any()


@pytest.mark.parametrize("wear", WEARS)
def test_the_same_generator_wears_alike(wear: Wear) -> None:
    first, second = (wear_page(PAGE, wear, 0.7, np.random.default_rng(2)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("wear", ["pale", "faded", "bleed-through", "low-resolution", "photo", "squared"])
def test_more_strength_changes_more(wear: Wear) -> None:
    def change(strength: float) -> float:
        worn = to_gray(wear_page(PAGE, wear, strength, np.random.default_rng(3)))
        return float(np.abs(worn.astype(float) - to_gray(PAGE)).mean())

    assert change(0.1) < change(0.9)


def test_wear_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(SettingsError, match="pale"):
        wear_page(PAGE, "burned", 0.5, np.random.default_rng(0))  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="between 0 and 1"):
        wear_page(PAGE, "pale", 1.5, np.random.default_rng(0))
