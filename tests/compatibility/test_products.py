from __future__ import annotations

import numpy as np
import pytest

from deshred.compatibility.products import (
    LARGEST_LEFT,
    LARGEST_RIGHT,
    are_bytes_quick,
    drop_signs,
    multiply,
    split_digits,
)


def test_two_digits_are_the_number() -> None:
    numbers = np.arange(-LARGEST_RIGHT, LARGEST_RIGHT + 1, dtype=np.int16)
    digits = split_digits(numbers)
    np.testing.assert_array_equal(64 * digits[:, 0].astype(int) + digits[:, 1], numbers)
    assert np.abs(digits.astype(int)).max() <= 64  # older processors add two products in 16 bits


@pytest.mark.parametrize("shape", [(3, 11, 4), (1, 1, 1), (40, 5000, 9)])
def test_sums_of_products_are_exact(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(0)
    lefts = rng.integers(-LARGEST_LEFT, LARGEST_LEFT + 1, shape[:2]).astype(np.int8)
    rights = rng.integers(-LARGEST_RIGHT, LARGEST_RIGHT + 1, shape[1:]).astype(np.int16)
    found = multiply(drop_signs(lefts), split_digits(rights))
    np.testing.assert_array_equal(found, lefts.astype(np.int64) @ rights.astype(np.int64))


def test_nothing_to_multiply_is_no_error() -> None:
    nothing = multiply(drop_signs(np.zeros((0, 8), np.int8)), split_digits(np.zeros((8, 3), np.int16)))
    assert nothing.shape == (0, 3)


def test_a_processor_that_is_not_known_is_no_error() -> None:
    assert are_bytes_quick() in (False, True)
