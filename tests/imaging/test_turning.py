from __future__ import annotations

import numpy as np

from deshred.elements import ShredSet
from deshred.imaging.edges import EdgeOptions, extract_edges
from deshred.imaging.turning import turn_edges, turn_shred


def test_turned_twice_a_shred_is_as_it_was(tiny_pile: ShredSet) -> None:
    shred = tiny_pile[2]
    once = turn_shred(shred)
    assert once.is_turned
    assert once.id == shred.id
    np.testing.assert_array_equal(once.image[0, 0], shred.image[-1, -1])
    twice = turn_shred(once)
    assert not twice.is_turned
    assert twice.fingerprint == shred.fingerprint


def test_turned_edges_are_those_of_the_turned_shred(tiny_pile: ShredSet) -> None:
    """The slow, obvious twin: cut them out of the turned pixels."""
    for shred in tiny_pile:
        options = EdgeOptions(rows=3000 + len(shred.mask) % 2)  # otherwise the middle is half a row off
        quick = turn_edges(extract_edges(shred, options=options), len(shred.mask))
        slow = extract_edges(turn_shred(shred), options=options)
        for a, b in ((quick.left, slow.left), (quick.right, slow.right)):
            assert a.top == b.top
            assert (a.ink != b.ink).mean() < 1e-3  # local thresholds round differently
            np.testing.assert_array_equal(a.outline, b.outline)
            np.testing.assert_array_equal(a.tone, b.tone)
