"""A pile is at 300 dpi, blank shreds are set aside, and every edge is the one that belongs to its shred."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deshred.elements import Shred, ShredSet, Source
from deshred.errors import InputError
from deshred.executors import ThreadExecutor
from deshred.imaging.edges import EdgeOptions, extract_edges
from deshred.imaging.preparation import prepare, to_working_resolution

EDGES = EdgeOptions(width=16, rows=400)


def shred(name: str, *, ink: bool = True, dpi: float = 300.0) -> Shred:
    image = np.full((400, 60, 3), 240, np.uint8)
    if ink:
        image[100:160, 10:50] = 20
    return Shred(name, image, np.ones((400, 60), bool), dpi, Source(Path("drawn"), ""))


def test_blank_shreds_are_set_aside_and_the_others_keep_their_order() -> None:
    pile = prepare([shred("a"), shred("b", ink=False), shred("c")], edges=EDGES)
    assert pile.shreds.ids == ("a", "c")
    assert pile.blank.ids == ("b",)
    assert len(pile.edges) == 2


def test_a_shred_that_is_named_is_kept_even_if_nothing_is_seen_on_it() -> None:
    pile = prepare([shred("a"), shred("b", ink=False), shred("c")], edges=EDGES, keep={"b"})
    assert pile.shreds.ids == ("a", "b", "c")
    assert not pile.edges[1].left.ink.any()


def test_edges_are_those_that_are_cut_one_by_one_however_many_work(tiny_pile: ShredSet) -> None:
    pile = prepare(tiny_pile, edges=EDGES, executor=ThreadExecutor(2))
    for one, pair in zip(pile.shreds, pile.edges, strict=True):
        alone = extract_edges(one, options=EDGES)
        assert np.array_equal(pair.left.ink, alone.left.ink)
        assert np.array_equal(pair.right.outline, alone.right.outline, equal_nan=True)


@pytest.mark.parametrize(("dpi", "height"), [(300.0, 400), (301.0, 400), (150.0, 800), (600.0, 200)])
def test_shreds_come_to_300_dpi_and_those_near_it_keep_their_pixels(dpi: float, height: int) -> None:
    before = shred("a", dpi=dpi)
    after = to_working_resolution(before)
    assert after.image.shape[0] == after.mask.shape[0] == height
    assert (after is before) == (height == 400)
    assert after.dpi == pytest.approx(300, rel=0.01)


def test_a_pile_needs_two_shreds_with_ink() -> None:
    with pytest.raises(InputError, match=r"found 3 shreds, 2 of them blank"):
        prepare([shred("a"), shred("b", ink=False), shred("c", ink=False)], edges=EDGES)
    with pytest.raises(InputError, match=r"found 1 shred, 0 of them blank"):
        prepare([shred("a")], edges=EDGES)


def test_progress_counts_every_shred() -> None:
    told: list[tuple[str, int, int]] = []
    prepare([shred("a"), shred("b")], edges=EDGES, progress=lambda *args: told.append(args))
    assert told[-1] == ("preparing", 2, 2)


def test_no_pixel_is_looked_at_again_to_know_a_shred_by_its_content() -> None:
    pile = prepare([shred("a"), shred("b"), shred("blank", ink=False)], edges=EDGES)
    assert pile.blank.ids == ("blank",)
    assert all("fingerprint" in vars(one) for one in (*pile.shreds, *pile.blank))
