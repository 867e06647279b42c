"""Parts of pages go back to their pages by the rows of their print."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, arrange
from deshred.compatibility.calibration import rate
from deshred.compatibility.scorers import load_scorer
from deshred.compatibility.scoring import ScoringOptions, score
from deshred.elements import Arrangement, Compatibility, Pile, Shred
from deshred.gathering import Gathering, GatheringWeights, change_joins, gather
from deshred.imaging.preparation import prepare
from deshred.simulation.drawing import draw_page
from deshred.simulation.shredding import Damage, ShreddingOptions, shred_page

PAPER_MM = 210.0


def shred_pages(*, is_torn: bool = True) -> list[Shred]:
    """Pages with a rule each from margin to margin, where edges do not reach; second shreds are lost."""
    rng = np.random.default_rng(14)
    shreds = []
    damage = Damage() if is_torn else Damage(ragged=0.0, fray=0.0)
    for page, top in enumerate((100, 190, 3350)):
        image = draw_page("text", rng)
        image[:, :260] = 255
        image[top : top + 12 + 6 * page, 20:] = 0
        cut = shred_page(image, rng, options=ShreddingOptions(shreds=20, damage=damage))
        shreds += [one.to_shred(f"{page}-{i:02d}") for i, one in enumerate(cut) if i != 1]
    return [shreds[i] for i in rng.permutation(len(shreds))]


@pytest.fixture(scope="module")
def pile() -> Pile:
    shreds = shred_pages()
    return prepare(shreds, keep=[shred.id for shred in shreds])


@pytest.fixture(scope="module")
def compatibility(pile: Pile) -> Compatibility:
    return score(pile, load_scorer("default"))


def solve(compatibility: Compatibility) -> Arrangement:
    return rate(arrange(compatibility), compatibility)


def name_pages(arrangement: Arrangement) -> set[tuple[str, ...]]:
    return {tuple(slot.shred_id for slot in page) for page in arrangement.pages}


def test_margin_shreds_behind_a_lost_one_go_to_the_page_with_their_rule(
    pile: Pile, compatibility: Compatibility
) -> None:
    whole = {tuple(f"{page}-{i:02d}" for i in range(20) if i != 1) for page in range(3)}
    assert len(whole & name_pages(solve(compatibility))) < 3
    gathered = gather(pile, compatibility)
    found = solve(gathered)
    assert whole == name_pages(found)
    assert found.is_optimal


def test_a_gathered_join_is_shown_as_open(pile: Pile, compatibility: Compatibility) -> None:
    joins = {(join.left, join.right): join for join in solve(gather(pile, compatibility)).joins}
    assert all(joins[f"{page}-00", f"{page}-02"].verdict == "open" for page in range(3))


def test_all_other_scores_stay_as_they_were(pile: Pile, compatibility: Compatibility) -> None:
    gathered = gather(pile, compatibility)
    changed = {
        (compatibility.ids[i], compatibility.ids[j])
        for i, j in np.argwhere(gathered.scores != compatibility.scores)
    }
    before = {(join.left, join.right) for join in solve(compatibility).joins}
    after = {(join.left, join.right) for join in solve(gathered).joins}
    assert changed
    assert changed <= before | after


def test_listed_joins_are_changed_like_all_joins(pile: Pile) -> None:
    listed = score(pile, load_scorer("default"), options=ScoringOptions(dense_limit=0, candidates=3))
    rows, columns = listed.list_joins()
    held = set(zip(rows.tolist(), columns.tolist(), strict=True))
    new = next((0, j) for j in range(1, len(listed)) if (0, j) not in held)
    old = next(iter(held))
    changed = change_joins(listed, {new: 3.0, old: -4.0})
    assert changed.score(*new) == 3.0
    assert changed.score(*old) == -4.0
    for join in held - {old}:
        assert changed.score(*join) == listed.score(*join)
        assert changed.offset(*join) == listed.offset(*join)


def test_nothing_is_gathered_from_rectangular_crops() -> None:
    """Without outlines too few joins are sure: half of the placements in simulated piles were wrong."""
    shreds = [replace(shred, mask=np.ones_like(shred.mask)) for shred in shred_pages(is_torn=False)]
    pile = prepare(shreds, keep=[shred.id for shred in shreds])
    compatibility = score(pile, load_scorer("default"))
    assert gather(pile, compatibility) is compatibility


def test_a_pile_with_holes_everywhere_is_left_as_it_is(pile: Pile) -> None:
    """With three tenths missing, most parts stand inside their page, at a hole that was closed rightly."""
    kept = [i for i, name in enumerate(pile.shreds.ids) if int(name[2:]) % 3]
    holey = pile.take(kept)
    compatibility = score(holey, load_scorer("default"))
    answer = solve(compatibility)
    assert Gathering(holey, compatibility, answer, PAPER_MM).is_in_pieces
    assert gather(holey, compatibility) is compatibility


def test_a_part_needs_a_surer_place_where_there_are_as_many_parts_as_pages(
    pile: Pile, compatibility: Compatibility
) -> None:
    many = Gathering(pile, compatibility, solve(compatibility), PAPER_MM)
    fewer = pile.take([i for i, name in enumerate(pile.shreds.ids) if name not in ("0-00", "1-00")])
    scores = score(fewer, load_scorer("default"))
    few = Gathering(fewer, scores, solve(scores), PAPER_MM)
    assert len(few.parts) < 3 <= len(many.parts)  # of three pages
    assert few.least < many.least


def test_a_given_number_of_pages_leaves_nothing_to_gather(pile: Pile, compatibility: Compatibility) -> None:
    assert gather(pile, compatibility, options=ArrangementOptions(pages=3)) is compatibility


def test_a_part_has_a_place_at_both_sides_of_every_page_with_room(
    pile: Pile, compatibility: Compatibility
) -> None:
    gathering = Gathering(pile, compatibility, solve(compatibility), PAPER_MM)
    assert gathering.parts
    for part in gathering.parts:
        places = gathering.find_places(part)
        assert {place.side for place in places} <= {0, -1}
        for place in places:
            assert place.page is not part
            assert place.page.width_mm + part.width_mm <= 1.05 * PAPER_MM
            left, right = (part, place.page) if place.side == 0 else (place.page, part)
            assert place.join == (left.shreds[-1], right.shreds[0])


def test_what_takes_the_place_of_a_gathered_join_is_found(pile: Pile, compatibility: Compatibility) -> None:
    gathering = Gathering(pile, compatibility, solve(compatibility), PAPER_MM)
    gathered = change_joins(compatibility, gathering.place_parts(GatheringWeights()))
    assert gathering.find_intruders(arrange(gathered)) == {}
    index = {name: i for i, name in enumerate(pile.shreds.ids)}
    wanted, intruder = (index["0-00"], index["0-02"]), (index["0-00"], index["1-02"])
    broken = change_joins(gathered, {wanted: -200.0, intruder: 50.0})
    found = gathering.find_intruders(arrange(broken))
    assert intruder in found
    assert wanted not in found
    margins = compatibility.margins
    assert margins is not None
    assert found[intruder] < margins.ends[intruder[0]] + margins.starts[intruder[1]] - 10
