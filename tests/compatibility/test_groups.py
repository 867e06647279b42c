"""Every shred of a pile is in one group, and what a store knows comes back as it was."""

from __future__ import annotations

import numpy as np
import pytest

from deshred.cases.store import MemoryStore
from deshred.compatibility.groups import Group, find_groups


def check(groups: list[Group], fingerprints: list[str], size: int) -> None:
    """Each place once, no group too large."""
    places = np.concatenate([group.members for group in groups])
    assert sorted(places.tolist()) == list(range(len(fingerprints)))
    assert all(0 < len(group) <= size for group in groups)


def paper_of(group: Group, fingerprints: list[str]) -> list[str]:
    return [fingerprints[i] for i in group.members.tolist()]


@pytest.mark.parametrize("seed", range(10))
def test_every_shred_is_in_one_group_whatever_came_before(seed: int) -> None:
    rng, store = np.random.default_rng(seed), MemoryStore()
    for _ in range(4):
        pile = [f"f{k}" for k in rng.integers(0, 12, rng.integers(1, 20))]  # the same paper more than once
        check(find_groups(pile, store, 4), pile, 4)


def test_a_pile_that_grows_keeps_its_groups_and_gets_new_ones_for_the_rest() -> None:
    store, first = MemoryStore(), [f"f{k}" for k in range(7)]
    before = find_groups(first, store, 3)
    grown = ["new", *reversed(first)]
    after = find_groups(grown, store, 3)
    check(after, grown, 3)
    assert {group.key for group in before} < {group.key for group in after}
    by_key = {group.key: paper_of(group, grown) for group in after}
    assert all(by_key[group.key] == paper_of(group, first) for group in before)


def test_a_group_with_a_member_missing_is_not_used_and_its_others_are_not_lost() -> None:
    store = MemoryStore()
    find_groups(["a", "b", "c"], store, 3)
    pile = ["b", "a", "x", "a"]
    groups = find_groups(pile, store, 3)
    check(groups, pile, 3)
    assert [group.members.tolist() for group in groups] == [[0, 1, 2], [3]]  # the order of the pile


def test_the_same_paper_in_the_same_order_has_the_same_key_in_every_store() -> None:
    one, other = find_groups(["a", "b"], MemoryStore(), 5), find_groups(["a", "b"], MemoryStore(), 5)
    turned = find_groups(["b", "a"], MemoryStore(), 5)
    assert one[0].key == other[0].key != turned[0].key
