from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deshred.compatibility.sketches import (
    Look,
    Sketch,
    draw_sketch,
    find_candidates,
    glance,
    mark_best,
    set_sight,
)
from deshred.executors import SerialExecutor, ThreadExecutor


def _sketch(count: int, seed: int, *, rows: int = 12, depth: int = 3) -> Sketch:
    rng = np.random.default_rng(seed)
    return draw_sketch(np.rint(rng.normal(0, 1e6, size=(count, rows, depth))))


def plain_glance(rights: Sketch, lefts: Sketch, reach: int) -> NDArray[np.float64]:
    """Join by join, shift by shift, in whole numbers."""
    found = np.full((len(rights), len(lefts)), -np.inf)
    rows = rights.values.shape[1]
    for i, j in np.ndindex(found.shape):
        if not rights.scale[i] * lefts.scale[j]:
            continue
        for shift in range(-reach, reach + 1):
            own = rights.values[i, max(0, -shift) : rows - max(0, shift)].astype(int)
            other = lefts.values[j, max(0, shift) : rows - max(0, -shift)].astype(int)
            found[i, j] = max(found[i, j], (own * other).sum())
    return found


def test_a_glance_is_the_best_product_over_all_shifts() -> None:
    rights, lefts = _sketch(4, 1), _sketch(5, 2)
    expected = plain_glance(rights, lefts, 2).astype(np.float32) * rights.scale[:, None] * lefts.scale
    np.testing.assert_array_equal(glance(rights, set_sight(lefts, 2)), expected)


def test_a_glance_is_the_same_in_every_company() -> None:
    rights, lefts = _sketch(70, 1), _sketch(90, 2)
    together = glance(rights, set_sight(lefts, 1))
    some, others = np.array([3, 60, 9]), np.array([80, 2])
    np.testing.assert_array_equal(
        glance(rights[some], set_sight(lefts[others], 1)), together[np.ix_(some, others)]
    )


def test_an_edge_without_anything_to_see_is_never_listed() -> None:
    values = np.rint(np.random.default_rng(3).normal(0, 100, size=(6, 12, 3)))
    values[2] = 0
    sketch = draw_sketch(values)
    assert sketch.scale[2] == 0
    found = find_candidates([Look(3, 1)], [sketch], [sketch], executor=SerialExecutor())
    assert not len(found.of_row(2))
    assert 2 not in found.columns


@pytest.mark.parametrize("count", [7, 300])  # within one block, and across two
def test_the_best_of_every_row_and_of_every_column_are_listed(count: int) -> None:
    rights, lefts = [_sketch(count, 1), _sketch(count, 3)], [_sketch(count, 2), _sketch(count, 4)]
    looks = [Look(3, 1), Look(2, 0)]
    found = find_candidates(looks, rights, lefts, executor=ThreadExecutor(2))
    expected = np.zeros((count, count), bool)
    for look, own, other in zip(looks, rights, lefts, strict=True):
        scores = glance(own, set_sight(other, look.reach))
        np.fill_diagonal(scores, -np.inf)
        for line, marks in ((scores, expected), (scores.T, expected.T)):
            best = np.argsort(-line, axis=1, kind="stable")[:, : look.candidates]
            np.put_along_axis(marks, best, True, axis=1)
    listed = np.zeros_like(expected)
    for row in range(count):
        listed[row, found.of_row(row)] = True
    np.testing.assert_array_equal(listed, expected)


def test_of_equals_the_first_are_listed() -> None:
    scores = np.array([[1, 2, 2, 2, 0], [5, 5, 5, 5, 5], [1, 2, 3, 4, 5]], np.float32)
    marks = mark_best(scores, 2)
    assert [np.flatnonzero(row).tolist() for row in marks] == [[1, 2], [0, 1], [3, 4]]
