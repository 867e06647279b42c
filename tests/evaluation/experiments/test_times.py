"""Times: over the piles that both methods have solved, beside the ratios of the paper."""

from __future__ import annotations

from deshred.evaluation.experiments.published import SECONDS
from deshred.evaluation.experiments.tables import tabulate_comparison
from deshred.evaluation.experiments.times import find_ratios, group_seconds, tabulate_seconds
from tests.evaluation.experiments.entries import PILES, pile_entry


def test_times_are_compared_over_the_piles_that_both_have_solved() -> None:
    assert find_ratios(PILES) == {("default", 1): 1.0, ("marques", 1): 0.5}
    assert group_seconds(PILES) == {("default", 1): 3.0, ("marques", 1): 1.0, ("marques", 2): 7.0}


def test_processor_time_is_compared_where_both_have_it() -> None:
    timed = [{**entry, "processor_seconds": 1.0} for entry in PILES if entry["instance"] == ["a"]]
    assert find_ratios([*timed, *PILES[1:2]]) == {("default", 1): 1.0, ("marques", 1): 1.0}
    assert group_seconds([*timed, *PILES[1:2]]) == {("default", 1): 1.0, ("marques", 1): 1.0}


def test_a_time_stands_beside_its_ratio_and_the_published_one() -> None:
    table = tabulate_seconds(PILES)
    own, rival = table.rows
    assert own[1].startswith("3 s, x 1")
    ratio = SECONDS["marques"][1] / SECONDS["proposed"][1]
    assert rival[1] == f"1 s, x 0.5 (x {ratio:.2g})"
    assert rival[2].startswith("7 s")
    assert ", x" not in rival[2]  # no pile that both have
    slow = tabulate_seconds([*PILES, pile_entry("words", 1, "a", 0.5, 780.0)]).rows[1]
    assert slow[1].startswith("780 s, x 390 (")


def test_a_pile_without_a_time_takes_no_part_in_times() -> None:
    untimed = {**pile_entry("pairwise", 1, "a", 1.0, 9.0), "seconds": {}}
    entries = [pile_entry("default", 1, "a", 1.0, 2.0), untimed]
    assert list(group_seconds(entries)) == [("default", 1)]
    assert ("pairwise", 1) not in find_ratios(entries)
    assert len(tabulate_comparison(entries).rows) == 2
