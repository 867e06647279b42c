"""Blank shreds go back to where their outline says they stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.blanks import anchor_blanks
from deshred.compatibility.classical.marques import MarquesScorer
from deshred.compatibility.outline import OutlineScorer
from deshred.compatibility.scoring import ScoringOptions
from deshred.elements import Pile, ShredSet
from deshred.imaging.preparation import prepare
from deshred.simulation.drawing import draw_page
from deshred.simulation.shredding import ShreddingOptions, shred_page

COUNT = 24


@pytest.fixture(scope="module")
def pile() -> Pile:
    """A page whose margins are blank shreds, and nothing else; ids are places."""
    rng = np.random.default_rng(4)
    image = draw_page("text", rng)
    image[:, :450] = 255
    image[:, -450:] = 255
    cut = shred_page(image, rng, options=ShreddingOptions(shreds=COUNT))
    return prepare([one.to_shred(f"{i:02d}") for i, one in enumerate(cut)])


def test_blank_shreds_with_a_torn_outline_are_back(pile: Pile) -> None:
    anchored = anchor_blanks(pile, OutlineScorer())
    assert len(pile.blank) >= 4
    assert len(anchored.blank) < len(pile.blank) / 2
    assert sorted([*anchored.shreds.ids, *anchored.blank.ids]) == [f"{i:02d}" for i in range(COUNT)]
    assert anchored.shreds.ids[: len(pile)] == pile.shreds.ids  # those with ink stand where they stood
    assert len(anchored.edges) == len(anchored.shreds)


def test_listed_candidates_give_what_all_joins_give(pile: Pile) -> None:
    listed = anchor_blanks(pile, OutlineScorer(), scoring=ScoringOptions(dense_limit=0))
    assert listed.shreds.ids == anchor_blanks(pile, OutlineScorer()).shreds.ids


def test_blank_shreds_of_another_page_stay_aside(pile: Pile) -> None:
    strangers = [
        one.to_shred(f"stranger {i}")
        for i, one in enumerate(
            shred_page(
                np.full((3400, 2400, 3), 255, np.uint8),
                np.random.default_rng(9),
                options=ShreddingOptions(shreds=8),
            )
        )
    ]
    mixed = replace(pile, blank=ShredSet([*pile.blank, *strangers]))
    anchored = anchor_blanks(mixed, OutlineScorer())
    assert not any(name.startswith("stranger") for name in anchored.shreds.ids)
    assert anchored.shreds.ids == anchor_blanks(pile, OutlineScorer()).shreds.ids


def test_straight_cuts_say_nothing(pile: Pile) -> None:
    def crop(shred, width=60):  # type: ignore[no-untyped-def]
        left = (shred.image.shape[1] - width) // 2
        part = slice(left, left + width)
        return replace(shred, image=shred.image[:, part], mask=np.ones_like(shred.mask[:, part]))

    shreds = [crop(shred) for shred in (*pile.shreds, *pile.blank)]
    cropped = prepare(shreds)
    assert cropped.blank
    assert anchor_blanks(cropped, OutlineScorer()).shreds.ids == cropped.shreds.ids


def test_a_pile_without_blank_shreds_is_left_alone(pile: Pile) -> None:
    inked = replace(pile, blank=ShredSet([]))
    assert anchor_blanks(inked, OutlineScorer()) is inked


def test_a_scorer_that_sees_no_outlines_leaves_them_aside(pile: Pile) -> None:
    assert anchor_blanks(pile, MarquesScorer()) is pile
