from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deshred.compatibility.products import LARGEST_LEFT, LARGEST_RIGHT
from deshred.compatibility.shifts import (
    add_logs,
    correlate_bytes,
    correlate_floats,
    correlate_shifts,
    learn_prior,
    reduce_shifts,
)
from deshred.compatibility.towers.scorer import ROW_STEP, Features, TowersScorer

SHIFTS_PX = np.array([4, 0, -4], np.int16)
EVEN = np.log(np.full(3, 1 / 3, np.float32))


def _pile(shift: int, noise: float, seed: int = 0) -> NDArray[np.float32]:
    """Evidence of 30 edges, each with its partner at one shift, among strangers."""
    rng = np.random.default_rng(seed)
    evidence = rng.normal(0, noise, (3, 30, 31)).astype(np.float32)
    evidence[shift, np.arange(30), np.arange(30) + 1] += 8
    return evidence


def test_a_pile_that_lies_level_teaches_that_shifts_are_rare() -> None:
    learned = np.exp(learn_prior(_pile(1, 1.0), EVEN))
    assert learned.sum() == pytest.approx(1)
    assert learned[1] > 0.6


def test_evidence_that_says_nothing_leaves_the_prior_as_it_is() -> None:
    given = np.log(np.array([0.2, 0.7, 0.1], np.float32))
    np.testing.assert_allclose(learn_prior(np.zeros((3, 30, 30), np.float32), given), given, atol=1e-5)


def test_few_edges_hardly_move_the_prior() -> None:
    few = np.exp(learn_prior(_pile(1, 1.0)[:, :2], EVEN))
    many = np.exp(learn_prior(_pile(1, 1.0), EVEN))
    assert 1 / 3 < few[1] < 0.5 < many[1]


def test_the_learned_prior_does_not_depend_on_the_order_of_the_pile() -> None:
    evidence = _pile(2, 2.0)
    shuffled = np.random.default_rng(1).permutation(30)
    np.testing.assert_allclose(
        learn_prior(evidence[:, shuffled], EVEN), learn_prior(evidence, EVEN), atol=1e-5
    )


def test_what_a_pile_teaches_tells_partners_from_strangers_at_unlikely_shifts() -> None:
    evidence = np.random.default_rng(3).normal(0, 2.6, (3, 60, 61)).astype(np.float32)
    partner = np.arange(60) + 1
    evidence[1, np.arange(60), partner] += 6

    def share_found(prior: NDArray[np.float32]) -> float:
        scores = reduce_shifts(evidence, prior, SHIFTS_PX).scores
        return float((scores.argmax(axis=1) == partner).mean())

    assert share_found(learn_prior(evidence, EVEN)) > share_found(EVEN)


def test_a_score_is_the_log_sum_over_shifts_and_its_offset_the_best_of_them() -> None:
    evidence = np.random.default_rng(4).normal(0, 3, (3, 4, 5)).astype(np.float32)
    prior = np.log(np.array([0.5, 0.25, 0.25], np.float32))
    block = reduce_shifts(evidence, prior, SHIFTS_PX)
    for i in range(4):
        for j in range(5):
            weighed = [float(evidence[k, i, j] + prior[k]) for k in range(3)]
            assert block.scores[i, j] == pytest.approx(np.logaddexp.reduce(weighed), rel=1e-5)
            assert block.offsets[i, j] == SHIFTS_PX[int(np.argmax(weighed))]


def test_a_scorer_adapts_to_its_pile_and_stays_as_it_was(small_towers: Path) -> None:
    scorer = TowersScorer(small_towers)
    rng = np.random.default_rng(5)
    rights = Features(rng.normal(0, 300, size=(20, 750, 8)).astype(np.int16))
    # the partner of shred i is shred i + 1, three feature rows lower
    lefts = Features(np.roll(20 * np.roll(rights.values, 1, axis=0), 3, axis=1))
    adapted = scorer.adapt(rights, scorer.compare(rights, lefts).take_rows)
    at = scorer.shifts_px.tolist().index(-3 * ROW_STEP)
    assert np.exp(adapted.log_prior[at]) > 0.45
    assert np.exp(scorer.log_prior[at]) < 0.2


def test_logs_are_added_as_numpy_adds_them() -> None:
    rng = np.random.default_rng(0)
    some, others = rng.normal(0, 40, (2, 5, 7, 6)).astype(np.float32)
    others[0] = -np.inf
    np.testing.assert_allclose(add_logs(some, others), np.logaddexp(some, others), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        add_logs(some, np.float32(-4)), np.logaddexp(some, np.float32(-4)), rtol=1e-5, atol=1e-5
    )


def test_the_product_of_two_edges_is_the_same_in_every_group() -> None:
    rng = np.random.default_rng(6)
    rights, lefts = rng.integers(-9000, 9000, (2, 40, 300, 8)).astype(np.int16)
    whole = correlate_shifts(rights, lefts, 2)
    for _ in range(20):
        rows, columns = (rng.permutation(40)[: rng.integers(1, 40)] for _ in range(2))
        some = correlate_shifts(rights[rows], lefts[columns], 2)
        np.testing.assert_array_equal(some, whole[:, rows[:, None], columns])


@pytest.mark.parametrize("edges", [1, 7])
def test_products_of_bytes_are_those_of_floats_to_the_last_bit(edges: int) -> None:
    rng = np.random.default_rng(edges)
    rights = rng.integers(-LARGEST_RIGHT, LARGEST_RIGHT + 1, (edges, 750, 32)).astype(np.int16)
    lefts = rng.integers(-LARGEST_LEFT, LARGEST_LEFT + 1, (5, 750, 32)).astype(np.int8)
    rights[0], lefts[0] = LARGEST_RIGHT, -LARGEST_LEFT  # the largest sum there is
    products = correlate_bytes(rights, lefts, 5)
    np.testing.assert_array_equal(products, correlate_floats(rights, lefts, 5))
    assert products[5, 0, 0] == -LARGEST_RIGHT * LARGEST_LEFT * 750 * 32


def test_shifted_products_equal_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    rights = rng.integers(-99, 99, (3, 40, 8)).astype(np.int16)
    lefts = rng.integers(-99, 99, (4, 40, 8)).astype(np.int16)
    products = correlate_shifts(rights, lefts, 5)
    for k, shift in enumerate(range(-5, 6)):
        for i in range(3):
            for j in range(4):
                met = [
                    int(rights[i, y].astype(np.int64) @ lefts[j, y + shift].astype(np.int64))
                    for y in range(40)
                    if 0 <= y + shift < 40
                ]
                assert products[k, i, j] == sum(met)


@pytest.mark.parametrize("largest", [40, 3000], ids=["single", "double"])
def test_products_are_exact_in_either_precision_and_for_one_edge_as_for_many(largest: int) -> None:
    rng = np.random.default_rng(0)
    rights, lefts = (rng.integers(-largest, largest, (n, 60, 32)).astype(np.int16) for n in (3, 4))
    found = correlate_shifts(rights, lefts, 2)
    for shift in range(-2, 3):
        own = rights[:, max(0, -shift) : 60 - max(0, shift)].astype(np.int64)
        other = lefts[:, max(0, shift) : 60 - max(0, -shift)].astype(np.int64)
        np.testing.assert_array_equal(found[shift + 2], np.einsum("ahd,bhd->ab", own, other))
    for i in range(3):
        np.testing.assert_array_equal(correlate_shifts(rights[i : i + 1], lefts, 2), found[:, i : i + 1])
