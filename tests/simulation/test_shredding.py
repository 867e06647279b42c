from __future__ import annotations

import numpy as np
import pytest

from deshred.errors import InputError, SettingsError
from deshred.simulation.shredding import (
    Damage,
    Ink,
    ShreddingOptions,
    look_inwards,
    sample_joins,
    shred_both_sides,
    shred_page,
)
from tests.scribbles import scribble

PAGE = np.repeat(255 - 255 * scribble(5)[:, :, None], 3, axis=2)
UNHARMED = Damage(lost=0, ink_loss=0.0, ragged=0.0, shift=0, drift=0.0, specks=0.0)


def test_a_page_becomes_as_many_shreds_as_asked_for() -> None:
    shreds = shred_page(PAGE, np.random.default_rng(0), options=ShreddingOptions(shreds=9))
    assert len(shreds) == 9
    for shred in shreds:
        assert shred.image.shape[:2] == shred.mask.shape
        assert (shred.image[~shred.mask] == 255).all()


def test_the_same_seed_shreds_alike() -> None:
    one, two = (shred_page(PAGE, np.random.default_rng(4)) for _ in range(2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.image, b.image)
        np.testing.assert_array_equal(a.mask, b.mask)


def test_without_damage_the_shreds_side_by_side_are_the_page() -> None:
    options = ShreddingOptions(shreds=5, shift=0, tilt_degrees=0.0, damage=UNHARMED)
    shreds = shred_page(PAGE, np.random.default_rng(0), options=options)
    widths = sum(int(shred.mask.sum(axis=1).max()) for shred in shreds)
    assert abs(widths - PAGE.shape[1]) <= 2 * 5  # the fray of a pixel at each cut remains
    ink_on_shreds = sum(int((shred.image[..., 0] < 128).sum()) for shred in shreds)
    assert ink_on_shreds == pytest.approx((PAGE[..., 0] < 128).sum(), rel=0.02)


def test_both_sides_of_a_cut_share_their_tear() -> None:
    def correlation(fray: float) -> float:
        options = ShreddingOptions(shreds=3, shift=0, tilt_degrees=0.0, damage=Damage(fray=fray))
        left, right, _ = shred_page(PAGE, np.random.default_rng(1), options=options)
        right_border = left.mask.shape[1] - left.mask[:, ::-1].argmax(axis=1)
        left_border = right.mask.argmax(axis=1)
        return float(np.corrcoef(right_border, left_border)[0, 1])

    assert correlation(0.3) > 0.8
    assert 0.2 < correlation(1.5) < correlation(0.3)  # fibers make the sides differ


def test_without_damage_the_windows_of_a_join_are_neighbors_in_the_page() -> None:
    across, strangers = [], []
    for seed in range(6):  # some draws have noise at the tear
        windows = sample_joins(
            scribble(6), np.random.default_rng(seed), cuts=6, rows=128, width=32, damage=UNHARMED
        )
        right, left = windows.rights[:, :, 0].ravel(), windows.lefts[:, :, 0]
        across.append(np.corrcoef(right, left.ravel())[0, 1])
        strangers.append(np.corrcoef(right, np.roll(left, 1, axis=0).ravel())[0, 1])
    assert np.mean(across) > np.mean(strangers) + 0.3


def test_too_few_or_too_many_shreds_are_refused() -> None:
    for shreds in (1, 100):
        with pytest.raises(SettingsError, match="2 to 99"):
            ShreddingOptions(shreds=shreds)


@pytest.mark.parametrize("wrong", [{"shift": -1}, {"tilt_degrees": -0.1}, {"tilt_degrees": 45.0}])
def test_damage_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match="shift by 0 px or more"):
        ShreddingOptions(**wrong)  # type: ignore[arg-type]


def test_a_page_too_narrow_for_its_shreds_is_an_input_error() -> None:
    page = np.full((300, 100, 3), 255, np.uint8)
    with pytest.raises(InputError, match="100 px wide is too narrow for 99 shreds"):
        shred_page(page, np.random.default_rng(0), options=ShreddingOptions(shreds=99))


def test_both_sides_of_a_sheet_share_their_tears():
    rng = np.random.default_rng(2)
    white = np.full((400, 300, 3), 255, np.uint8)
    still = ShreddingOptions(shreds=5, shift=0, tilt_degrees=0)
    for shred in shred_both_sides(white, white, rng, options=still):
        np.testing.assert_array_equal(shred.front.mask, shred.back.mask[:, ::-1])


def test_the_back_of_a_sheet_is_cut_from_its_other_end():
    front = np.full((400, 300, 3), 255, np.uint8)
    back = front.copy()
    back[:, :30] = 0  # left on the back is right on the front
    cut = shred_both_sides(front, back, np.random.default_rng(2), options=ShreddingOptions(shreds=5))
    assert [bool((shred.back.image < 128).any()) for shred in cut] == [False] * 4 + [True]


def test_two_sides_of_different_size_are_refused():
    white = np.full((400, 300, 3), 255, np.uint8)
    with pytest.raises(InputError, match="one size"):
        shred_both_sides(white, white[:300], np.random.default_rng(0))


@pytest.mark.parametrize("inwards", [1, -1])
def test_windows_copied_in_runs_are_those_of_single_pixels(inwards: int) -> None:
    rng = np.random.default_rng(3)
    ink: Ink = (rng.random((60, 90)) < 0.4).astype(np.uint8)
    y, x = rng.integers(10, 50, (5, 12)), rng.integers(-20, 110, (5, 12))  # beyond the page, too
    found = look_inwards(ink, y, x, inwards, 16)
    for place in np.ndindex(y.shape):
        for column in range(16):
            at = min(max(int(x[place]) + inwards * column, 0), 89)
            assert found[(*place, column)] == ink[y[place], at]
