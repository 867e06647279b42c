"""Solved over chains, an order is the one that the whole pile would give, or nothing is claimed."""

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, ChainOptions, arrange, arrange_over_chains
from deshred.elements import Arrangement, Compatibility, Constraints
from deshred.errors import InfeasibleError, SettingsError
from tests.arrangement.drawn_piles import draw_pile, to_sparse

ALL_JOINS = ArrangementOptions(least_share=0)


def pages_of(arrangement: Arrangement) -> set[tuple[str, ...]]:
    return {tuple(slot.shred_id for slot in page) for page in arrangement.pages}


def say_something(rng: np.random.Generator, arrangement: Arrangement, ids: tuple[str, ...]) -> Constraints:
    join = arrangement.joins[rng.integers(len(arrangement.joins))]
    i, j = rng.choice(len(ids), 2, replace=False)
    return (
        Constraints(forbidden={(join.left, join.right)}),
        Constraints(last={join.left}),
        Constraints(first={ids[i]}),
        Constraints(not_first={arrangement.pages[0][0].shred_id}),
        Constraints(not_last={arrangement.pages[-1][-1].shred_id}),
        Constraints(required={(ids[i], ids[j])}),
        Constraints(apart={frozenset((ids[i], ids[j]))}),
        Constraints(together={frozenset((ids[i], ids[j]))}),
    )[rng.integers(8)]


@pytest.mark.parametrize("width", [None, 210.0])
def test_what_chains_claim_is_what_the_whole_pile_gives(width: float | None) -> None:
    rng = np.random.default_rng(3)
    options = ArrangementOptions(page_width_mm=width, least_share=0)
    claimed = 0
    for _ in range(25):
        pile = draw_pile(rng)
        before = arrange(pile, options=options)
        constraints = say_something(rng, before, pile.ids)
        after = arrange_over_chains(
            pile, constraints, before, options=options, chains=ChainOptions(float(rng.choice([1, 5, 15])))
        )
        whole = arrange(pile, constraints, options=options)
        if after is not None and before.is_optimal:
            claimed += 1
            assert after.cost == pytest.approx(whole.cost, abs=1e-3)
            assert pages_of(after) == pages_of(whole)
    assert claimed >= 5


def test_prices_after_a_solve_over_chains_still_hold() -> None:
    rng = np.random.default_rng(5)
    pile = draw_pile(rng, noise=2.0)
    before = arrange(pile, options=ALL_JOINS)
    cut = Constraints(forbidden={(before.joins[3].left, before.joins[3].right)})
    after = arrange_over_chains(pile, cut, before, options=ALL_JOINS, chains=ChainOptions(15))
    assert after is not None
    for join in after.joins:
        without = Constraints(forbidden=cut.forbidden | {(join.left, join.right)})
        assert arrange(pile, without, options=ALL_JOINS).cost >= after.cost + (join.price or 0) - 1e-3


def test_a_change_dearer_than_the_price_of_a_chain_is_left_to_the_whole_pile() -> None:
    pile = draw_pile(np.random.default_rng(1), noise=0.5)
    before = arrange(pile)
    far = Constraints(required={("s00", "s13")})
    assert arrange_over_chains(pile, far, before, chains=ChainOptions(1)) is None


def test_without_margins_nothing_is_claimed() -> None:
    pile = draw_pile(np.random.default_rng(1))
    bare = Compatibility(pile.ids, pile.scores, pile.offsets)
    assert arrange_over_chains(bare, Constraints(), arrange(bare)) is None


def test_sparse_scores_are_contracted_alike() -> None:
    dense = draw_pile(np.random.default_rng(7), noise=1.0)
    sparse = to_sparse(dense, dense.scores > -14)
    before = arrange(sparse, options=ALL_JOINS)
    weakest = min(before.joins, key=lambda join: join.price or 0)
    cut = Constraints(forbidden={(weakest.left, weakest.right)})
    after = arrange_over_chains(sparse, cut, before, options=ALL_JOINS, chains=ChainOptions(14))
    assert after is not None
    assert pages_of(after) == pages_of(arrange(sparse, cut, options=ALL_JOINS))


def test_nothing_is_claimed_where_a_person_speaks_about_joins_that_were_ruled_out() -> None:
    pile = draw_pile(np.random.default_rng(5), noise=2.0)
    before = arrange(pile)
    cut = Constraints(forbidden={(before.joins[3].left, before.joins[3].right)})
    assert arrange_over_chains(pile, cut, before, chains=ChainOptions(15)) is None


def test_a_contradiction_names_its_constraints() -> None:
    pile = draw_pile(np.random.default_rng(1))
    both = Constraints(required={("s00", "s01")}, forbidden={("s00", "s01")})
    with pytest.raises(InfeasibleError, match="s00") as caught:
        arrange_over_chains(pile, both, arrange(pile))
    assert {atom.kind for atom in caught.value.clash} == {"required", "forbidden"}


def test_a_price_must_be_a_price() -> None:
    with pytest.raises(SettingsError, match="above 0 nats, got 0"):
        ChainOptions(0)


def test_a_page_that_goes_on_does_so_whatever_it_costs() -> None:
    pile = draw_pile(np.random.default_rng(2), noise=1.0)
    before = arrange(pile)
    first, last = before.pages[0][0].shred_id, before.pages[0][-1].shred_id
    after = arrange(pile, Constraints(not_first={first}, not_last={last}))
    assert after.is_optimal
    assert first not in {page[0].shred_id for page in after.pages}
    assert last not in {page[-1].shred_id for page in after.pages}


def test_a_page_cannot_both_end_and_go_on() -> None:
    pile = draw_pile(np.random.default_rng(2))
    with pytest.raises(InfeasibleError, match="s00 is and is not last on a page"):
        arrange(pile, Constraints(last={"s00"}, not_last={"s00"}))


def test_chains_go_on_after_a_word_that_brought_ruled_out_joins_back() -> None:
    rng = np.random.default_rng(8)
    options, claimed = ArrangementOptions(page_width_mm=210.0), 0
    for _ in range(20):
        pile = draw_pile(rng)
        start = arrange(pile, options=options)
        cut = start.joins[rng.integers(len(start.joins))]
        known = Constraints(forbidden={(cut.left, cut.right)})
        before = arrange(pile, known, options=options)
        sure = before.joins[rng.integers(len(before.joins))]
        more = Constraints(forbidden=known.forbidden, required={(sure.left, sure.right)})
        after = arrange_over_chains(pile, more, before, known=known, options=options)
        if after is not None:
            claimed += 1
            assert after.cost == pytest.approx(arrange(pile, more, options=options).cost, abs=1e-3)
    assert claimed >= 10


def test_without_a_word_on_what_was_known_joins_that_are_back_prove_nothing() -> None:
    pile = draw_pile(np.random.default_rng(8))
    before = arrange(pile, options=ArrangementOptions(page_width_mm=210.0))
    cut = before.joins[0]
    said = Constraints(forbidden={(cut.left, cut.right)})
    assert arrange_over_chains(pile, said, before, options=ArrangementOptions(page_width_mm=210.0)) is None
