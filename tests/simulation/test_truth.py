"""What a truth says about joins is what a plain look at its places says."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.errors import MismatchError
from deshred.simulation.truth import Place, Truth

TRUTH = Truth(
    {
        "c": Place("one", 7),
        "a": Place("one", 2),
        "x": Place("two", 0),
        "b": Place("one", 4),
        "y": Place("two", 1),
    }
)


def test_documents_are_read_from_left_to_right_whatever_numbers_are_skipped() -> None:
    assert TRUTH.documents == {"one": ("a", "b", "c"), "two": ("x", "y")}
    assert TRUTH.joins == {("a", "b"), ("b", "c"), ("x", "y")}
    assert TRUTH.firsts == {"a", "x"}
    assert TRUTH.lasts == {"c", "y"}


def test_a_shred_left_out_no_longer_stands_between_its_neighbors() -> None:
    assert TRUTH.restrict(["a", "c", "x"]).joins == {("a", "c")}


def test_a_shred_the_truth_does_not_know_is_named() -> None:
    with pytest.raises(MismatchError, match="'z'"):
        TRUTH.restrict(["a", "z"])


def test_the_end_of_a_document_matches_the_start_of_another_and_not_its_own() -> None:
    assert TRUTH.matches("c", "x")
    assert TRUTH.matches("y", "a")
    assert not TRUTH.matches("c", "a")
    assert not TRUTH.matches("y", "x")
    assert not TRUTH.matches("b", "x")


@pytest.mark.parametrize("seed", range(5))
def test_joins_are_those_of_a_look_at_every_two_places(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = {f"s{k}": Place(f"d{rng.integers(3)}", int(rank)) for k, rank in enumerate(rng.permutation(12))}
    truth = Truth(places)
    for left, one in places.items():
        for right, other in places.items():
            between = [p for p in places.values() if p.document == one.document and one.position < p.position]
            follows = bool(between) and min(between, key=lambda p: p.position) == other
            assert ((left, right) in truth.joins) == (follows and one.document == other.document)
