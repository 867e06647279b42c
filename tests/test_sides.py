"""Both sides of shreds: who belongs together, and what both say about joins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deshred.cases import working_on
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Compatibility, Constraints, Pile, Shred, ShredSet, Source
from deshred.export.results import reconstruct_into, reopen
from deshred.imaging.preparation import prepare
from deshred.pipeline import Reconstruction, rearrange, reconstruct, rescore
from deshred.settings import Settings
from deshred.sides import pair_faces, set_blank_aside
from deshred.simulation.drawing import DrawingOptions, draw_page
from deshred.simulation.piles import MixedPile, NamedSheet, save_pile, shred_sheets
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
        kept = set_blank_aside(Pile(ShredSet(shreds), pile.edges, ShredSet([]), faces))
        assert set(kept.blank.ids) == aside
        assert len(kept) == len(pile) - len(aside)


def test_two_faces_find_neighbors_that_one_does_not(mixed: MixedPile) -> None:
    """Without outlines, from a few lines of print on each side."""
    crops = [replace(shred, mask=np.ones_like(shred.mask)) for shred in to_shreds(mixed)]
    scorer = load_scorer("default")
    pile = prepare(crops, edges=scorer.edge_options, keep=[shred.id for shred in crops])
    one = score(pile, scorer)
    two = score(replace(pile, faces=pair_faces(pile)), scorer)

    def count_found(compatibility: Compatibility) -> int:
        best = compatibility.scores.argmax(axis=1)
        ids = compatibility.ids
        return sum((left, ids[best[i]]) in mixed.truth.joins for i, left in enumerate(ids))

    assert count_found(two) > count_found(one)


@pytest.fixture(scope="module")
def result(mixed: MixedPile) -> Reconstruction:
    return reconstruct(ShredSet(to_shreds(mixed)), settings=Settings(sides="double"))


def find_order(result: Reconstruction) -> list[list[str]]:
    return [[slot.shred_id for slot in page] for page in result.arrangement.pages]


def test_a_sheet_comes_out_as_its_front_and_its_back(result: Reconstruction, mixed: MixedPile) -> None:
    documents = mixed.truth.documents
    assert find_order(result) == [list(documents["sheet"]), list(documents["sheet back"])]


def test_solving_or_scoring_again_keeps_fronts_before_their_backs(result: Reconstruction) -> None:
    scored = rescore(result, ())
    np.testing.assert_array_equal(scored.compatibility.scores, result.compatibility.scores)
    for last in (page[-1].shred_id for page in result.arrangement.pages):
        again = rearrange(scored, Constraints(last=frozenset({last})))
        assert find_order(again) == find_order(result)


def test_a_case_that_is_opened_again_knows_both_sides(mixed: MixedPile, tmp_path: Path) -> None:
    with working_on(tmp_path / "pile", command="shred") as pile:
        save_pile(mixed, pile)
    settings = Settings(sides="double")
    done = reconstruct_into(tmp_path / "case", [tmp_path / "pile" / "shreds"], settings=settings)
    again = rearrange(reopen(tmp_path / "case"), Constraints())
    assert again.pile.faces == done.pile.faces
    assert len(done.pile.faces.pairs) == 8
    assert again.arrangement.pages == done.arrangement.pages
