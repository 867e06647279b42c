"""A close look at the rows of joins: what is seen, what is said of it, and that company does not matter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deshred.compatibility.towers.closelook import (
    CHANNELS,
    FACTS,
    MOST,
    SHAPES,
    CloseLook,
    LookedAt,
    Sides,
    find_beliefs,
    gather_facts,
    list_best,
    weigh_against,
)
from deshred.elements import Compatibility, Margins
from deshred.errors import ModelError
from deshred.executors import SerialExecutor, ThreadExecutor

ROW_STEP = 4


def draw_look(seed: int = 0) -> CloseLook:
    rng = np.random.default_rng(seed)
    return CloseLook(
        {name: (0.3 * rng.standard_normal(shape)).astype(np.float32) for name, shape in SHAPES.items()}
    )


def draw_sides(count: int, rows: int = 60, depth: int = 5) -> Sides:
    rng = np.random.default_rng(1)
    return Sides(
        rng.integers(-300, 300, (count, rows, depth)).astype(np.int16),
        rng.integers(-100, 100, (count, rows, depth)).astype(np.int8),
        rng.uniform(-50, 50, depth),
        rng.uniform(-50, 50, depth),
        unit=2000.0,
        row_step=ROW_STEP,
    )


def draw_pile(count: int, seed: int = 2) -> Compatibility:
    rng = np.random.default_rng(seed)
    scores = rng.normal(-20, 10, (count, count)).astype(np.float32)
    np.fill_diagonal(scores, -np.inf)
    offsets = (ROW_STEP * rng.integers(-5, 6, (count, count))).astype(np.int16)
    starts, ends = rng.normal(-20, 5, (2, count)).astype(np.float32)
    margins = Margins(starts, ends, np.full(count, 8, np.float32))
    return Compatibility(tuple(map(str, range(count))), scores, offsets, margins=margins)


def list_sparsely(pile: Compatibility) -> Compatibility:
    """The same joins as a list."""
    rows, columns = np.nonzero(np.isfinite(pile.scores))
    starts = np.searchsorted(rows, np.arange(len(pile) + 1)).astype(np.int64)
    return replace(
        pile,
        scores=pile.scores[rows, columns],
        offsets=pile.offsets[rows, columns],
        row_starts=starts,
        columns=columns.astype(np.int32),
    )


NO_TOPS = np.zeros(12, np.int32)


def look_at(pile: Compatibility) -> LookedAt:
    return list_best(pile, NO_TOPS[: len(pile)], ROW_STEP, best=3)


@pytest.mark.parametrize("drop", [-5, -1, 0, 3])
def test_what_is_seen_is_what_a_loop_over_rows_finds(drop: int) -> None:
    sides = draw_sides(3)
    looked = LookedAt(
        np.array([[0, 2]], np.int32), np.zeros(1, np.intp), np.zeros(1, np.float32), np.array([drop])
    )
    seen = sides.see(looked)[0]
    for row in range(60):
        right = sides.rights[0, row].astype(float)
        below = row + drop
        left = sides.lefts[2, below].astype(float) if 0 <= below < 60 else sides.blank_left
        blank = sides.blank_right @ sides.blank_left
        expected = [right @ left, right @ sides.blank_left, left @ sides.blank_right]
        np.testing.assert_allclose(seen[row], (np.array(expected) - blank) / sides.unit, rtol=1e-3, atol=1e-3)


def test_blank_paper_beside_blank_paper_shows_nothing() -> None:
    sides = draw_sides(2)
    rights, lefts = np.round(sides.blank_right), np.round(sides.blank_left)
    blank = Sides(
        np.tile(rights, (2, 60, 1)), np.tile(lefts, (2, 60, 1)), rights, lefts, unit=2000.0, row_step=ROW_STEP
    )
    looked = look_at(draw_pile(2))
    np.testing.assert_allclose(blank.see(looked), 0, atol=1e-3)


def test_the_network_says_what_its_torch_twin_says() -> None:
    torch = pytest.importorskip("torch", reason="needs deshred[train]")
    from deshred.compatibility.towers.closelook import soften
    from deshred.compatibility.towers.closelook_training import CloseLookNetwork

    look, rng = draw_look(), np.random.default_rng(3)
    seen = rng.normal(0, 2, (9, 101, CHANNELS)).astype(np.float32)
    facts = rng.normal(0, 1, (9, FACTS)).astype(np.float32)
    scores = rng.normal(-20, 10, 9).astype(np.float32)
    twin = CloseLookNetwork()
    twin.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in look.weights.items()})
    with torch.no_grad():
        expected = twin(*map(torch.from_numpy, (soften(seen), facts, scores))).numpy()
    np.testing.assert_allclose(look.judge(seen, facts, scores), expected, rtol=1e-4, atol=1e-4)


def test_what_is_said_of_a_join_does_not_depend_on_its_company() -> None:
    """To the last bit: a pile that grows must not change what was said."""
    pile, sides, look = draw_pile(12), draw_sides(12), draw_look()
    looked = look_at(pile)
    assert pile.margins is not None

    def judge(some: LookedAt) -> NDArray[np.float64]:
        seen = sides.see(some)
        assert pile.margins is not None
        return look.judge(seen, gather_facts(seen, some, pile.margins), some.scores)

    together = judge(looked)
    alone = np.concatenate([judge(looked[at : at + 1]) for at in range(len(looked))])
    np.testing.assert_array_equal(together, alone)


def test_the_best_joins_of_either_edge_are_looked_at() -> None:
    pile = draw_pile(12)
    looked = look_at(pile)
    order, upwards = np.argsort(-pile.scores, axis=1), np.argsort(-pile.scores, axis=0)
    expected = {(i, int(j)) for i in range(12) for j in order[i, :3]}
    expected |= {(int(i), j) for j in range(12) for i in upwards[:3, j]}
    assert set(map(tuple, looked.pairs.tolist())) == expected


def test_a_list_of_joins_is_looked_at_as_a_matrix_is() -> None:
    pile, sides, look = draw_pile(12), draw_sides(12), draw_look()
    dense = find_beliefs(pile, sides, NO_TOPS, look, executor=SerialExecutor())
    sparse = find_beliefs(list_sparsely(pile), sides, NO_TOPS, look, executor=ThreadExecutor(2))
    np.testing.assert_array_equal(dense[np.isfinite(pile.scores)], sparse)


def test_shreds_of_unequal_height_are_compared_at_the_rows_where_they_lie() -> None:
    """An offset counts from the tops of two shreds, features from the tops of their edges."""
    pile = draw_pile(4)
    tops = np.array([0, 40, 80, 120], np.int32)
    level, moved = (list_best(pile, some, ROW_STEP, best=3) for some in (np.zeros(4, np.int32), tops))
    own, other = level.pairs.T
    np.testing.assert_array_equal(moved.drops - level.drops, (tops[own] - tops[other]) // ROW_STEP)


def test_joins_are_weighed_against_each_other_and_against_nobody() -> None:
    worth, edges = np.array([2.0, 1.0, -1.0, 50.0]), np.array([0, 0, 0, 2], np.int32)
    nobody = np.array([0.5, 3.0, 0.0])
    odds = weigh_against(worth, edges, nobody)
    all_of_first = np.exp([0.5, 2.0, 1.0, -1.0]).sum()
    expected = np.exp(worth[:3]) / all_of_first
    np.testing.assert_allclose(1 / (1 + np.exp(-odds[:3])), expected)
    assert odds[3] == pytest.approx(MOST)


def test_a_card_gives_back_the_weights_it_was_given() -> None:
    look = draw_look()
    again = CloseLook.from_card(look.to_card(), "m")
    for name, value in look.weights.items():
        np.testing.assert_array_equal(again.weights[name], value)


@pytest.mark.parametrize("text", [7, "", "AAAA", "not base64", draw_look().to_card()[:-8], "é"])
def test_damaged_weights_are_refused(text: Any) -> None:
    with pytest.raises(ModelError, match=r"mine.onnx.*Train the model again"):
        CloseLook.from_card(text, "mine.onnx")


def test_weights_that_are_no_numbers_are_refused() -> None:
    look = draw_look()
    broken = {**look.weights, "nobody": np.array(np.nan, np.float32)}
    with pytest.raises(ModelError, match="no numbers"):
        CloseLook.from_card(CloseLook(broken).to_card(), "mine.onnx")
