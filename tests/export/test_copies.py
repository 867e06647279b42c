"""The copy that was asked for is the copy that comes, and words are read on its own pixels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deshred.export.copies import choose_pages, mark_pages
from deshred.imaging.composition import compose
from deshred.imaging.composition.lost_ink import MARK
from tests.export.materials import WIDTH, make_reconstruction


def test_pages_that_are_there_are_not_composed_again() -> None:
    made = make_reconstruction()
    chosen = choose_pages(made, "evidence")
    assert all(page is held for page, held in zip(chosen, made.pages, strict=True))


def test_the_other_copy_is_composed_of_the_same_shreds() -> None:
    made = make_reconstruction()
    pages = choose_pages(made, "reading")
    assert {page.copy for page in pages} == {"reading"}
    for page, known in zip(pages, made.pages, strict=True):
        assert [at.shred_id for at in page.placements] == [at.shred_id for at in known.placements]


def test_reading_copies_are_marked_where_ink_may_be_lost_and_evidence_never() -> None:
    made = make_reconstruction()
    evidence = mark_pages(made, made.pages)
    assert evidence.pages is made.pages
    assert evidence.places == ()
    image = np.full_like(made.pages[0].image, 240)
    image[100:105, WIDTH - 2 : WIDTH] = 20  # half of a point
    made = replace(made, pages=(replace(made.pages[0], image=image), *made.pages[1:]))
    marked = mark_pages(made, choose_pages(made, "reading"))
    for page, places in zip(marked.pages, marked.places, strict=True):
        assert (page.image == MARK).all(axis=2).any() == bool(places)
    assert [len(places) for places in marked.places] == [1, 0]


def test_of_pages_that_are_not_held_only_those_asked_for_are_composed() -> None:
    made = make_reconstruction()
    pages = compose(made.shreds, made.arrangement, lazily=True)
    lazy = replace(made, pages=pages)
    told: list[tuple[str, int, int]] = []
    (page,) = choose_pages(lazy, "evidence", [2], progress=lambda *step: told.append(step))
    assert told == [("composing", 1, 1)]
    np.testing.assert_array_equal(page.image, pages[1].image)
