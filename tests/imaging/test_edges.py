from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deshred.elements import Shred, Source
from deshred.errors import SettingsError
from deshred.imaging.binarization import binarize, to_gray
from deshred.imaging.edges import EdgeOptions, extract_edges

OPTIONS = EdgeOptions(width=16, rows=200)


def torn_shred(height: int = 200, width: int = 80, seed: int = 0) -> Shred:
    rng = np.random.default_rng(seed)
    start = 6 + np.rint(3 * np.sin(np.arange(height) / 17)).astype(int)
    stop = width - 7 + np.rint(3 * np.cos(np.arange(height) / 23)).astype(int)
    columns = np.arange(width)
    mask = (columns >= start[:, None]) & (columns < stop[:, None])
    image = np.full((height, width, 3), 235, np.uint8)
    for top in range(5, height - 10, 20):
        for left in rng.integers(0, width - 6, 8):
            image[top : top + 8, left : left + 4] = rng.integers(0, 60, 3)
    return Shred("a", image, mask, 300.0, Source(Path("a"), ""))


def slow_edge(
    shred: Shred, options: EdgeOptions, *, right: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same row by row, as one would write it down first."""
    ink = binarize(to_gray(shred.image, shred.mask)) & shred.mask
    mask, image = shred.mask, shred.image
    if right:
        ink, mask, image = ink[:, ::-1], mask[:, ::-1], image[:, ::-1]
    height, width = mask.shape
    top = (height - options.rows) // 2
    edge = np.zeros((options.rows, options.width), np.uint8)
    outline = np.full(options.rows, np.nan)
    tone = np.full((options.rows, 3), 255)
    for row in range(options.rows):
        y = top + row
        if not 0 <= y < height or not mask[y].any():
            continue
        x = int(mask[y].argmax())
        outline[row] = -x
        tone[row] = image[y, x]
        for column in range(options.width):
            if x + column < width:
                edge[row, column] = ink[y, x + column]
        if not edge[row, 1]:
            edge[row, 0] = 0
    return edge, outline, tone


@pytest.mark.parametrize("height", [120, 199, 200, 201, 333])
@pytest.mark.parametrize("right", [False, True])
def test_edges_equal_their_slow_twin(height: int, right: bool) -> None:
    shred = torn_shred(height)
    pair = extract_edges(shred, options=OPTIONS)
    edge = pair.right if right else pair.left
    ink, outline, tone = slow_edge(shred, OPTIONS, right=right)
    assert np.array_equal(edge.ink, ink)
    assert np.array_equal(edge.outline, outline, equal_nan=True)
    assert np.array_equal(edge.tone, tone)
    assert edge.top == (height - OPTIONS.rows) // 2
    assert ink.any()


def test_a_dark_fringe_of_one_pixel_is_no_ink() -> None:
    image = np.full((200, 60, 3), 240, np.uint8)
    image[50:60, 0] = 0  # background seen through the frayed border
    image[100:110, 0:6] = 0  # a stroke that was cut
    source = Source(Path("a"), "")
    edge = extract_edges(Shred("a", image, np.ones((200, 60), bool), 300.0, source), options=OPTIONS).left
    inked = np.flatnonzero(edge.ink[:, 0]) + edge.top
    assert set(inked) == set(range(100, 110))


def test_the_tear_is_column_zero_whatever_its_shape() -> None:
    height = 200
    straight = np.full((height, 60, 3), 240, np.uint8)
    straight[:, 0:3] = 0  # ink along the tear
    wander = np.rint(5 + 4 * np.sin(np.arange(height) / 9)).astype(int)
    torn = np.full((height, 80, 3), 240, np.uint8)
    mask = np.zeros((height, 80), bool)
    for y, x in enumerate(wander):
        torn[y, x : x + 60] = straight[y]
        mask[y, x : x + 60] = True
    source = Source(Path("a"), "")
    edge = extract_edges(Shred("a", torn, mask, 300.0, source), options=OPTIONS).left
    assert edge.ink[:, :3].mean() > 0.95
    assert not edge.ink[:, 4:].any()
    assert np.array_equal(edge.outline, -wander)


def test_mirroring_the_shred_swaps_its_edges() -> None:
    shred = torn_shred()
    mirrored = Shred("a", shred.image[:, ::-1], shred.mask[:, ::-1], 300.0, shred.source)
    pair, swapped = (extract_edges(one, options=OPTIONS) for one in (shred, mirrored))
    for edge, twin in ((pair.left, swapped.right), (pair.right, swapped.left)):
        assert np.array_equal(edge.ink, twin.ink)
        assert np.array_equal(edge.outline, twin.outline)


def test_rows_without_paper_have_no_ink_no_outline_and_are_white() -> None:
    shred = torn_shred(150)
    mask = shred.mask.copy()
    mask[40:60] = False
    edge = extract_edges(Shred("a", shred.image, mask, 300.0, shred.source), options=OPTIONS).left
    gone = np.r_[0:25, 25 + 40 : 25 + 60, 175:200]
    assert not edge.ink[gone].any()
    assert np.isnan(edge.outline[gone]).all()
    assert (edge.tone[gone] == 255).all()
    assert np.isnan(edge.outline).sum() == len(gone)


def test_a_shred_narrower_than_the_edge_is_padded_with_paper() -> None:
    image = np.full((200, 10, 3), 240, np.uint8)
    image[::20] = 0
    edge = extract_edges(
        Shred("a", image, np.ones((200, 10), bool), 300.0, Source(Path("a"), "")), options=OPTIONS
    ).left
    assert edge.ink[:, :10].any()
    assert not edge.ink[:, 10:].any()


@pytest.mark.parametrize(("options", "told"), [({"width": 1}, "got 1 x"), ({"rows": 8}, "x 8")])
def test_senseless_options_are_refused(options: dict[str, int], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        EdgeOptions(**options)
