from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deshred.arrangement import arrange
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import ScoringOptions
from deshred.elements import Arrangement, Compatibility, Join, Margins, Pile, Shred, ShredSet, Slot, Source
from deshred.imaging.edges import EdgeOptions, extract_edges
from deshred.imaging.preparation import prepare
from deshred.imaging.turning import turn_shred
from deshred.orientation import (
    OrientationWarning,
    choose_ways,
    double,
    is_clear,
    orient,
    symmetrize,
    turn_pile,
    turn_sheets,
)
from deshred.simulation.drawing import draw_page
from deshred.simulation.shredding import ShreddingOptions, shred_page


@pytest.fixture(scope="module")
def pile(tiny_pile: ShredSet) -> Pile:
    """Every other shred upside down, in no order."""
    order = np.random.default_rng(5).permutation(len(tiny_pile)).tolist()
    return prepare([turn_shred(tiny_pile[i]) if i % 2 else tiny_pile[i] for i in order], edges=EdgeOptions())


def arrangement_of(*pages: list[str]) -> Arrangement:
    return Arrangement(tuple(tuple(Slot(name, 0) for name in page) for page in pages), (), (), 0.0, 0.0)


def no_scores(doubled: Pile) -> Compatibility:
    """Scores without margins: nothing is known of paper."""
    count = len(doubled)
    scores = np.zeros((count, count), np.float32)
    return Compatibility(doubled.shreds.ids, scores, np.zeros(scores.shape, np.int16))


def test_a_doubled_pile_holds_every_shred_both_ways(pile: Pile) -> None:
    doubled = double(pile)
    count = len(pile)
    assert len(doubled) == 2 * count
    assert [shred.is_turned for shred in doubled.shreds[count:]] == [
        not shred.is_turned for shred in pile.shreds
    ]
    assert doubled.shreds.ids[:count] == pile.shreds.ids
    assert doubled.shreds[count].fingerprint == turn_shred(pile.shreds[0]).fingerprint


def test_a_join_upside_down_scores_as_it_does_upright() -> None:
    rng = np.random.default_rng(0)
    count = 5
    scores = rng.normal(size=(2 * count, 2 * count)).astype(np.float32)
    ends = [rng.normal(size=2 * count).astype(np.float32) for _ in range(2)]
    margins = Margins(ends[0], ends[1], np.full(2 * count, 8, np.float32))
    ids = tuple(map(str, range(2 * count)))
    both = symmetrize(Compatibility(ids, scores, np.zeros(scores.shape, np.int16), margins=margins))
    turned = [(i + count) % (2 * count) for i in range(2 * count)]
    assert both.margins is not None
    for i in range(2 * count):
        assert both.score(i, turned[i]) == -np.inf
        assert both.margins.starts[i] == both.margins.ends[turned[i]]
        for j in range(2 * count):
            assert both.score(i, j) == both.score(turned[j], turned[i])


def test_no_shred_is_kept_both_ways_even_if_the_order_holds_parts_twice(pile: Pile) -> None:
    doubled = double(pile)
    ids = doubled.shreds.ids
    count = len(pile)
    odd = arrangement_of(list(ids[:count]), list(ids[count : count + 3]), list(ids[count + 3 :]))
    ways = choose_ways(odd, doubled, no_scores(doubled))
    assert len(set(ways.tolist())) == 1  # the longest page decides for all of its shreds


def test_a_page_that_holds_its_own_mirror_image_is_cut_before_it_is_judged(pile: Pile) -> None:
    doubled = double(pile)
    ids, count = doubled.shreds.ids, len(pile)
    apart = choose_ways(
        arrangement_of(list(ids[:count]), list(ids[count:][::-1])), doubled, no_scores(doubled)
    )
    mirrored = choose_ways(arrangement_of([*ids[:count], *ids[count:][::-1]]), doubled, no_scores(doubled))
    np.testing.assert_array_equal(mirrored, apart)


def test_what_stands_at_a_page_by_a_doubted_join_is_not_turned_with_it(pile: Pile) -> None:
    doubled = double(pile)
    ids, count = doubled.shreds.ids, len(pile)
    lies = np.array([shred.is_turned for shred in pile.shreds])
    upright = np.arange(count) + count * lies
    few = upright[-3:]  # they stand beside the others upside down
    page = [ids[i] for i in (*upright[:-3], *(few[::-1] + count) % (2 * count))]
    believed = arrangement_of(page)
    scores = no_scores(doubled)
    np.testing.assert_array_equal(
        choose_ways(believed, doubled, scores) == lies, np.arange(count) < count - 3
    )
    doubted = replace(believed, joins=(Join(page[-4], page[-3], 0.0, 0, probability=0.1),))
    np.testing.assert_array_equal(choose_ways(doubted, doubled, scores), lies)


def test_a_part_with_few_letters_stands_as_it_fits_a_page(pile: Pile) -> None:
    doubled = double(pile)
    ids, count = doubled.shreds.ids, len(pile)
    lies = np.array([shred.is_turned for shred in pile.shreds])
    upright = np.arange(count) + count * lies
    part, page = upright[-1], upright[:-1]
    order = arrangement_of([ids[i] for i in page], [ids[part]])
    none, widths = np.zeros(2 * count, np.float32), np.full(2 * count, 12.0, np.float32)
    margins = Margins(none, none, widths, none + np.float32(297.0))
    for way in (part, (part + count) % (2 * count)):
        scores = no_scores(doubled).scores - np.float32(100)
        scores[page[-1], way] = scores[(way + count) % (2 * count), (page[-1] + count) % (2 * count)] = 100
        both = replace(no_scores(doubled), scores=scores, margins=margins)
        # its letters speak for one way; what they say is less than what fits
        assert choose_ways(order, doubled, both)[part % count] == (way >= count)


