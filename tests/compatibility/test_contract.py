"""Groups of arrays come apart and together again, and single joins are those that a plain index finds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.contract import Descriptions, Evidence, PlainScorer, ScoreBlock


@dataclass(frozen=True, eq=False)
class Inner(Evidence):
    nats: NDArray[np.float32]  # (shifts, a, b)


@dataclass(frozen=True, eq=False)
class Outer(Evidence):
    ink: Inner
    counts: NDArray[np.int16]  # (a, b)


@dataclass(frozen=True, eq=False)
class Seen(Descriptions):
    features: NDArray[np.float32]  # (n, d)
    tops: NDArray[np.int32]  # (n,)


def some_evidence(a: int = 4, b: int = 5, seed: int = 0) -> Outer:
    rng = np.random.default_rng(seed)
    return Outer(
        Inner(rng.normal(size=(3, a, b)).astype(np.float32)), rng.integers(0, 9, (a, b)).astype(np.int16)
    )


def same(one: Outer, other: Outer) -> bool:
    return np.array_equal(one.ink.nats, other.ink.nats) and np.array_equal(one.counts, other.counts)


def test_what_a_store_keeps_is_put_together_again() -> None:
    evidence = some_evidence()
    arrays = evidence.to_arrays("before.")
    assert set(arrays) == {"before.ink.nats", "before.counts"}
    assert same(Outer.from_arrays(arrays, "before."), evidence)


def test_every_array_is_changed_alike_however_deep_it_lies() -> None:
    doubled = some_evidence().map(lambda array: 2 * array)
    assert np.array_equal(doubled.ink.nats, 2 * some_evidence().ink.nats)
    assert np.array_equal(doubled.counts, 2 * some_evidence().counts)


def test_parts_one_behind_the_other_are_the_whole() -> None:
    whole = some_evidence()
    parts = [whole.map(lambda array, at=at: array[..., at]) for at in (slice(0, 2), slice(2, 5))]
    assert same(Outer.concatenate(parts, -1), whole)


def test_single_joins_are_those_of_a_plain_loop() -> None:
    evidence, rows, columns = some_evidence(), np.array([3, 0, 3]), np.array([1, 4, 0])
    taken = evidence.take(rows, columns)
    assert taken.ink.nats.shape == (3, 1, 3)
    for place, (row, column) in enumerate(zip(rows, columns, strict=True)):
        assert np.array_equal(taken.ink.nats[:, 0, place], evidence.ink.nats[:, row, column])
        assert taken.counts[0, place] == evidence.counts[row, column]


def test_rows_are_taken_in_the_order_they_are_asked_for() -> None:
    evidence = some_evidence()
    taken = evidence.take_rows(np.array([2, 0]))
    assert np.array_equal(taken.ink.nats, evidence.ink.nats[:, [2, 0]])
    assert np.array_equal(taken.counts, evidence.counts[[2, 0]])
    assert taken.ink.nats.flags.c_contiguous


def test_descriptions_are_as_long_as_their_edges_and_are_cut_alike() -> None:
    seen = Seen(np.arange(8.0, dtype=np.float32).reshape(4, 2), np.arange(4, dtype=np.int32))
    assert len(seen) == 4
    assert seen[np.array([3, 1])].features.tolist() == [[6, 7], [2, 3]]
    assert seen[1:3].tops.tolist() == [1, 2]


def test_a_plain_scorer_learns_nothing_from_a_pile() -> None:
    scorer = PlainScorer()
    block = ScoreBlock(np.ones((2, 2), np.float32), np.zeros((2, 2), np.int16))
    assert scorer.adapt(None, None) is scorer
    assert scorer.reduce(block) is block
