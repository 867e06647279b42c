"""How many pages, where they begin and end, and how sure that is."""

from __future__ import annotations

import numpy as np
import pytest
from brute_force import held_karp, pile
from hypothesis import given, settings
from hypothesis import strategies as st

from deshred.arrangement import ArrangementOptions, arrange
from deshred.elements import Constraints, Margins
from deshred.errors import InputError, MismatchError, SettingsError


def documents(seed, n_pages=4, length=12, weak=0.15):
    """Pages of shreds with log-odds for joins and margins; the outer edges fit each other somewhat."""
    rng = np.random.default_rng(seed)
    n = n_pages * length
    scores = rng.normal(-4, 1.5, (n, n)).astype(np.float32)
    inner = np.array([i for i in range(n - 1) if (i + 1) % length])
    scores[inner, inner + 1] = np.where(rng.random(len(inner)) < weak, 0.0, 5.0) + rng.normal(
        0, 1, len(inner)
    )
    firsts, lasts = np.arange(0, n, length), np.arange(length - 1, n, length)
    scores[np.ix_(lasts, firsts)] = rng.normal(1, 1, (n_pages, n_pages))
    starts, ends = rng.normal(-4, 1, n), rng.normal(-4, 1, n)
    starts[firsts], ends[lasts] = rng.normal(4, 1, n_pages), rng.normal(4, 1, n_pages)
    widths = np.full(n, 210 / length)
    margins = Margins(*(a.astype(np.float32) for a in (starts, ends, widths)))
    return pile(scores, margins), {f"s{i}" for i in firsts}


@pytest.mark.parametrize("seed", range(3))
def test_margins_tell_how_many_pages_there_are_and_where_they_begin(seed):
    shreds, firsts = documents(seed)
    found = arrange(shreds)
    assert found.is_optimal
    assert {page[0].shred_id for page in found.pages} == firsts
    assert np.mean([seam.probability for seam in found.breaks]) > 0.5


def test_without_margins_breaks_land_on_weak_joins_instead():
    shreds, firsts = documents(0)
    blind = arrange(shreds, options=ArrangementOptions(pages=4, use_margins=False))
    assert {page[0].shred_id for page in blind.pages} != firsts
    assert all(seam.probability is None for seam in blind.breaks)


def test_without_margins_an_automatic_number_of_pages_is_one():
    assert len(arrange(pile(np.random.default_rng(0).normal(size=(30, 30)).astype(np.float32))).pages) == 1


def test_a_single_path_is_the_papers_whatever_the_margins_say():
    shreds, _ = documents(1)
    path = arrange(shreds, options=ArrangementOptions(pages=1))
    bare = arrange(pile(shreds.scores), options=ArrangementOptions(pages=1))
    assert path == bare


def test_the_width_of_a_page_bounds_their_number():
    shreds, _ = documents(2)
    vague = Margins(np.full(48, -9, np.float32), np.full(48, -9, np.float32), shreds.margins.widths_mm)
    shreds = pile(shreds.scores, vague)
    assert len(arrange(shreds).pages) == 1
    assert len(arrange(shreds, options=ArrangementOptions(page_width_mm=210.0)).pages) == 4


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_an_automatic_number_of_pages_is_the_cheapest_number(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    margins = Margins(*rng.normal(size=(3, n)).astype(np.float32))
    shreds = pile(rng.normal(size=(n, n)).astype(np.float32), margins)
    cheapest = min(held_karp(shreds, Constraints(), k) for k in range(1, n + 1))
    assert arrange(shreds).cost == pytest.approx(cheapest, abs=2e-6)


def test_a_break_between_alike_margins_and_joins_is_open():
    scores = np.full((2, 2), 3.0, np.float32)
    margins = Margins(*np.full((3, 2), 3.0, np.float32))
    (seam,) = arrange(pile(scores, margins), options=ArrangementOptions(pages=2)).breaks
    assert seam.probability == pytest.approx(0.25)


def test_margins_of_another_pile_or_without_numbers_are_refused():
    scores = np.zeros((3, 3), np.float32)
    with pytest.raises(MismatchError, match="2 starts for 3 shreds"):
        arrange(pile(scores, Margins(*np.zeros((3, 2), np.float32))))
    with pytest.raises(InputError, match="nan at shred 0"):
        arrange(pile(scores, Margins(*np.full((3, 3), np.nan, np.float32))))


def test_greedy_goes_to_the_nearest_neighbor_from_the_best_start():
    scores = np.full((4, 4), -9, np.float32)
    scores[2, 0], scores[0, 3], scores[3, 1] = 5, 4, 3
    found = arrange(pile(scores), options=ArrangementOptions(pages=1, solver="greedy"))
    assert found.order == ("s2", "s0", "s3", "s1")
    assert found.cost == pytest.approx(0 + 1 + 2)
    assert found.bound <= found.cost


def test_greedy_keeps_its_pages_and_refuses_what_it_cannot_obey():
    shreds = pile(np.random.default_rng(0).normal(size=(20, 20)).astype(np.float32))
    assert len(arrange(shreds, options=ArrangementOptions(pages=3, solver="greedy")).pages) == 3
    with pytest.raises(SettingsError, match="exact"):
        arrange(
            shreds,
            Constraints(required=frozenset({("s0", "s1")})),
            options=ArrangementOptions(pages=1, solver="greedy"),
        )
