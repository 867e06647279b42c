"""Packed pages are the pages that were packed, and only one of them is in memory."""

from __future__ import annotations

import gc
import io
import weakref
from pathlib import Path

import numpy as np
import pytest

from deshred.elements import Page
from deshred.errors import OutputError
from deshred.export.encoding import encode_page, hash_pixels
from deshred.export.pagefile import PageFile, pack_page
from tests.export.materials import make_reconstruction


def assert_equal(page: Page, other: Page) -> None:
    np.testing.assert_array_equal(page.image, other.image)
    np.testing.assert_array_equal(page.mask, other.mask)
    assert (page.placements, page.dpi, page.copy) == (other.placements, other.dpi, other.copy)
    assert len(page.seams) == len(other.seams)
    for seam, its in zip(page.seams, other.seams, strict=True):
        assert (seam.left, seam.right) == (its.left, its.right)
        np.testing.assert_array_equal(seam.stops, its.stops)
        np.testing.assert_array_equal(seam.starts, its.starts)


def test_a_page_comes_back_as_it_was() -> None:
    pages = make_reconstruction().pages
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (7, 5, 3)).astype(np.uint8)
    odd = Page(image, rng.random((7, 5)) < 0.5, (), 299.5, "reading")
    kept = PageFile.of([*pages, odd])
    for page, before in zip(kept, [*pages, odd], strict=True):
        assert_equal(page, before)


def test_what_is_known_without_unpacking_is_true() -> None:
    pages = make_reconstruction().pages
    kept = PageFile.of(pages)
    for index, page in enumerate(pages):
        card = kept.cards[index]
        assert (card.height, card.width) == page.mask.shape
        assert card.pixels_sha256 == hash_pixels(page)
        assert card.placements == page.placements
        assert kept.png(index) == encode_page(page)


def test_one_page_at_a_time_is_unpacked() -> None:
    kept = PageFile.of(make_reconstruction().pages)
    first = weakref.ref(kept[0])
    assert first() is kept[0]
    second = kept[1]
    gc.collect()
    assert first() is None
    assert_equal(second, make_reconstruction().pages[1])


def test_a_full_disk_is_told_with_its_remedy() -> None:
    class Full(io.BytesIO):
        def write(self, _content: object) -> int:
            raise OSError(28, "No space left on device")

    (page, *_) = make_reconstruction().pages
    with pytest.raises(OutputError, match="Free some space"):
        PageFile(Full(), Path("somewhere")).append(pack_page(page))
