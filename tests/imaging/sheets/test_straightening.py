from __future__ import annotations

import cv2
import numpy as np
import pytest

from deshred.imaging.sheets.straightening import measure_posture, straighten


def bar(angle: float, *, length: int = 500, width: int = 60) -> np.ndarray:
    """A straight bar, turned clockwise by `angle` degrees."""
    drawn = np.zeros((700, 700), np.uint8)
    corners = cv2.boxPoints(((350.0, 350.0), (width, length), angle))
    cv2.fillPoly(drawn, [corners.round().astype(np.int32)], 1)
    return drawn.astype(bool)


@pytest.mark.parametrize("angle", [0.0, 3.0, -7.0, 20.0, 89.0, 95.0])
def test_the_posture_of_a_bar_is_its_angle(angle: float) -> None:
    posture = measure_posture(bar(angle))
    assert posture.angle == pytest.approx(angle, abs=0.3)
    assert posture.is_lying == (abs(angle) > 45)
    assert abs(posture.curl) < 1


def test_a_square_has_no_lean() -> None:
    posture = measure_posture(bar(10, length=70))
    assert posture.lean == 0
    assert not posture.is_lying


@pytest.mark.parametrize("angle", [0.0, 4.0, -4.0, 90.0, 93.0])
def test_straightening_keeps_the_size_and_the_way_back(angle: float) -> None:
    mask = bar(angle)
    image = np.random.default_rng(0).integers(0, 255, (35, 35, 3), np.uint8)
    image = cv2.resize(image, (700, 700), interpolation=cv2.INTER_CUBIC)
    upright = straighten(
        image, mask, mask.astype(np.float32), posture=measure_posture(mask), origin=(1000, 2000), limit=1.5
    )
    assert upright.mask.shape == (pytest.approx(501, abs=3), pytest.approx(61, abs=3))
    assert upright.trace.is_exact == (angle in (0.0, 90.0))
    points = np.array([[10, 30], [50, 470], [30, 250]], float)
    for (column, row), (x, y) in zip(points.astype(int), upright.trace.to_scan(points), strict=True):
        there = image[round(y) - 2000, round(x) - 1000].astype(int)
        assert np.abs(upright.image[row, column] - there).max() <= 12


def test_the_right_end_of_a_lying_shred_becomes_its_top() -> None:
    mask = bar(90)
    image = np.zeros((700, 700, 3), np.uint8)
    image[:, 400:] = 200
    posture = measure_posture(mask)
    upright = straighten(image, mask, mask.astype(np.float32), posture=posture, origin=(0, 0), limit=1.5)
    assert upright.image[20].min() == 200
    assert upright.image[-20].max() == 0
