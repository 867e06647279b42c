from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from skimage.filters import threshold_sauvola

from deshred.elements import Shred, Source
from deshred.errors import SettingsError
from deshred.executors import ThreadExecutor
from deshred.imaging.binarization import (
    BinarizationOptions,
    BlankOptions,
    BlankRule,
    binarize,
    is_blank,
    to_gray,
)
from deshred.imaging.intakes import load_shreds
from deshred.imaging.scans import ScanOptions

COLLECTIONS = Path(__file__).parents[3] / "shared" / "data"
BLANK_SHREDS = {"s-isri-ocr": (198, 1), "s-marques": (491, 32)}  # in the documents at hand: all, blank

needs_collections = pytest.mark.skipif(
    not COLLECTIONS.is_dir(), reason="the public collections are not beside the repository"
)


def noisy_text(height: int = 400, width: int = 120, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    paper = 225 + 10 * np.sin(np.arange(height) / 60)[:, None] + rng.normal(0, 6, (height, width))
    for top in range(10, height - 20, 30):
        left = int(rng.integers(0, 20))
        paper[top : top + 12, left : left + 80 : 9] -= 150
        paper[top + 6 : top + 8, left : left + 80] -= 120
    return np.clip(paper, 0, 255).astype(np.uint8)


def make_shred(gray: np.ndarray, mask: np.ndarray | None = None) -> Shred:
    mask = np.ones(gray.shape, bool) if mask is None else mask
    return Shred("a", np.repeat(gray[..., None], 3, axis=2), mask, 300.0, Source(Path("a"), ""))


@pytest.mark.parametrize("seed", range(3))
def test_ink_is_what_scikit_image_says(seed: int) -> None:
    gray = noisy_text(seed=seed)
    assert np.array_equal(binarize(gray), gray <= threshold_sauvola(gray))


@pytest.mark.parametrize(("window", "k"), [(9, 0.2), (31, 0.35)])
def test_other_windows_and_k_also_agree(window: int, k: float) -> None:
    gray = noisy_text()
    ink = binarize(gray, options=BinarizationOptions(window=window, k=k))
    assert np.array_equal(ink, gray <= threshold_sauvola(gray, window_size=window, k=k))


@pytest.mark.parametrize("k", [0.2, 0.5])
def test_light_rows_are_passed_over_without_a_difference(k: float) -> None:
    rng = np.random.default_rng(0)
    gray = rng.integers(222, 256, (900, 60)).astype(np.uint8)
    for row in rng.integers(0, 900, 12):  # here and there, at the very ends too
        gray[[row, 0, 899], rng.integers(0, 60)] = rng.integers(0, 222)
    ink = binarize(gray, options=BinarizationOptions(k=k))
    assert 0 < ink.sum() < 60
    assert np.array_equal(ink, gray <= threshold_sauvola(gray, 15, k=k, r=127.5))


@needs_collections
@pytest.mark.parametrize("document", ["s-isri-ocr/D003", "s-cdip/D003", "s-marques/D002"])
def test_ink_of_real_shreds_is_what_scikit_image_says(document: str) -> None:
    for shred in list(load_shreds([COLLECTIONS / document]))[3:8]:
        gray = to_gray(shred.image, shred.mask)
        assert np.array_equal(binarize(gray), gray <= threshold_sauvola(gray))


@pytest.mark.parametrize(("height", "width"), [(2000, 33), (300, 2480), (9, 9000), (16, 40000)])
def test_bands_of_any_shape_agree(height: int, width: int) -> None:
    gray = np.tile(noisy_text(height=max(height, 60)), (1, width // 120 + 1))[:height, :width].copy()
    np.testing.assert_array_equal(binarize(gray), gray <= threshold_sauvola(gray, 15, k=0.2, r=127.5))


def test_outside_the_mask_is_white() -> None:
    gray = np.zeros((20, 10), np.uint8)
    mask = np.zeros((20, 10), bool)
    mask[:, 3:7] = True
    outside = to_gray(make_shred(gray).image, mask)
    assert (outside[~mask] == 255).all()
    assert (outside[mask] == 0).all()


@pytest.mark.parametrize("rule", ["relative", "paper"])
def test_a_shred_without_dark_pixels_is_blank(rule: BlankRule) -> None:
    options = BlankOptions(rule=rule)
    gray = np.full((200, 60), 230, np.uint8)
    assert is_blank(make_shred(gray), options=options)
    speck = gray.copy()
    speck[50, 30] = 0  # the blur makes a lone pixel pale
    assert is_blank(make_shred(speck), options=options)
    speck[50:56, 30:36] = 0
    assert not is_blank(make_shred(speck), options=options)


@pytest.mark.parametrize("rule", ["relative", "paper"])
def test_darkness_outside_the_paper_does_not_count(rule: BlankRule) -> None:
    options = BlankOptions(rule=rule)
    gray = np.full((200, 60), 230, np.uint8)
    gray[:, :20] = 0
    mask = np.ones((200, 60), bool)
    mask[:, :20] = False
    assert not is_blank(make_shred(gray), options=options)
    assert is_blank(make_shred(gray, mask), options=options)


@pytest.mark.parametrize("contrast", [1.0, 0.6, 0.45])
def test_pale_writing_is_writing(contrast: float) -> None:
    pale = 255 - contrast * (255 - noisy_text().astype(np.float32))
    assert not is_blank(make_shred(pale.astype(np.uint8)))
    assert is_blank(make_shred(pale.astype(np.uint8)), options=BlankOptions(rule="paper")) == (contrast < 1)


@pytest.mark.parametrize("paper", [250, 160, 90])
def test_dark_paper_with_grain_and_a_shadow_is_blank(paper: int) -> None:
    rng = np.random.default_rng(0)
    shade = np.linspace(1, 0.93, 400)[:, None]
    gray = paper * shade + rng.normal(0, 0.03 * paper, (400, 120))
    assert is_blank(make_shred(gray.clip(0, 255).astype(np.uint8)))


def test_the_dark_sheet_under_a_blank_shred_is_no_ink() -> None:
    gray = np.full((200, 60), 230, np.uint8)
    mask = np.ones((200, 60), bool)
    gray[:, :20], mask[:, :19] = 0, False
    gray[:, 19] = 115  # half sheet, half paper
    assert is_blank(make_shred(gray, mask))


def test_a_shred_that_is_mostly_printed_is_not_blank() -> None:
    gray = np.full((200, 60), 30, np.uint8)
    gray[:30] = 240
    assert not is_blank(make_shred(gray))


@pytest.mark.parametrize("seed", range(40))
def test_where_on_a_shred_its_ink_stands_does_not_matter(seed: int) -> None:
    """Plain loops over the rule: what is darker than nine tenths of the blurred paper inside the outline."""
    rng = np.random.default_rng(seed)
    gray = np.clip(rng.normal(rng.integers(60, 250), 3, (90, 40)), 0, 255).astype(np.uint8)
    top, left = rng.integers(0, 80), rng.integers(0, 34)
    gray[top : top + 9, left : left + 9] = gray.mean() * rng.uniform(0.6, 0.95)
    gray[: rng.integers(0, 85)] //= int(rng.integers(1, 3))
    mask = np.zeros(gray.shape, bool)
    mask[3:-2, 2:-3] = True
    inside = np.zeros(gray.shape, bool)
    inside[5:-4, 4:-5] = True
    paper = np.sort(gray[inside])[math.ceil(0.9 * inside.sum()) - 1]
    blurred = cv2.GaussianBlur(np.where(inside, gray, paper).astype(np.uint8), (5, 5), 0)[inside]
    light = float(np.sort(blurred)[math.ceil(0.9 * inside.sum()) - 1])
    least = BlankOptions().least_ink_mm2 * (300 / 25.4) ** 2
    assert is_blank(make_shred(gray, mask)) == ((blurred < 0.85 * light).sum() < least)


def test_a_shred_of_only_a_few_pixels_is_judged_as_well() -> None:
    assert is_blank(make_shred(np.full((3, 2), 200, np.uint8)))
    assert is_blank(make_shred(np.full((30, 2), 200, np.uint8), np.zeros((30, 2), bool)))


@needs_collections
@pytest.mark.parametrize("collection", BLANK_SHREDS)
def test_the_published_rule_gives_the_counts_of_the_collections(collection: str) -> None:
    options = ScanOptions(kind="shreds")
    shreds = load_shreds([COLLECTIONS / collection], options=options, executor=ThreadExecutor(2))
    published = [shred.id for shred in shreds if is_blank(shred, options=BlankOptions(rule="paper"))]
    assert (len(shreds), len(published)) == BLANK_SHREDS[collection]
    # D00627 shows words, in print that is grey
    assert set(published) - {shred.id for shred in shreds if is_blank(shred)} <= {"D00627"}


@needs_collections
@pytest.mark.parametrize("contrast", [1.0, 0.6, 0.45])
def test_no_shred_with_words_is_called_blank_however_pale(contrast: float) -> None:
    for shred in load_shreds([COLLECTIONS / "s-isri-ocr/D006"]):
        pale = 255 - contrast * (255 - shred.image.astype(np.float32))
        assert not is_blank(replace(shred, image=pale.astype(np.uint8))), shred.id


@pytest.mark.parametrize(
    ("options", "match"),
    [({"rule": "dark"}, "relative, paper"), ({"darker": 0}, "darker"), ({"least_ink_mm2": -1}, "least_ink")],
)
def test_a_blank_rule_that_makes_no_sense_is_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(SettingsError, match=match):
        BlankOptions(**options)


@pytest.mark.parametrize("window", [1, 2, 14])
def test_an_even_or_tiny_window_is_refused(window: int) -> None:
    with pytest.raises(SettingsError, match="odd"):
        BinarizationOptions(window=window)
