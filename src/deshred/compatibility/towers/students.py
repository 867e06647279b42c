"""Small towers that learn to see what large ones see. Needs torch.

Windows with their true partners teach a network little by little. The features of a trained network say in
every row what there is to see, so a student needs a fraction of the steps; and as its features mean the same,
it takes its teacher's place in everything that follows.
"""

from __future__ import annotations

from torch import Tensor

from deshred.compatibility.towers.scorer import TowerOptions

STUDENT = TowerOptions(channels=(16, 16, 32, 64))  # less than half of the products; vectors are 16 wide
STUDENT_RATE = 4e-3  # it may learn faster: its target does not move
_WORTH = 2.0  # nats that a student pays if its features have nothing in common with its teacher's


def price_unlikeness(features: tuple[Tensor, Tensor], taught: tuple[Tensor, Tensor]) -> Tensor:
    """What a student pays, in nats, beside its surprise at true partners. Each (n, h, d), (m, h, d)"""
    return (
        _WORTH * (measure_unlikeness(features, taught) + measure_unlikeness(features[::-1], taught[::-1])) / 2
    )


def measure_unlikeness(features: tuple[Tensor, ...], taught: tuple[Tensor, ...]) -> Tensor:
    """How much of what the teacher sees in rows of the first side is missed: 0 is nothing, 1 all of it.

    A difference counts for what it does to scores, which are products with features of the other side.
    """
    others = taught[1].flatten(0, 1)
    weight = others.T @ others  # (d, d)

    def size(rows: Tensor) -> Tensor:
        return ((rows @ weight) * rows).sum()

    there = size(taught[0] - taught[0].mean((0, 1)))
    return size(features[0] - taught[0]) / there.clamp_min(1.0)  # blank paper shows nothing to miss
