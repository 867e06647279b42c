"""Constraints by id and by index say the same, and what contradicts itself is found without a solver."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deshred.arrangement.problem.fixings import (
    PageCount,
    check_constraints,
    fix,
    smallest_clash,
    split,
    unite,
)
from deshred.elements import Constraints
from deshred.errors import InfeasibleError, MismatchError
from tests.arrangement.brute_force import random_constraints

IDS = tuple("abcdef")


def pairs(*joins: str) -> frozenset[tuple[str, str]]:
    return frozenset((join[0], join[1]) for join in joins)


def groups(*members: str) -> frozenset[frozenset[str]]:
    return frozenset(map(frozenset, members))


def is_refused(constraints: Constraints, pages: PageCount) -> bool:
    try:
        fix(IDS, constraints, pages)
    except InfeasibleError:
        return True
    return False


@pytest.mark.parametrize("seed", range(20))
def test_constraints_split_into_single_ones_unite_again(seed):
    constraints = random_constraints(np.random.default_rng(seed), IDS, groups=True)
    assert unite(split(constraints)) == constraints


def test_every_kind_of_constraint_splits_and_unites():
    every = Constraints(
        required=pairs("ab"),
        forbidden=pairs("cd"),
        first=frozenset("a"),
        last=frozenset("b"),
        together=groups("ab"),
        apart=groups("cde"),
        not_first=frozenset("c"),
        not_last=frozenset("d"),
    )
    assert len(split(every)) == 8
    assert unite(split(every)) == every


def test_ids_become_indices_and_the_outside_is_one_more():
    fixings = fix(
        IDS,
        Constraints(required=pairs("ba"), forbidden=pairs("cd"), first=frozenset("e"), last=frozenset("f")),
        PageCount(1, 6),
    )
    assert fixings.required.tolist() == [[1, 0]]
    assert fixings.forbidden.tolist() == [[2, 3]]
    assert fixings.only_right.tolist() == [-1, 0, -1, -1, -1, 6]
    assert fixings.only_left.tolist() == [1, -1, -1, -1, 6, -1]
    assert not fixings.has_groups


def test_an_end_that_cannot_be_is_a_forbidden_join_with_the_outside():
    constraints = Constraints(not_first=frozenset("b"), not_last=frozenset("c"))
    fixings = fix(IDS, constraints, PageCount(1, 6))
    assert sorted(fixings.forbidden.tolist()) == [[2, 6], [6, 1]]


@pytest.mark.parametrize("seed", range(40))
def test_groups_are_refused_where_no_way_to_lay_them_on_pages_obeys_them(seed):
    rng = np.random.default_rng(seed)
    n_pages = int(rng.integers(1, 4))

    def some_groups() -> frozenset[frozenset[str]]:
        return groups(*("".join(rng.choice(list(IDS), 2, replace=False)) for _ in range(rng.integers(0, 5))))

    constraints = Constraints(together=some_groups(), apart=some_groups())
    obeyed = False
    for pages in product(range(n_pages), repeat=len(IDS)):
        page_of = dict(zip(IDS, pages, strict=True))
        obeyed |= all(len({page_of[i] for i in group}) == 1 for group in constraints.together) and all(
            len({page_of[i] for i in group}) == len(group) for group in constraints.apart
        )
    assert is_refused(constraints, PageCount(1, n_pages)) != obeyed


def test_a_clash_is_as_small_as_it_can_be():
    constraints = Constraints(
        apart=groups("ab", "bc", "ac", "de"), forbidden=pairs("ab"), first=frozenset("f")
    )
    found = smallest_clash(constraints, lambda some: not is_refused(some, PageCount(1, 2)))
    assert [str(atom) for atom in found] == ["a, b apart", "a, c apart", "b, c apart"]


def test_the_error_names_the_constraints_at_odds_alone():
    constraints = Constraints(required=pairs("ab", "bc", "ca", "de"), forbidden=pairs("ef"))
    with pytest.raises(InfeasibleError, match="circle") as error:
        check_constraints(IDS, constraints)
    assert "d -> e" not in str(error.value)
    assert all(join in str(error.value) for join in ("a -> b", "b -> c", "c -> a"))


def test_an_end_cannot_be_wanted_and_ruled_out():
    with pytest.raises(InfeasibleError, match="a is and is not first on a page"):
        check_constraints(IDS, Constraints(first=frozenset("a"), not_first=frozenset("a")))


def test_an_unknown_shred_is_named_with_its_constraint():
    with pytest.raises(MismatchError, match="forbidden join a -> z"):
        check_constraints(IDS, Constraints(forbidden=pairs("az")))
