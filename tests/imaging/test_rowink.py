"""Rows with ink are seen, and those whose ink reaches a tear."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deshred.elements import RowInk, Shred, Source
from deshred.imaging.edges import EdgeOptions, extract_edges, find_ink
from deshred.imaging.turning import turn_edges, turn_shred


def make_shred() -> Shred:
    """Paper between columns 10 and 90 with a rule across, a word in the middle and a dash at the right."""
    mask = np.zeros((400, 100), np.bool_)
    mask[:, 10:90] = True
    image = np.full((400, 100, 3), 255, np.uint8)
    image[50:58, 10:90] = 0
    image[150:180, 40:60] = 0
    image[300:308, 70:90] = 0
    return Shred("one", image, mask, 300.0, Source(Path("one.png"), ""))


def see_rows(shred: Shred) -> RowInk:
    return extract_edges(shred, options=EdgeOptions(rows=300)).rows


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


def see_slowly(shred: Shred) -> RowInk:
    """Every pixel is asked where it lies."""
    width = shred.mask.shape[1]
    columns = np.arange(width)
    start = shred.mask.argmax(axis=1)[:, None] + 2
    stop = width - shred.mask[:, ::-1].argmax(axis=1)[:, None] - 2
    ink = find_ink(shred).astype(np.bool_) & (columns >= start) & (columns < stop)
    at_left = (ink & (columns < start + 12)).sum(axis=1) >= 5
    at_right = (ink & (columns >= stop - 12)).sum(axis=1) >= 5
    return RowInk.of(ink.sum(axis=1) >= 2, at_left, at_right)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_it_sees_what_looking_at_every_pixel_shows(seed: int, width: int) -> None:
    """Ragged and narrow paper, rows without any, and holes."""
    rng = np.random.default_rng(seed)
    columns = np.arange(width)
    edges = np.sort(rng.integers(0, width + 1, (2, 60)), axis=0)
    mask = (columns >= edges[0][:, None]) & (columns < edges[1][:, None])
    mask &= rng.random(mask.shape) > 0.05
    image = np.repeat(np.where(rng.random(mask.shape) < rng.random(), 0, 250)[..., None], 3, axis=2)
    shred = Shred("ragged", image.astype(np.uint8), mask, 300.0, Source(Path("ragged.png"), ""))
    for seen in (see_rows(shred), see_slowly(shred)):
        assert seen.height == 60
    for name in ("printed", "at_left", "at_right"):
        assert list_rows(getattr(see_rows(shred), name)) == list_rows(getattr(see_slowly(shred), name))


def test_rows_of_a_turned_shred_are_those_that_it_shows() -> None:
    shred = make_shred()
    pair = extract_edges(shred, options=EdgeOptions(rows=300))
    turned, seen = turn_edges(pair, 400).rows, see_rows(turn_shred(shred))
    assert [list_rows(rows) for rows in (turned.printed, turned.at_left, turned.at_right)] == [
        list_rows(rows) for rows in (seen.printed, seen.at_left, seen.at_right)
    ]
