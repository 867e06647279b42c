"""The two parts of a model fit together, whole and in stretches."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.compatibility.models import open_model
from deshred.compatibility.pairwise.network import PARTS, PairwiseNetwork, Sides
from deshred.compatibility.pairwise.stretches import MAP_STEP, OVERLAP, Stretches

ROWS = 600


@pytest.fixture(scope="module")
def network() -> PairwiseNetwork:
    return PairwiseNetwork(open_model("pairwise-cdip", "pairwise", 1))


def draw_edges(count: int) -> np.ndarray:
    return (np.random.default_rng(count).random((count, ROWS, 16)) < 0.2).astype(np.uint8)


def test_an_edge_contributes_all_parts_with_rows_in_step(network: PairwiseNetwork) -> None:
    sides = network.look("left", draw_edges(3))
    assert len(sides) == 3
    rows = [part.shape[-2] for part in sides.parts]
    assert dict(zip(PARTS, rows, strict=True)) == {"seam": 299} | dict.fromkeys(PARTS[1:], 149)


def test_what_is_looked_at_one_by_one_joins_as_what_is_looked_at_together(network: PairwiseNetwork) -> None:
    right, lefts = network.look("right", draw_edges(1)), draw_edges(3)
    together = network.join(right, network.look("left", lefts))
    assert together.shape == (3, ROWS // MAP_STEP)
    for left, along in zip(lefts, together, strict=True):
        np.testing.assert_allclose(network.join(right, network.look("left", left[None]))[0], along, atol=1e-4)


@pytest.mark.parametrize("wanted", [[20], [0, 30], [3, 12, 36]])
def test_stretches_of_a_join_give_the_values_of_the_whole(
    network: PairwiseNetwork, wanted: list[int]
) -> None:
    right, left = draw_edges(1), draw_edges(2)
    whole = network.join(network.look("right", right), network.look("left", left))
    steps = np.array(wanted)
    stretches = Stretches.around(np.isin(np.arange(whole.shape[1]), steps), 79)
    places = stretches.places(steps)

    def look_later(which: str, ink: np.ndarray) -> Sides:
        return network.look(which, stretches.pick(ink, 1, MAP_STEP, more=OVERLAP))  # type: ignore[arg-type]

    early = network.join(
        *(network.look(w, ink).pick(stretches) for w, ink in (("right", right), ("left", left)))
    )
    late = network.join(look_later("right", right), look_later("left", left))
    for found in (early, late):
        np.testing.assert_allclose(found[:, places], whole[:, steps], atol=1e-4)
