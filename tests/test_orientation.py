from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.arrangement import arrange
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import ScoringOptions
from deshred.elements import Arrangement, Compatibility, Margins, Pile, ShredSet, Slot
from deshred.imaging.edges import EdgeOptions
from deshred.imaging.preparation import prepare
from deshred.imaging.turning import turn_shred
from deshred.orientation import choose_ways, double, orient, symmetrize, take_ways


@pytest.fixture(scope="module")
def pile(tiny_pile: ShredSet) -> Pile:
    """Every other shred upside down, in no order."""
    order = np.random.default_rng(5).permutation(len(tiny_pile)).tolist()
    return prepare([turn_shred(tiny_pile[i]) if i % 2 else tiny_pile[i] for i in order], edges=EdgeOptions())


def arrangement_of(*pages: list[str]) -> Arrangement:
    return Arrangement(tuple(tuple(Slot(name, 0) for name in page) for page in pages), (), (), 0.0, 0.0)


def test_a_doubled_pile_holds_every_shred_both_ways(pile: Pile) -> None:
    doubled = double(pile)
    count = len(pile)
    assert len(doubled) == 2 * count
    assert [shred.is_turned for shred in doubled.shreds[count:]] == [
        not shred.is_turned for shred in pile.shreds
    ]
    back = take_ways(doubled, np.zeros(count, bool))
    assert back.shreds.fingerprint == pile.shreds.fingerprint
    other = take_ways(doubled, np.ones(count, bool))
    assert other.shreds.ids == pile.shreds.ids
    assert other.shreds[0].fingerprint == turn_shred(pile.shreds[0]).fingerprint


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
    ways = choose_ways(odd, doubled)
    assert len(set(ways.tolist())) == 1  # the longest page decides for all of its shreds
    assert take_ways(doubled, ways).shreds.ids == pile.shreds.ids


def test_a_page_that_holds_its_own_mirror_image_is_cut_before_it_is_judged(pile: Pile) -> None:
    doubled = double(pile)
    ids, count = doubled.shreds.ids, len(pile)
    apart = choose_ways(arrangement_of(list(ids[:count]), list(ids[count:][::-1])), doubled)
    mirrored = choose_ways(arrangement_of([*ids[:count], *ids[count:][::-1]]), doubled)
    np.testing.assert_array_equal(mirrored, apart)


@pytest.mark.parametrize("options", [ScoringOptions(), ScoringOptions(dense_limit=0)])
def test_a_page_with_half_of_its_shreds_upside_down_is_whole_and_upright(
    pile: Pile, tiny_pile: ShredSet, options: ScoringOptions
) -> None:
    found = orient(pile, load_scorer("default"), scoring=options)
    assert not found.turned
    (page,) = arrange(found.compatibility).pages
    assert tuple(slot.shred_id for slot in page) == tiny_pile.ids


def test_the_scores_are_those_of_the_shreds_as_they_are_turned(pile: Pile) -> None:
    found = orient(pile, load_scorer("outline"))
    assert found.compatibility.ids == found.pile.shreds.ids
    assert found.compatibility.margins is not None
    assert len(found.compatibility.margins.starts) == len(pile)
    again = orient(replace(found.pile), load_scorer("outline"))
    np.testing.assert_allclose(again.compatibility.scores, found.compatibility.scores, atol=1e-4)
