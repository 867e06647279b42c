"""Constraints at odds are named, and only those."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions, arrange
from deshred.elements import Constraints
from deshred.errors import InfeasibleError, MismatchError
from tests.arrangement.brute_force import pile


def joins(*pairs):
    return frozenset(pairs)


def groups(*sets):
    return frozenset(frozenset(ids) for ids in sets)


@pytest.fixture
def shreds():
    return pile(np.random.default_rng(0).normal(size=(7, 7)).astype(np.float32))


def refused(shreds, pages, **constraints):
    with pytest.raises(InfeasibleError) as caught:
        arrange(shreds, Constraints(**constraints), options=ArrangementOptions(pages=pages))
    return str(caught.value)


def test_two_right_neighbors_clash(shreds):
    text = refused(shreds, 1, required=joins(("s0", "s1"), ("s0", "s2"), ("s4", "s5")))
    assert "s0 has only one right side" in text
    assert "s0 -> s1" in text
    assert "s0 -> s2" in text
    assert "s4" not in text


def test_two_left_neighbors_clash(shreds):
    assert "s1 has only one left side" in refused(shreds, 1, required=joins(("s0", "s1"), ("s2", "s1")))


def test_required_and_forbidden_clash(shreds):
    text = refused(shreds, 1, required=joins(("s0", "s1")), forbidden=joins(("s0", "s1"), ("s3", "s1")))
    assert "both required and forbidden" in text
    assert "s3" not in text


def test_a_circle_of_required_joins_is_named_whole(shreds):
    text = refused(shreds, 1, required=joins(("s0", "s1"), ("s1", "s2"), ("s2", "s0"), ("s4", "s5")))
    assert "circle" in text
    assert all(f"s{a} -> s{b}" in text for a, b in ((0, 1), (1, 2), (2, 0)))
    assert "s4" not in text


def test_a_first_shred_has_no_left_neighbor_and_a_last_one_no_right_neighbor(shreds):
    assert "s1 has only one left side" in refused(
        shreds, 1, required=joins(("s0", "s1")), first=frozenset({"s1"})
    )
    assert "s0 has only one right side" in refused(
        shreds, 1, required=joins(("s0", "s1")), last=frozenset({"s0"})
    )


def test_no_shred_stands_beside_itself(shreds):
    assert "beside itself" in refused(shreds, 1, required=joins(("s3", "s3")))


def test_more_first_shreds_than_pages_clash(shreds):
    assert "2 shreds are first on a page, and only 1 can be" in refused(
        shreds, 1, first=frozenset({"s0", "s3"})
    )


def test_two_first_shreds_on_one_page_clash_with_what_ties_them(shreds):
    text = refused(
        shreds,
        3,
        first=frozenset({"s0", "s3"}),
        together=groups({"s0", "s1"}, {"s1", "s3"}, {"s5", "s6"}),
    )
    assert "only one first shred" in text
    assert "s0, s1 together" in text
    assert "s1, s3 together" in text
    assert "s5" not in text


def test_apart_and_tied_clash_with_the_whole_chain(shreds):
    text = refused(
        shreds,
        3,
        apart=groups({"s0", "s3"}),
        together=groups({"s1", "s3", "s6"}),
        required=joins(("s0", "s1")),
    )
    assert "s0, s3 apart" in text
    assert "s0 -> s1" in text
    assert "s1, s3, s6 together" in text


def test_more_shreds_apart_than_pages_clash(shreds):
    assert "3 shreds lie on different pages, and only 2 can" in refused(
        shreds, 2, apart=groups({"s0", "s1", "s2"})
    )


def test_required_joins_that_leave_too_few_pages_clash():
    shreds = pile(np.zeros((3, 3), np.float32))
    assert "at most 2 pages, but 3 are asked for" in refused(shreds, 3, required=joins(("s0", "s1")))


def test_a_clash_without_a_name_of_its_own_is_narrowed_down_to_its_cause(shreds):
    alone = joins(*((f"s{i}", "s3") for i in (0, 1, 2, 4, 5, 6)))
    text = refused(shreds, 1, forbidden=alone | joins(("s1", "s2")), first=frozenset({"s0"}))
    assert "no order obeys all of these" in text
    assert text.count("-> s3") == 6
    assert "s0 is first on a page" in text
    assert "s1 -> s2" not in text


def test_a_minimal_clash_of_groups_is_found(shreds):
    triangle = groups({"s0", "s1"}, {"s1", "s2"}, {"s0", "s2"}, {"s4", "s5"})
    text = refused(shreds, 2, apart=triangle)
    assert text.count("apart") == 3
    assert "s4" not in text


def test_a_shred_of_another_pile_is_a_mismatch(shreds):
    with pytest.raises(MismatchError, match="forbidden join s1 -> x9"):
        arrange(shreds, Constraints(forbidden=joins(("s1", "x9"))))


def test_a_forbidden_join_is_never_used_and_a_required_one_always(shreds):
    options = ArrangementOptions(pages=1)
    best = arrange(shreds, options=options)
    left, right = best.joins[2].left, best.joins[2].right
    without = arrange(shreds, Constraints(forbidden=joins((left, right))), options=options)
    assert (left, right) not in {(join.left, join.right) for join in without.joins}
    assert without.cost >= best.cost
    turned = arrange(shreds, Constraints(required=joins((right, left))), options=options)
    assert (right, left) in {(join.left, join.right) for join in turned.joins}


def test_a_person_overrules_a_scorer_that_rules_a_join_out():
    scores = np.random.default_rng(1).normal(size=(5, 5)).astype(np.float32)
    scores[2, 4] = -np.inf
    found = arrange(
        pile(scores), Constraints(required=joins(("s2", "s4"))), options=ArrangementOptions(pages=1)
    )
    assert ("s2", "s4") in {(join.left, join.right) for join in found.joins}
    assert np.isfinite(found.cost)


def test_an_automatic_number_of_pages_makes_room_for_the_constraints(shreds):
    found = arrange(shreds, Constraints(first=frozenset({"s0", "s3"}), apart=groups({"s4", "s5", "s6"})))
    assert len(found.pages) == 3
    assert {"s0", "s3"} <= {page[0].shred_id for page in found.pages}
