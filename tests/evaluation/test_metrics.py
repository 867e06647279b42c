import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deshred.elements import Arrangement, Join, Slot
from deshred.errors import MismatchError
from deshred.evaluation.metrics import (
    average,
    count_whole,
    measure_accuracy,
    measure_pages,
    measure_reliability,
)
from deshred.simulation.truth import Place, Truth


def truth_of(**documents: str) -> Truth:
    """`truth_of(A="abc")`: document A consists of a, b, c."""
    return Truth({id_: Place(name, i) for name, ids in documents.items() for i, id_ in enumerate(ids)})


def arrangement_of(*pages: str) -> Arrangement:
    joins = tuple(Join(a, b, 0.0, 0) for page in pages for a, b in pairwise(page))
    return Arrangement(tuple(tuple(Slot(id_, 0) for id_ in page) for page in pages), joins, (), 0.0, 0.0)


TWO = truth_of(A="abcd", B="xyz")


@pytest.mark.parametrize(
    ("order", "right"),
    [
        ("abcdxyz", 6),
        ("xyzabcd", 6),  # documents may come in any order
        ("dcbazyx", 0),
        ("bcdxyza", 6),  # torn at both ends of the order, yet z -> a matches: the paper's metric is lenient
        ("abxcdyz", 3),  # a-b, c-d and y-z
        ("xyzdabc", 4),  # d -> a: end and start of the same document do not match
    ],
)
def test_accuracy_counts_neighbors_and_ends_that_meet(order: str, right: int) -> None:
    assert measure_accuracy(order, TWO) == pytest.approx(right / 6)


def test_shreds_beside_a_dropped_one_become_neighbors() -> None:
    assert measure_accuracy("acdxz", TWO) == 1.0


def test_a_dropped_first_shred_makes_the_second_the_first() -> None:
    assert measure_accuracy("xyzbcd", TWO) == 1.0
    assert measure_accuracy("bcxyzd", TWO) == pytest.approx(3 / 5)


def test_one_shred_is_in_order() -> None:
    assert measure_accuracy("a", TWO) == 1.0


def test_a_shred_named_twice_is_refused() -> None:
    with pytest.raises(MismatchError, match="each shred once"):
        measure_accuracy("abca", TWO)


def test_a_shred_without_truth_is_refused() -> None:
    with pytest.raises(MismatchError, match="'q'"):
        measure_accuracy("abq", TWO)


@given(st.permutations("abcdef"))
def test_one_document_is_accurate_only_when_it_is_whole(order: list[str]) -> None:
    one = truth_of(A="abcdef")
    whole = "".join(order) == "abcdef"
    assert (measure_accuracy(order, one) == 1.0) == whole
    assert count_whole(order, one) == whole


@pytest.mark.parametrize(
    ("order", "whole"), [("xyzabcd", 2), ("bcdxyza", 1), ("abxcdyz", 0), ("acdxyz", 2), ("zyxabcd", 1)]
)
def test_documents_are_whole_when_nothing_is_torn_or_between(order: str, whole: int) -> None:
    assert count_whole(order, TWO) == whole


def test_perfect_pages_have_perfect_metrics() -> None:
    metrics = measure_pages(arrangement_of("xyz", "abcd"), TWO)
    assert (metrics.perfect, metrics.ends, metrics.precision, metrics.recall) == (2, 1.0, 1.0, 1.0)


def test_joining_two_documents_costs_precision_and_both_pages() -> None:
    metrics = measure_pages(arrangement_of("abcdxyz"), TWO)
    assert (metrics.pages, metrics.documents, metrics.perfect, metrics.ends) == (1, 2, 0, 0.0)
    assert metrics.precision == pytest.approx(5 / 6)
    assert metrics.recall == 1.0


def test_a_torn_page_costs_recall_but_not_precision() -> None:
    metrics = measure_pages(arrangement_of("ab", "cd", "xyz"), TWO)
    assert metrics.perfect == 1
    assert metrics.ends == pytest.approx(1 / 3)
    assert metrics.precision == 1.0
    assert metrics.recall == pytest.approx(4 / 5)


def test_the_calibration_error_weighs_bins_by_their_joins() -> None:
    reliability = measure_reliability([0.95] * 8 + [0.55] * 2, [True] * 8 + [True, False])
    assert [(bin_.low, bin_.joins, bin_.kept) for bin_ in reliability.bins] == [(0.5, 2, 0.5), (0.9, 8, 1.0)]
    assert reliability.error == pytest.approx(0.05)


def test_a_probability_of_one_falls_into_the_last_bin() -> None:
    reliability = measure_reliability([1.0, 0.0], [True, False], bins=4)
    assert [(bin_.low, bin_.high) for bin_ in reliability.bins] == [(0.0, 0.25), (0.75, 1.0)]
    assert reliability.error == 0.0


def test_honest_probabilities_have_a_small_calibration_error() -> None:
    rng = np.random.default_rng(1)
    probabilities = rng.random(20_000)
    honest = rng.random(20_000) < probabilities
    boastful = rng.random(20_000) < probabilities / 2
    assert measure_reliability(probabilities, honest).error < 0.02
    assert measure_reliability(probabilities, boastful).error > 0.2


@pytest.mark.parametrize("wrong", [[1.2, 0.1], [math.nan, 0.1], [0.5]])
def test_what_is_no_probability_is_refused(wrong: list[float]) -> None:
    with pytest.raises(MismatchError):
        measure_reliability(wrong, [True, False])


def test_the_confidence_interval_is_that_of_student() -> None:
    mean = average([0.9, 1.0, 0.8])
    assert mean.value == pytest.approx(0.9)
    assert mean.margin == pytest.approx(4.3027 * 0.1 / math.sqrt(3), rel=1e-4)
    assert average([0.7]).margin is None
