"""A shred that was laid upside down is left over, and turned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions
from deshred.cases import MemoryStore
from deshred.compatibility.fusion import FusionScorer, Impressions
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import score
from deshred.elements import Edge, Pile, Shred, ShredSet
from deshred.executors import Executor
from deshred.imaging.preparation import prepare
from deshred.imaging.turning import turn, turn_shred
from deshred.leftovers import find_unlike, find_upside_down
from deshred.pipeline import reconstruct
from deshred.settings import Settings
from deshred.simulation.drawing import draw_page
from deshred.simulation.shredding import ShreddingOptions, shred_page

ASTRAY = "1-11"


@pytest.fixture(scope="module")
def shreds() -> list[Shred]:
    """Two pages, in the right order."""
    rng = np.random.default_rng(3)
    found = []
    for page in range(2):
        image = draw_page("text", rng)
        cut = shred_page(image, rng, options=ShreddingOptions(shreds=20))
        found += [one.to_shred(f"{page}-{i:02d}") for i, one in enumerate(cut)]
    return found


@pytest.fixture(scope="module")
def pile(shreds: list[Shred]) -> Pile:
    return prepare(shreds)


def test_a_shred_of_a_page_is_turned_if_it_lies_upside_down(pile: Pile) -> None:
    scorer = load_scorer()
    astray = turn(pile, {ASTRAY})
    assert find_upside_down(astray, score(astray, scorer), scorer) == {ASTRAY}


def test_a_store_spares_describing_the_pile_again_and_stays_as_it_is(pile: Pile) -> None:
    class Counting(FusionScorer):
        edges = 0

        def describe_rights(self, edges: Sequence[Edge], executor: Executor) -> Impressions:
            self.edges += len(edges)
            return super().describe_rights(edges, executor)

    scorer, store = Counting(), MemoryStore()
    astray = turn(pile, {ASTRAY})
    compatibility = score(astray, scorer, store=store)
    kept, seen = set(store.kept), scorer.edges
    assert find_upside_down(astray, compatibility, scorer, store=store) == {ASTRAY}
    assert set(store.kept) == kept
    assert scorer.edges - seen <= 3  # what was turned, and blank paper


def test_nothing_is_turned_in_a_pile_that_lies_upright(pile: Pile) -> None:
    scorer = load_scorer()
    assert not find_upside_down(pile, score(pile, scorer), scorer)


def test_only_parts_whose_letters_stand_the_other_way_up_are_tried(pile: Pile) -> None:
    """Where the true neighbor is lost, a stranger may fit an upright shred that is turned by 30 nats."""
    page = [name for name in pile.shreds.ids if name.startswith("0-")]
    parts = [["1-10"], [ASTRAY]]
    assert find_unlike(pile, [page], parts) == []
    assert find_unlike(turn(pile, {ASTRAY}), [page], parts) == [[ASTRAY]]
    assert find_unlike(turn(pile, set(page)), [page], parts) == parts


def test_what_a_person_turned_is_not_turned_back(pile: Pile) -> None:
    scorer = load_scorer()
    astray = turn(pile, {ASTRAY})
    assert not find_upside_down(astray, score(astray, scorer), scorer, but={ASTRAY})


def test_a_given_number_of_pages_leaves_nothing_over(pile: Pile) -> None:
    scorer = load_scorer()
    astray = turn(pile, {ASTRAY})
    compatibility = score(astray, scorer)
    assert not find_upside_down(astray, compatibility, scorer, options=ArrangementOptions(pages=2))


def test_reconstruct_shows_the_shred_as_turned(shreds: list[Shred]) -> None:
    upright = next(shred for shred in shreds if shred.id == ASTRAY)
    laid = replace(turn_shred(upright), is_turned=False)
    astray = ShredSet([laid if shred.id == ASTRAY else shred for shred in shreds])
    done = reconstruct(astray)
    assert {shred.id for shred in done.shreds if shred.is_turned} == {ASTRAY}
    assert "1 shred turned" in done.summary()
    (turned,) = (shred for shred in done.shreds if shred.id == ASTRAY)
    assert np.array_equal(turned.image, upright.image)
    as_scanned = reconstruct(astray, settings=Settings(orientation="as-scanned"))
    assert not any(shred.is_turned for shred in as_scanned.shreds)
