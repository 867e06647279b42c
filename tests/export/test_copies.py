"""The copy that was asked for is the copy that comes, and words are read on its own pixels."""

from __future__ import annotations

from deshred.export.copies import choose_pages
from tests.export.materials import make_reconstruction


def test_pages_that_are_there_are_not_composed_again() -> None:
    made = make_reconstruction()
    assert choose_pages(made, "evidence") is made.pages


def test_the_other_copy_is_composed_of_the_same_shreds() -> None:
    made = make_reconstruction()
    pages = choose_pages(made, "reading")
    assert {page.copy for page in pages} == {"reading"}
    for page, known in zip(pages, made.pages, strict=True):
        assert [at.shred_id for at in page.placements] == [at.shred_id for at in known.placements]
