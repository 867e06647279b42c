"""What a store keeps of a group is what describing it again gives, and blank paper is a group of one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deshred.cases import MemoryStore
from deshred.compatibility.describing import Describing, describe_paper
from deshred.compatibility.groups import Group, find_groups
from deshred.compatibility.outline import OutlineScorer
from deshred.elements import ShredSet
from deshred.executors import SerialExecutor
from tests.compatibility.comparing import pile_of

GROUPS = [Group(np.array([4, 0, 2]), "one"), Group(np.array([1]), "two")]


class Counting(OutlineScorer):
    """Knows how many edges it was asked to look at."""

    edges = 0

    def describe_rights(self, edges, executor):  # type: ignore[no-untyped-def]
        self.edges += len(edges)
        return super().describe_rights(edges, executor)


@pytest.fixture
def describing(tiny_pile: ShredSet) -> Describing:
    scorer = Counting()
    return Describing(pile_of(tiny_pile, scorer.edge_options), scorer, MemoryStore(), SerialExecutor())


def test_a_group_is_described_once_and_recalled_bit_for_bit(describing: Describing) -> None:
    first, again = describing.describe_all(GROUPS, None), describing.describe_all(GROUPS, None)
    assert describing.scorer.edges == 4 + 1  # blank paper shows what those that were kept must look like
    for one, other in zip(first, again, strict=True):
        for name in ("rights", "lefts", "borders"):
            before, after = (getattr(some, name).to_arrays() for some in (one, other))
            assert before.keys() == after.keys()
            for key in before:
                np.testing.assert_array_equal(before[key], after[key])
        np.testing.assert_array_equal(one.tops, other.tops)


def test_members_are_described_in_the_order_of_the_group(describing: Describing) -> None:
    together, _ = describing.describe_all(GROUPS, None)
    for place, member in enumerate(GROUPS[0].members):
        alone = describing.describe_all([Group(np.array([member]), f"alone {member}")], None)[0]
        for key, array in alone.lefts.to_arrays().items():
            np.testing.assert_array_equal(together.lefts.to_arrays()[key][place], array[0])
        assert together.tops[place] == describing.pile.edges[int(member)].left.top


def test_progress_counts_the_groups(describing: Describing) -> None:
    told: list[tuple[str, int, int]] = []
    describing.describe_all(GROUPS, lambda *args: told.append(args))
    assert told == [("encoding", 1, 2), ("encoding", 2, 2)]


def test_blank_paper_is_one_edge_without_ink_or_border() -> None:
    paper = describe_paper(OutlineScorer())
    assert len(paper.group) == len(paper.rights) == len(paper.lefts) == 1
    assert all(not array.any() for array in paper.borders.to_arrays().values())


def test_what_other_groups_hold_is_not_described_again(describing: Describing) -> None:
    prints = [shred.fingerprint for shred in describing.pile.shreds]
    store = describing.store
    old = find_groups([prints[i] for i in (4, 0, 2)], store, 3)
    describing.describe_all([replace(old[0], members=np.array([4, 0, 2]))], None)
    before = describing.scorer.edges
    [new] = find_groups([prints[i] for i in (0, 1, 4)], store, 3)
    new = replace(new, members=np.array([0, 1, 4]))
    assembled = describing.describe_all([new], None)[0]
    assert describing.scorer.edges == before + 1 + 1  # one of the three is new; and blank paper
    alone = Describing(describing.pile, describing.scorer, MemoryStore(), SerialExecutor())
    expected = alone.describe_all([new], None)[0]
    recalled = describing.describe_all([new], None)[0]
    for some in (assembled, recalled):
        for name in ("rights", "lefts", "borders"):
            arrays = getattr(some, name).to_arrays()
            for key, array in getattr(expected, name).to_arrays().items():
                np.testing.assert_array_equal(arrays[key], array)
        np.testing.assert_array_equal(some.tops, expected.tops)


def test_a_group_whose_kin_are_lost_is_described(describing: Describing) -> None:
    prints = [shred.fingerprint for shred in describing.pile.shreds]
    find_groups([prints[i] for i in (4, 0, 2)], describing.store, 3)  # known by name only
    [new] = find_groups([prints[i] for i in (0, 1)], describing.store, 3)
    described = describing.describe_all([replace(new, members=np.array([0, 1]))], None)[0]
    assert len(described.rights) == 2
