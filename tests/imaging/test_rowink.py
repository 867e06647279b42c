"""Rows with ink are seen, and those whose ink reaches a tear."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deshred.elements import Shred, Source
from deshred.imaging.rowink import see_rows


def make_shred() -> Shred:
    """Paper between columns 10 and 90 with a rule across, a word in the middle and a dash at the right."""
    mask = np.zeros((400, 100), np.bool_)
    mask[:, 10:90] = True
    image = np.full((400, 100, 3), 255, np.uint8)
    image[50:58, 10:90] = 0
    image[150:180, 40:60] = 0
    image[300:308, 70:90] = 0
    return Shred("one", image, mask, 300.0, Source(Path("one.png"), ""))


def list_rows(rows: np.ndarray) -> set[int]:
    return set(np.flatnonzero(rows).tolist())


def test_rows_with_ink_are_seen_where_they_are() -> None:
    seen = see_rows(make_shred())
    rule, word, dash = set(range(50, 58)), set(range(150, 180)), set(range(300, 308))
    assert list_rows(seen.printed) == rule | word | dash
    assert list_rows(seen.at_left) == rule
    assert list_rows(seen.at_right) == rule | dash


def test_a_dark_tear_is_no_ink() -> None:
    shred = make_shred()
    image = shred.image.copy()
    image[:, 10:12] = 0
    image[:, 88:90] = 0
    dark = Shred("two", image, shred.mask, 300.0, shred.source)
    assert list_rows(see_rows(dark).at_left) == set(range(50, 58))
