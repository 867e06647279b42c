"""The copy that was asked for is the copy that comes, and words are read on its own pixels."""

from __future__ import annotations

import weakref
from dataclasses import replace

import numpy as np
import pytest

from deshred.elements import Page
from deshred.errors import SettingsError
from deshred.export.copies import Taken, take_pages
from deshred.imaging.composition import compose, mend
from deshred.imaging.composition.lost_ink import MARK
from deshred.reading import Reading
from tests.export.materials import WIDTH, make_reconstruction

NOTHING = Reading((), "scripted 1", "eng", "0" * 64)


def as_it_comes(taken: Taken) -> Taken:
    return taken


def test_pages_that_are_there_are_not_composed_again() -> None:
    made = make_reconstruction()
    chosen = take_pages(made, "evidence", use=as_it_comes)
    assert all(taken.page is held for taken, held in zip(chosen, made.pages, strict=True))


def test_the_other_copy_is_composed_of_the_same_shreds() -> None:
    made = make_reconstruction()
    pages = [taken.page for taken in take_pages(made, "reading", use=as_it_comes)]
    assert {page.copy for page in pages} == {"reading"}
    for page, known in zip(pages, made.pages, strict=True):
        assert [at.shred_id for at in page.placements] == [at.shred_id for at in known.placements]


def test_reading_copies_are_marked_where_ink_may_be_lost_and_evidence_never() -> None:
    made = make_reconstruction()
    image = np.full_like(made.pages[0].image, 240)
    image[100:105, WIDTH - 2 : WIDTH] = 20  # half of a point
    made = replace(made, pages=(replace(made.pages[0], image=image), *made.pages[1:]))
    evidence = list(take_pages(made, "evidence", use=as_it_comes))
    assert evidence[0].page is made.pages[0]
    assert [taken.lost_ink for taken in evidence] == [(), ()]
    marked = list(take_pages(made, "reading", use=as_it_comes))
    for taken in marked:
        assert (taken.page.image == MARK).all(axis=2).any() == bool(taken.lost_ink)
    assert [len(taken.lost_ink) for taken in marked] == [1, 0]


def test_evidence_is_read_mended_and_a_reading_copy_before_it_is_marked() -> None:
    made = make_reconstruction()
    seen: list[Page] = []

    def look(page: Page) -> Reading:
        seen.append(page)
        return NOTHING

    (first, *_) = take_pages(made, "evidence", use=as_it_comes, read_page=look, jobs=1)
    assert first.reading is NOTHING
    page = made.pages[0]
    np.testing.assert_array_equal(seen[0].image, mend(page.image, page.seams))
    np.testing.assert_array_equal(first.page.image, page.image)
    seen.clear()
    list(take_pages(made, "evidence", use=as_it_comes, read_page=look, as_it_is=True, jobs=1))
    np.testing.assert_array_equal(seen[0].image, page.image)
    seen.clear()
    list(take_pages(made, "reading", use=as_it_comes, read_page=look, jobs=1))
    assert not any((page.image == MARK).all(axis=2).any() for page in seen)


def test_of_pages_that_are_not_held_only_those_asked_for_are_composed() -> None:
    made = make_reconstruction()
    pages = compose(made.shreds, made.arrangement, lazily=True)
    lazy = replace(made, pages=pages)
    told: list[tuple[str, int, int]] = []
    (taken,) = take_pages(lazy, "evidence", [2], use=as_it_comes, progress=lambda *step: told.append(step))
    assert told == [("composing", 1, 1)]
    np.testing.assert_array_equal(taken.page.image, pages[1].image)


def test_pages_are_let_go_one_after_the_other() -> None:
    made = make_reconstruction(tuple((f"{i}a", f"{i}b") for i in range(8)), (0.9,) * 8)
    lazy = replace(made, pages=compose(made.shreds, made.arrangement, lazily=True))
    taken: list[weakref.ref[Page]] = []

    def count_alive(one: Taken) -> int:
        taken.append(weakref.ref(one.page))
        return sum(page() is not None for page in taken)

    for copy in ("evidence", "reading"):
        taken.clear()
        alive = list(take_pages(lazy, copy, use=count_alive, read_page=lambda _page: NOTHING, jobs=1))
        assert alive == [1] * 8


def test_a_page_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(SettingsError, match="no page 3: the case has pages 1 to 2"):
        list(take_pages(make_reconstruction(), "evidence", [3], use=as_it_comes))
