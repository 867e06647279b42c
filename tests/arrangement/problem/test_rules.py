"""What may stand on one page: rules and their bounds against every way to lay nodes on pages."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deshred.arrangement.problem.rules import PageRules, Room

N = 5


def random_rules(rng: np.random.Generator) -> PageRules:
    def some(most: int) -> tuple[np.ndarray, ...]:
        sizes = rng.integers(2, 4, rng.integers(0, most + 1))
        return tuple(np.sort(rng.choice(N, size, replace=False)) for size in sizes)

    room = Room(rng.uniform(1, 5, N), 8.0) if rng.random() < 0.7 else None
    return PageRules(some(1), some(2), room)


def obeyed(rules: PageRules, pages: tuple[int, ...]) -> bool:
    """The slow twin of `allow`."""
    for group in rules.together:
        if any(pages[a] != pages[b] for a, b in product(group, group)):
            return False
    for group in rules.apart:
        if any(a != b and pages[a] == pages[b] for a, b in product(group, group)):
            return False
    if rules.room is None:
        return True
    on_page = [[i for i in range(N) if pages[i] == page] for page in range(N)]
    return all(sum(rules.room.widths[i] for i in page) <= rules.room.most for page in on_page)


@pytest.mark.parametrize("seed", range(12))
def test_rules_allow_what_a_plain_look_at_every_page_allows(seed):
    rules = random_rules(np.random.default_rng(seed))
    for pages in product(range(3), repeat=N):
        assert rules.allow(np.array(pages)) == obeyed(rules, pages)


@pytest.mark.parametrize("seed", range(12))
def test_no_allowed_layout_has_fewer_pages_than_a_set_needs(seed):
    rng = np.random.default_rng(seed)
    rules, inside = random_rules(rng), rng.random(N) < 0.7
    inside[0] = True
    for pages in product(range(N), repeat=N):
        if obeyed(rules, pages):
            assert len({pages[i] for i in np.flatnonzero(inside)}) >= rules.pages_needed(inside)


@pytest.mark.parametrize("seed", range(12))
def test_a_set_that_breaks_a_rule_is_a_suspect(seed):
    rules = random_rules(np.random.default_rng(seed))
    if not rules:
        return
    for pages in product(range(2), repeat=N):
        labels = np.array(pages)
        if not rules.allow(labels):
            assert len(rules.suspects(labels))


def test_widths_add_up_over_the_nodes_of_a_set():
    room = Room(np.array([1.0, 2.0, 4.0]), 5.0)
    assert room.widths_of(np.array([1, 0, 1, 2])).tolist() == [2.0, 5.0, 0.0]  # the outside has no width
    assert room.mapped(np.array([0, 0, 1])).widths.tolist() == [3.0, 4.0]


@pytest.mark.parametrize(("width", "pages"), [(0.0, 1), (5.0, 1), (5.1, 2), (15.0, 3)])
def test_so_much_width_needs_so_many_pages(width, pages):
    assert Room(np.ones(1), 5.0).pages_for(width) == pages


def test_chains_that_no_page_holds_are_found_after_nodes_become_chains():
    rules = PageRules(apart=(np.array([0, 1]),), room=Room(np.array([3.0, 1.0, 3.0, 3.0]), 5.0))
    assert len(rules.overfull()) == 0
    assert rules.mapped(np.array([0, 0, 1, 2])).overfull().tolist() == [0]  # apart, yet one chain
    assert rules.mapped(np.array([0, 1, 2, 2])).overfull().tolist() == [2]  # too wide together


def test_a_group_is_torn_by_a_set_that_holds_a_part_of_it():
    rules = PageRules(together=(np.array([1, 3]),))
    assert rules.are_torn(np.array([False, True, False, False]))
    assert not rules.are_torn(np.array([False, True, False, True]))
    assert not rules.are_torn(np.array([True, False, True, False]))