@pytest.mark.parametrize("options", [ScoringOptions(), ScoringOptions(dense_limit=0)])
def test_a_page_with_half_of_its_shreds_upside_down_is_whole_and_upright(
    pile: Pile, tiny_pile: ShredSet, options: ScoringOptions
) -> None:
    found = orient(pile, load_scorer("default"), scoring=options)
    assert not any(shred.is_turned for shred in found.pile.shreds)
    (page,) = arrange(found.compatibility).pages
    assert tuple(slot.shred_id for slot in page) == tiny_pile.ids


def test_the_scores_are_those_of_the_shreds_as_they_are_turned(pile: Pile) -> None:
    found = orient(pile, load_scorer("outline"))
    assert found.compatibility.ids == found.pile.shreds.ids
    assert found.compatibility.margins is not None
    assert len(found.compatibility.margins.starts) == len(pile)
    again = orient(replace(found.pile), load_scorer("outline"))
    np.testing.assert_allclose(again.compatibility.scores, found.compatibility.scores, atol=1e-4)


def lay_sheet(name: str, seed: int, *, upside_down: bool) -> list[Shred]:
    """The shreds of a printed page as they are cut out of a sheet."""
    rng = np.random.default_rng(seed)
    cut = shred_page(draw_page("text", rng), rng, options=ShreddingOptions(shreds=12))
    shreds = []
    for number, one in enumerate(cut, 1):
        shred = one.to_shred(f"{name}#{number:02d}")
        lies = turn_shred(shred) if upside_down else shred
        shreds.append(replace(lies, source=Source(Path(name), "", number=number), is_turned=False))
    return shreds


def prepare_sheets(*sheets: Iterable[Shred]) -> Pile:
    return prepare([shred for sheet in sheets for shred in sheet], edges=EdgeOptions())


@pytest.fixture(scope="module")
def upright_sheet() -> list[Shred]:
    return lay_sheet("a.png", 0, upside_down=False)


@pytest.fixture(scope="module")
def other_sheet() -> list[Shred]:
    return lay_sheet("b.png", 1, upside_down=False)


@pytest.fixture(scope="module")
def fallen_sheet() -> list[Shred]:
    return lay_sheet("c.png", 2, upside_down=True)


def test_a_sheet_that_stands_the_other_way_than_most_is_turned_and_told(
    upright_sheet: list[Shred], other_sheet: list[Shred], fallen_sheet: list[Shred]
) -> None:
    pile = prepare_sheets(upright_sheet, fallen_sheet, other_sheet)
    with pytest.warns(OrientationWarning, match=r"c\.png: scanned upside down.*--orientation as-scanned"):
        turned = turn_sheets(pile)
    assert {shred.source.path.name for shred in turned.shreds if shred.is_turned} == {"c.png"}
    for shred, before, pair in zip(turned.shreds, pile.shreds, turned.edges, strict=True):
        assert shred.id == before.id
        expected = turn_shred(before) if shred.is_turned else before
        assert shred.fingerprint == expected.fingerprint
        fresh = extract_edges(expected, options=EdgeOptions())
        np.testing.assert_array_equal(pair.left.ink, fresh.left.ink)


@pytest.mark.parametrize(
    ("rates", "clear"),
    [
        ([-40, -13, -100, -109, -366, -97, -125], True),  # of a real sheet, fed sideways
        ([400, -20, 30, -10, 25, -30, 20], False),  # one alone
        ([60, 70, 55], False),  # too little
        ([200, -190, 180, -150, 210, 160], False),
    ],
)
def test_one_shred_that_says_much_neither_decides_nor_disagrees(rates: list[float], clear: bool) -> None:
    assert is_clear(np.array(rates, float)) is clear


def test_sheets_that_all_stand_one_way_stay_as_they_are(
    upright_sheet: list[Shred], other_sheet: list[Shred], fallen_sheet: list[Shred]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pile = prepare_sheets(upright_sheet, other_sheet)
        assert turn_sheets(pile) is pile
    fallen = prepare_sheets(fallen_sheet)
    with pytest.warns(OrientationWarning, match=r"c\.png looks upside down.*--orientation turned"):
        assert turn_sheets(fallen) is fallen


def test_in_a_script_that_looks_upside_down_it_is_the_odd_one_that_is_turned(
    upright_sheet: list[Shred], fallen_sheet: list[Shred]
) -> None:
    also_fallen = lay_sheet("d.png", 3, upside_down=True)
    with pytest.warns(OrientationWarning, match=r"a\.png: scanned"):
        turned = turn_sheets(prepare_sheets(upright_sheet, fallen_sheet, also_fallen))
    assert {shred.source.path.name for shred in turned.shreds if shred.is_turned} == {"a.png"}


def test_a_pile_is_turned_as_it_is_told(fallen_sheet: list[Shred], tiny_pile: ShredSet) -> None:
    pile = prepare_sheets(fallen_sheet)
    assert all(shred.is_turned for shred in turn_pile(pile, "turned").shreds)
    assert turn_pile(pile, "as-scanned") is pile
    assert turn_pile(pile, "any") is pile
    single = prepare([turn_shred(shred) for shred in tiny_pile], edges=EdgeOptions())
    assert turn_pile(single, "sheets") is single
