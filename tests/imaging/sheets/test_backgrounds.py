from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deshred.elements import Scan, Source
from deshred.errors import InputError
from deshred.imaging.sheets.backgrounds import find_background, measure_coverage

ORANGE = np.array([250, 180, 88])


def scan(image: np.ndarray) -> Scan:
    return Scan(image.round().clip(0, 255).astype(np.uint8), 150, Source(Path("sheet.png"), ""))


def half_covered(paper: int = 255) -> np.ndarray:
    """Orange on the left, paper on the right, and one column in the middle that is half of both."""
    image = np.empty((400, 401, 3))
    image[:, :200], image[:, 201:] = ORANGE, paper
    image[:, 200] = (ORANGE + paper) / 2
    return image


def test_coverage_is_the_share_of_paper() -> None:
    sheet = scan(half_covered())
    background = find_background(sheet)
    assert background.is_colored
    assert background.color == pytest.approx(tuple(ORANGE), abs=1)
    coverage = measure_coverage(sheet.image, background)
    assert coverage[200, 50] == pytest.approx(0, abs=0.02)
    assert coverage[200, 200] == pytest.approx(0.5, abs=0.03)
    assert coverage[200, 350] == pytest.approx(1, abs=0.02)


def test_ink_is_paper_and_a_shadow_is_not() -> None:
    image = half_covered()
    image[100:120, 201:] = 15  # black print
    image[100:140, 50:150] = ORANGE * 0.75
    sheet = scan(image)
    coverage = measure_coverage(sheet.image, find_background(sheet))
    assert coverage[110, 300] > 0.9
    assert coverage[120, 100] < 0.4


def test_the_gradient_of_the_lamp_is_followed() -> None:
    light = np.linspace(1, 0.6, 400)[:, None, None]
    sheet = scan(half_covered() * light)
    coverage = measure_coverage(sheet.image, find_background(sheet))
    assert np.abs(coverage[20:-20, 50]).max() < 0.12


def test_red_print_on_an_orange_sheet_is_paper() -> None:
    image = half_covered()
    image[100:150, 201:] = (200, 30, 60)
    sheet = scan(image)
    assert measure_coverage(sheet.image, find_background(sheet))[125, 300] > 0.55


def test_print_on_a_dark_grey_sheet_is_paper() -> None:
    image = half_covered()
    image[:, :200] = 80
    image[100:150, 201:] = 20
    sheet = scan(image)
    background = find_background(sheet)
    assert not background.is_colored
    coverage = measure_coverage(sheet.image, background)
    assert coverage[125, 300] == 1
    assert coverage[125, 100] < 0.1


@pytest.mark.parametrize("level", [255, 215, 170])
def test_white_and_light_grey_are_no_background(level: int) -> None:
    image = np.full((300, 300, 3), float(level))
    image[50:250, 100:150] = 245
    with pytest.raises(InputError, match=r"sheet\.png: found no colored or dark background.*--background"):
        find_background(scan(image))


@pytest.mark.parametrize("level", [255, 170])
def test_a_sheet_of_nothing_is_called_so(level: int) -> None:
    with pytest.raises(
        InputError, match=rf"sheet\.png: nothing but the color #{f'{level:02x}' * 3} .*damaged"
    ):
        find_background(scan(np.full((300, 300, 3), float(level))))


def test_a_pale_noisy_sheet_is_refused() -> None:
    image = np.full((400, 400, 3), 255.0)
    image[:, :200] = (250, 235, 190)
    image += np.random.default_rng(0).normal(0, 25, image.shape)
    with pytest.raises(InputError, match="too much like the paper"):
        find_background(scan(image))
