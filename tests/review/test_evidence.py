import numpy as np
import pytest

from deshred.errors import InputError
from deshred.pipeline import Reconstruction
from deshred.review.evidence import explain, find_candidates
from tests.review.conftest import FinishedCase


def test_the_true_neighbor_is_the_first_candidate_of_most_sides(
    reconstruction: Reconstruction, finished: FinishedCase
) -> None:
    pile = reconstruction.compatibility
    truth = finished.truth.restrict(pile.ids)
    joins = [(pile.ids.index(a), pile.ids.index(b)) for a, b in truth.joins]
    right = [find_candidates(pile, i, "right")[0].partner == j for i, j in joins]
    left = [find_candidates(pile, j, "left")[0].partner == i for i, j in joins]
    assert np.mean(right + left) > 0.7


def test_candidates_come_in_order_and_leave_the_shred_itself_out(reconstruction: Reconstruction) -> None:
    found = find_candidates(reconstruction.compatibility, 0, "right", 5)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert 0 not in [one.partner for one in found]


def test_a_shred_has_two_sides(reconstruction: Reconstruction) -> None:
    with pytest.raises(InputError):
        find_candidates(reconstruction.compatibility, 0, "top")


def test_ink_goes_on_across_a_true_join_and_stops_at_a_false_one(
    reconstruction: Reconstruction, finished: FinishedCase
) -> None:
    pile, edges = reconstruction.compatibility, reconstruction.pile.edges
    truth = finished.truth.restrict(pile.ids)
    index = {id_: i for i, id_ in enumerate(pile.ids)}

    def share(left: str, right: str) -> float:
        i, j = index[left], index[right]
        found = explain(edges[i], edges[j], pile.offset(i, j))
        return float(found.meets.sum() / max(1, found.meets.sum() + found.ends.sum()))

    true = [share(*pair) for pair in truth.joins]
    lefts, rights = zip(*sorted(truth.joins), strict=True)
    false = [share(a, b) for a, b in zip(lefts, rights[1:], strict=False) if a != b]
    assert np.mean(true) > np.mean(false) + 0.1


def test_shreds_that_do_not_overlap_have_nothing_to_show(reconstruction: Reconstruction) -> None:
    edges = reconstruction.pile.edges
    assert explain(edges[0], edges[1], 50_000).meets.size == 0
