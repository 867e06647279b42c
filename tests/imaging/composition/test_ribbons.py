"""A ribbon keeps the lengths of its shred, and every place of it leads back to the right pixel."""

import numpy as np
import pytest

from deshred.imaging.composition.ribbons import unroll
from tests.imaging.composition.cut_pages import make_shred


def leaning(lean, height=600, width=60):
    """A shred whose center goes right by `lean` px from top to bottom, in a wide image."""
    starts = np.rint(20 + lean * np.arange(height) / height).astype(int)
    columns = np.arange(width + 40 + abs(lean))
    mask = (columns >= starts[:, None]) & (columns < (starts + width)[:, None])
    image = np.where(mask[:, :, None], np.uint8(250), np.uint8(0)).repeat(3, axis=2).astype(np.uint8)
    return make_shred("a", image, mask), starts


def test_an_upright_shred_is_its_own_ribbon():
    shred, _ = leaning(0)
    ribbon = unroll(shred)
    assert (ribbon.first, ribbon.last) == (0, 599)
    pixels = ribbon.to_shred(np.array([0.0, 10.0, -10.0]), np.array([50.0, 50.0, 300.0]))
    assert pixels.columns == pytest.approx([49.5, 59.5, 39.5], abs=0.6)
    assert pixels.rows == pytest.approx([50, 50, 300], abs=0.1)
    assert ribbon.tilt == pytest.approx(0, abs=0.1)
    assert ribbon.half_width == 30


@pytest.mark.parametrize("lean", [30, 60])
def test_a_leaning_shred_is_as_long_as_its_center_line(lean):
    shred, starts = leaning(lean)
    ribbon = unroll(shred)
    assert ribbon.last - ribbon.first == pytest.approx(np.hypot(600, lean), abs=3)
    along = np.array([100.0, 300.0, 500.0])
    pixels = ribbon.to_shred(np.zeros(3), along)
    assert pixels.columns == pytest.approx(starts[np.rint(pixels.rows).astype(int)] + 29.5, abs=1)


def test_places_across_stand_at_right_angles_and_keep_their_distance():
    shred, _ = leaning(60)
    ribbon = unroll(shred)
    center, beside = (ribbon.to_shred(np.array([x]), np.array([300.0])) for x in (0.0, 20.0))
    right, down = beside.columns - center.columns, beside.rows - center.rows
    assert np.hypot(right, down) == pytest.approx([20.0], abs=0.1)
    assert down[0] == pytest.approx(-right[0] * 60 / 600, abs=0.2)


def test_a_shred_that_is_not_straightened_is_taken_as_it_lies():
    shred, _ = leaning(60)
    ribbon = unroll(shred, straightens=False)
    assert (ribbon.first, ribbon.last) == (0, 599)
    rows = ribbon.to_shred(np.array([-30.0, 30.0]), np.array([200.0, 200.0])).rows
    assert rows.tolist() == [200, 200]


def test_profiles_tell_where_the_paper_begins_and_where_ink_is():
    shred, starts = leaning(0)
    image = shred.image.copy()
    image[100:120, starts[0] : starts[0] + 15] = 0  # ink at the left tear alone
    profiles = unroll(make_shred("a", image, shred.mask)).profiles
    assert profiles.lefts[50] == pytest.approx(-30, abs=1)
    assert profiles.rights[50] == pytest.approx(30, abs=1)
    assert profiles.left_ink[110] > 0.9
    assert profiles.left_ink[50] < 0.1
    assert profiles.right_ink.max() < 0.1


def test_bands_of_columns_hold_the_ink_of_a_plain_sum():
    shred, starts = leaning(0)
    image = shred.image.copy()
    image[200:210, starts[0] + 10 : starts[0] + 14] = 0
    ribbon = unroll(make_shred("a", image, shred.mask))
    left, right = ribbon.sum_columns(np.array([-15.0, 15.0]), 15.0)
    assert left[205] == pytest.approx(ribbon.darkness[205, starts[0] : starts[0] + 30].sum(), abs=0.1)
    assert left[205] == pytest.approx(4, abs=0.1)
    assert right[205] == pytest.approx(0, abs=0.1)
