import numpy as np
import pytest

from deshred.imaging.composition.settling import Pulls, Stiffness, settle


def settle_slowly(wanted, trust, stiffness):
    """The same least squares, written down pull by pull and solved as a full matrix."""
    joins, knots = wanted.shape
    rows, values = [], []

    def add(weight, value, *terms):
        row = np.zeros((joins + 1) * knots)
        for shred, knot, sign in terms:
            row[shred * knots + knot] += sign
        rows.append(np.sqrt(weight) * row)
        values.append(np.sqrt(weight) * value)

    for i in range(joins + 1):
        for k in range(knots):
            add(1e-6, 0, (i, k, 1))
            if i < joins:
                add(trust[i, k], wanted[i, k], (i + 1, k, 1), (i, k, -1))
                add(stiffness.joins, 0, (i + 1, k, 1), (i, k, -1))
            if k + 1 < knots:
                add(stiffness.stretch, 0, (i, k + 1, 1), (i, k, -1))
            if k + 2 < knots:
                add(stiffness.bend, 0, (i, k, 1), (i, k + 1, -2), (i, k + 2, 1))
    return np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0].reshape(joins + 1, knots)


@pytest.mark.parametrize("knots", [2, 3, 7])
def test_banded_least_squares_are_those_of_the_full_matrix(knots):
    rng = np.random.default_rng(knots)
    wanted, trust = rng.normal(0, 3, (4, knots)), rng.uniform(0, 5, (4, knots))
    stiffness = Stiffness(joins=0.1, stretch=0.7, bend=1.3)
    np.testing.assert_allclose(
        settle(Pulls(wanted, trust), stiffness, rounds=1), settle_slowly(wanted, trust, stiffness), atol=1e-4
    )


def test_a_pull_that_all_others_contradict_loses():
    wanted, trust = np.ones((5, 9)), np.full((5, 9), 2.0)
    wanted[2, 4] = 40
    moves = settle(Pulls(wanted, trust), Stiffness(joins=0.01, stretch=1.0, bend=1.0))
    np.testing.assert_allclose(np.diff(moves, axis=0), 1.0, atol=0.3)


def test_shreds_stay_where_they_are_when_no_join_speaks():
    silent = Pulls(np.full((3, 5), 7.0), np.zeros((3, 5)))
    np.testing.assert_allclose(settle(silent, Stiffness(0.05, 1, 1)), 0, atol=1e-9)
    alone = Pulls(np.zeros((0, 5)), np.zeros((0, 5)))
    assert settle(alone, Stiffness(0.05, 1, 1)).shape == (1, 5)
