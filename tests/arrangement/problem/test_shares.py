"""Of all likely orders, the share that makes a join; rare ones are ruled out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, arrange
from deshred.arrangement.problem.shares import allow, share_joins
from deshred.elements import Compatibility, Constraints, Margins
from tests.arrangement.brute_force import pile


def draw(seed: int, n: int = 12, spread: float = 3.0) -> Compatibility:
    rng = np.random.default_rng(seed)
    starts, ends = rng.normal(-2, 1, (2, n)).astype(np.float32)
    margins = Margins(starts, ends, np.full(n, 8, np.float32))
    return pile(rng.normal(0, spread, (n, n)).astype(np.float32), margins)


def make_sparse(dense: Compatibility) -> Compatibility:
    rows, columns = np.nonzero(~np.eye(len(dense), dtype=bool))
    starts = np.searchsorted(rows, np.arange(len(dense) + 1))
    listed = {"row_starts": starts, "columns": columns.astype(np.int32)}
    return replace(dense, scores=dense.scores[rows, columns], offsets=dense.offsets[rows, columns], **listed)


def with_a_stray() -> Compatibility:
    """A page of four shreds, and one that fits nobody; it costs a little less at a page than alone."""
    scores = np.full((5, 5), -20, np.float32)
    scores[[0, 1, 2], [1, 2, 3]] = 10
    scores[3, 4] = scores[4, 0] = -9.0
    ends = np.array([-9, -9, -9, -5, -4], np.float32)
    starts = np.array([-5, -9, -9, -9, -4], np.float32)
    return pile(scores, Margins(starts, ends, np.full(5, 8, np.float32)))


@pytest.mark.parametrize("seed", range(4))
def test_no_side_of_a_shred_has_more_than_one_neighbor(seed: int) -> None:
    shreds = draw(seed)
    shares = share_joins(shreds, shreds.margins, 3.0).values
    assert (shares >= 0).all()
    assert shares.sum(axis=1).max() <= 1.02
    assert shares.sum(axis=0).max() <= 1.02
    assert np.diag(shares).max() == 0


@pytest.mark.parametrize("pages", [1.0, 2.5, 6.0])
@pytest.mark.parametrize("seed", range(3))
def test_page_ends_are_as_many_as_pages(seed: int, pages: float) -> None:
    shreds = draw(seed)
    shares = share_joins(shreds, shreds.margins, pages).values
    assert len(shreds) - shares.sum() == pytest.approx(pages, rel=0.05)


def test_more_pages_leave_less_to_doubtful_joins_than_to_clear_ones() -> None:
    scores = np.full((4, 4), -30, np.float32)
    scores[0, 1], scores[2, 3] = 9, -5
    margins = Margins(np.full(4, -4, np.float32), np.full(4, -4, np.float32), np.full(4, 8, np.float32))
    few, many = (share_joins(pile(scores, margins), margins, pages) for pages in (2.0, 2.9))
    assert few.of(2, 3) > 0.9
    assert many.of(2, 3) < 0.2
    assert many.of(0, 1) > 0.9


@pytest.mark.parametrize("is_sparse", [False, True])
def test_joins_of_an_answer_carry_their_shares(is_sparse: bool) -> None:
    shreds = make_sparse(draw(2)) if is_sparse else draw(2)
    index = {name: i for i, name in enumerate(shreds.ids)}
    answer = arrange(shreds, options=ArrangementOptions(pages=3))
    shares = share_joins(shreds, shreds.margins, 3.0)
    assert [join.share for join in answer.joins] == [
        shares.of(index[join.left], index[join.right]) for join in answer.joins
    ]


@pytest.mark.parametrize("seed", range(3))
def test_two_shreds_share_as_all_their_orders_say(seed: int) -> None:
    shreds = draw(seed, n=2)
    scores, margins = shreds.scores.astype(float), shreds.margins
    breaks = [margins.ends[i] + margins.starts[j] for i, j in ((0, 1), (1, 0))]
    # two pages, one each way round, and no circle
    weights = np.exp([breaks[0] + breaks[1], scores[0, 1] + breaks[1], scores[1, 0] + breaks[0]])
    shares = share_joins(shreds, margins, None).values
    for found, true in zip((shares[0, 1], shares[1, 0]), weights[1:] / weights.sum(), strict=True):
        assert found == pytest.approx(true, abs=0.35)  # the counting knows no circles, and is not exact


def test_sparse_scores_share_like_dense_ones() -> None:
    dense = draw(5)
    sparse = make_sparse(dense)
    found = share_joins(sparse, sparse.margins, 3.0).values
    inner = share_joins(dense, dense.margins, 3.0).values[~np.eye(len(dense), dtype=bool)]
    assert found == pytest.approx(inner, abs=1e-4)


def test_a_circle_takes_nothing_from_true_joins() -> None:
    """The two ends of a page fit each other well, and one of them has a neighbor that fits a little."""
    scores = np.full((4, 4), -30, np.float32)
    scores[[0, 1], [1, 2]] = 10
    scores[2, 0], scores[3, 0] = 4, -2
    margins = Margins(np.full(4, -4, np.float32), np.full(4, -4, np.float32), np.full(4, 8, np.float32))
    shares = share_joins(pile(scores, margins), margins, None).values
    assert shares[2, 0] == 0
    assert shares[3, 0] > 0.5


def test_a_stray_shred_is_left_alone_instead_of_closing_a_hole_with_it() -> None:
    shreds = with_a_stray()
    rivals = np.repeat(np.arange(5), [1, 1, 1, 1, 60])  # many strays alike: each fits the page as well
    many = pile(
        shreds.scores[np.ix_(rivals, rivals)],
        Margins(shreds.margins.starts[rivals], shreds.margins.ends[rivals], np.full(64, 3, np.float32)),
    )
    found = arrange(many)
    assert {tuple(slot.shred_id for slot in page) for page in found.pages} >= {("s0", "s1", "s2", "s3")}
    assert found.is_optimal


def test_what_is_believed_holds_every_join_that_most_orders_make() -> None:
    shreds = draw(3, spread=6.0)
    shares = share_joins(shreds, shreds.margins, None)
    believed = shares.rule_out(0.08)
    assert (np.isfinite(believed.scores) == (shares.values >= 0.08)).all()
    kept = np.isfinite(believed.scores)
    assert (believed.scores[kept] == shreds.scores[kept]).all()


def test_with_a_given_number_of_pages_nothing_is_ruled_out() -> None:
    shreds = draw(4)
    whole = arrange(shreds, options=ArrangementOptions(pages=1))
    assert whole.pages == arrange(shreds, options=ArrangementOptions(pages=1, least_share=0)).pages


@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_person_brings_joins_back(is_sparse: bool) -> None:
    shreds = make_sparse(draw(6)) if is_sparse else draw(6)
    believed = share_joins(shreds, shreds.margins, None).rule_out(0.4)
    out = next((i, j) for i in range(12) for j in range(12) if i != j and believed.score(i, j) == -np.inf)
    pair = tuple(shreds.ids[k] for k in out)
    assert allow(believed, shreds, Constraints()) is believed
    assert allow(believed, shreds, Constraints(required={pair})).score(*out) == shreds.score(*out)
    for said in (
        Constraints(forbidden={(pair[0], shreds.ids[(out[1] + 1) % 12])}),
        Constraints(not_last={pair[0]}),
        Constraints(not_first={pair[1]}),
    ):
        assert allow(believed, shreds, said).score(*out) == shreds.score(*out)
    assert pair in {(join.left, join.right) for join in arrange(shreds, Constraints(required={pair})).joins}


def test_a_join_that_a_person_required_is_not_open() -> None:
    shreds = draw(7)
    required = (shreds.ids[3], shreds.ids[8])
    answer = arrange(shreds, Constraints(required={required}))
    said = {(join.left, join.right): join for join in answer.joins}
    assert said[required].is_required
    assert said[required].verdict == "sure"
    assert sum(join.is_required for join in answer.joins) == 1
