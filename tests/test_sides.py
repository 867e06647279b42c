"""Both sides of shreds: who belongs together, and what both say about joins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Arrangement, Compatibility, Join, Margins, Pile, Shred, ShredSet, Slot, Source
from deshred.imaging.preparation import prepare
from deshred.pipeline import reconstruct
from deshred.settings import Settings
from deshred.sides import Faces, add_faces, order_faces, pair_faces, set_blank_aside
from deshred.simulation.drawing import DrawingOptions, draw_page
from deshred.simulation.piles import MixedPile, NamedSheet, shred_sheets
from deshred.simulation.shredding import ShreddingOptions


def to_shreds(mixed: MixedPile, name: str = "{}.png") -> list[Shred]:
    return [
        replace(loose.shred.to_shred(loose.name), source=Source(Path(name.format(loose.name)), ""))
        for loose in mixed.shreds
    ]


@pytest.fixture(scope="module")
def mixed() -> MixedPile:
    """A sheet of eight shreds with print on both sides."""
    rng = np.random.default_rng(4)
    small = DrawingOptions(scanned=False)
    front, back = (draw_page(kind, rng, options=small)[300:1500, 300:1100] for kind in ("text", "letter"))
    return shred_sheets([NamedSheet("sheet", front, back)], rng, options=ShreddingOptions(shreds=8))


@pytest.fixture(scope="module")
def pile(mixed: MixedPile) -> Pile:
    return prepare(to_shreds(mixed), keep=[loose.name for loose in mixed.shreds])


def rename(pile: Pile, name: str) -> Pile:
    """The same pictures under other file names: `{n}` is a number, `{side}` the side."""
    shreds = [
        replace(
            shred,
            source=Source(Path(name.format(n=i, side=shred.id.rpartition("-")[2])), "", number=i),
        )
        for i, shred in enumerate(pile.shreds)
    ]
    return Pile(ShredSet(shreds), pile.edges, pile.blank)


def true_pairs(pile: Pile) -> set[frozenset[str]]:
    papers = {shred.id.rpartition("-")[0] for shred in pile.shreds}
    return {frozenset((f"{paper}-front", f"{paper}-back")) for paper in papers}


def test_names_tell_which_two_pictures_show_one_shred(pile: Pile) -> None:
    faces = pair_faces(pile)
    assert set(map(frozenset, faces.pairs)) == true_pairs(pile)
    assert all(front.endswith("-front") for front, _ in faces.pairs)


@pytest.mark.parametrize("name", ["scan_{side}.png", "{side}/scan.png", "picture {n}.png", "one file.png"])
def test_where_names_do_not_tell_the_outline_does(pile: Pile, name: str) -> None:
    assert set(map(frozenset, pair_faces(rename(pile, name)).pairs)) == true_pairs(pile)


def test_rectangular_crops_of_unknown_names_are_not_paired(mixed: MixedPile) -> None:
    crops = [replace(shred, mask=np.ones_like(shred.mask)) for shred in to_shreds(mixed, "any.png")]
    assert pair_faces(prepare(crops)).pairs == ()


def test_a_blank_back_keeps_its_place_and_a_blank_shred_does_not(pile: Pile) -> None:
    faces = pair_faces(pile)
    front, back = faces.pairs[0]
    for wiped, aside in (({back}, set()), ({front, back}, {front, back})):
        shreds = [
            replace(shred, image=np.full_like(shred.image, 250)) if shred.id in wiped else shred
            for shred in pile.shreds
        ]
        kept = set_blank_aside(Pile(ShredSet(shreds), pile.edges, ShredSet([])), faces)
        assert set(kept.blank.ids) == aside
        assert len(kept) == len(pile) - len(aside)


def scores_of(count: int) -> Compatibility:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(count, count)).astype(np.float32)
    starts, ends = rng.normal(size=(2, count)).astype(np.float32)
    ids = tuple(f"s{i}" for i in range(count))
    margins = Margins(starts, ends, np.full(count, 8, np.float32))
    return Compatibility(ids, scores, np.zeros(scores.shape, np.int16), margins=margins)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_join_scores_what_both_sides_say_the_other_way_round(is_sparse: bool) -> None:
    plain = scores_of(5)
    dense = plain
    if is_sparse:
        rows, columns = np.nonzero(~np.eye(5, dtype=bool))
        plain = replace(
            dense,
            scores=dense.scores[rows, columns],
            offsets=dense.offsets[rows, columns],
            row_starts=np.searchsorted(rows, np.arange(6)),
            columns=columns.astype(np.int32),
        )
    both = add_faces(plain, Faces((("s0", "s1"), ("s2", "s3"))))
    assert both.score(0, 2) == pytest.approx(dense.score(0, 2) + dense.score(3, 1))
    assert both.score(0, 2) == pytest.approx(both.score(3, 1))
    assert both.score(0, 1) == both.score(1, 0) == -np.inf
    assert both.score(0, 4) == pytest.approx(2 * dense.score(0, 4))  # the back of s4 was not seen
    margins = both.margins
    assert margins is not None
    assert dense.margins is not None
    assert margins.starts[0] == margins.ends[1] == dense.margins.starts[0] + dense.margins.ends[1]
    assert margins.starts[4] == 2 * dense.margins.starts[4]


def test_every_front_is_followed_by_its_back() -> None:
    names = ("b-back", "b-front", "a-front", "a-back")
    pages = tuple((Slot(name, 0), Slot(name[0] * 2 + name[1:], 0)) for name in names)
    joins = tuple(Join(page[0].shred_id, page[1].shred_id, 0.0, 0) for page in pages)
    faces = Faces(tuple((f"{paper}-front", f"{paper}-back") for paper in ("a", "aa", "b", "bb")))
    found = order_faces(Arrangement(pages, joins, (), 0.0, 0.0), faces)
    assert [page[0].shred_id for page in found.pages] == ["b-front", "b-back", "a-front", "a-back"]
    assert [join.left for join in found.joins] == ["b-front", "b-back", "a-front", "a-back"]
    assert (found.breaks[0].after, found.breaks[0].before) == ("bb-front", "b-back")


def test_two_faces_find_neighbors_that_one_does_not(mixed: MixedPile) -> None:
    """Without outlines, from a few lines of print on each side."""
    crops = [replace(shred, mask=np.ones_like(shred.mask)) for shred in to_shreds(mixed)]
    scorer = load_scorer("default")
    pile = prepare(crops, edges=scorer.edge_options, keep=[shred.id for shred in crops])
    one = score(pile, scorer)
    two = add_faces(one, pair_faces(pile))

    def count_found(compatibility: Compatibility) -> int:
        best = compatibility.scores.argmax(axis=1)
        ids = compatibility.ids
        return sum((left, ids[best[i]]) in mixed.truth.joins for i, left in enumerate(ids))

    assert count_found(two) > count_found(one)


def test_a_sheet_comes_out_as_its_front_and_its_back(mixed: MixedPile) -> None:
    result = reconstruct(ShredSet(to_shreds(mixed)), settings=Settings(sides="double"))
    order = [[slot.shred_id for slot in page] for page in result.arrangement.pages]
    documents = mixed.truth.documents
    assert order == [list(documents["sheet"]), list(documents["sheet back"])]
