from __future__ import annotations

import numpy as np

from deshred.imaging.sheets.contacts import Parts, separate


def pair(gap_rows: slice) -> np.ndarray:
    """Two shreds side by side, 60 px wide, with a gap of 6 px between them in some rows."""
    patch = np.ones((600, 126), bool)
    patch[gap_rows, 60:66] = False
    return patch


def split(patch: np.ndarray, typical_width: float) -> Parts:
    image = np.where(patch[..., None], 250, (250, 180, 88)).astype(np.uint8)
    return separate(patch, patch.astype(np.float32), image, typical_width=typical_width, min_width=18)


def test_a_pair_is_split_along_its_visible_gap() -> None:
    parts = split(pair(slice(0, 400)), typical_width=60)
    assert len(parts.masks) == 2
    assert not parts.is_suspect
    left, right = parts.masks
    assert not (left & right).any()
    assert np.array_equal(left | right, pair(slice(0, 400)))
    assert abs(left[500].sum() - 63) <= 4  # where they touch, straight on


def test_a_lying_pair_is_split_as_well() -> None:
    parts = split(pair(slice(100, 500)).T, typical_width=60)
    assert len(parts.masks) == 2
    assert parts.masks[0].shape == (126, 600)


def test_a_wide_patch_without_a_gap_is_kept_and_suspect() -> None:
    parts = split(np.ones((600, 126), bool), typical_width=60)
    assert len(parts.masks) == 1
    assert parts.is_suspect


def test_a_single_shred_is_left_alone() -> None:
    parts = split(np.ones((600, 70), bool), typical_width=60)
    assert len(parts.masks) == 1
    assert not parts.is_suspect


def test_three_in_a_row_become_three() -> None:
    patch = np.ones((600, 192), bool)
    patch[:500, 60:66] = False
    patch[100:, 126:132] = False
    assert len(split(patch, typical_width=60).masks) == 3
