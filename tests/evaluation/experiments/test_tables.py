"""Tables: what was measured beside what was published, counted as a reader would count."""

from __future__ import annotations

import pytest

from deshred.evaluation.experiments.published import ABLATION, ACCURACY, FEEDBACK, KINDS
from deshred.evaluation.experiments.tables import (
    Table,
    tabulate_ablation,
    tabulate_comparison,
    tabulate_curves,
    tabulate_feedback,
    tabulate_kinds,
    take_largest,
)
from tests.evaluation.experiments.entries import PILES, curve_entry, factor_entry, feedback_entry


def column(table: Table, name: str) -> list[str]:
    return [row[table.header.index(name)] for row in table.rows]


def test_markdown_has_a_line_for_every_row() -> None:
    table = Table("Title", ("a", "b"), (("1", "2"), ("3", "4")), "Note.")
    assert table.to_markdown() == "## Title\n\nNote.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |\n"


def test_a_trial_on_a_few_documents_does_not_count_beside_all_of_them() -> None:
    whole = [curve_entry("s-marques", "default", k, [0.9]) for k in (1, 2)]
    trial = curve_entry("s-marques", "default", 1, [0.1], documents=2)
    other = curve_entry("s-cdip", "default", 1, [0.5], documents=3)
    assert take_largest([trial, *whole, other]) == [*whole, other]
    assert take_largest([trial]) == [trial]


def test_a_curve_stands_beside_what_was_published_with_the_difference() -> None:
    published = ACCURACY["s-marques"]["proposed"][1]
    table = tabulate_curves([curve_entry("s-marques", "default", 1, [1.0, 0.5, 1.0, 0.9])])
    assert column(table, "published %") == [f"{published:.1f}"]
    assert column(table, "difference") == [f"{85.0 - published:+.1f}"]
    assert column(table, "accuracy %")[0].startswith("85.0 ± ")
    assert column(table, "k = 1") == ["2 of 4 perfect, 1 below 70 %"]


def test_all_documents_are_called_all_and_methods_come_in_their_order() -> None:
    entries = [
        curve_entry("s-marques", method, k, [0.5]) for method in ("marques", "default") for k in (20, 2)
    ]
    table = tabulate_curves(entries)
    assert column(table, "k") == ["2", "all", "2", "all"]
    assert column(table, "method")[0].startswith("deshred")


def test_kinds_are_means_over_single_documents() -> None:
    kinds = {"D001": "letter", "D002": "letter", "D003": "poem", "D004": None}
    entry = curve_entry("s-cdip", "default", 1, [0.5, 0.7, 1.0, 0.0], kinds=kinds)
    mixed = curve_entry("s-cdip", "default", 2, [0.0, 0.0, 0.0, 0.0], kinds=kinds)
    table = tabulate_kinds([entry, mixed])
    difference = 60 - KINDS["letter"]
    assert [(row[0], row[2]) for row in table.rows] == [
        ("letter", f"60.0 ({difference:+.1f})"),
        ("poem", "100.0"),
    ]
    assert table.rows[1][1] == ""  # nobody has published poems
    rival = tabulate_kinds([{**entry, "method": "pairwise-nn"}])
    assert rival.rows[0][2] == "60.0"  # kinds were published for another method


def test_the_comparison_counts_failures_as_piles() -> None:
    table = tabulate_comparison(PILES)
    marques = next(row for row in table.rows if "Marques" in row[1])
    assert ", 2 piles" in marques[2]
    assert marques[2].startswith("25.0, ")  # two piles say nothing about others
    published = ACCURACY["s-marques"]["marques"][2]
    assert marques[3].endswith(f", 1 pile ({published:.1f}, {50 - published:+.1f})")


def test_feedback_shows_the_mean_over_seeds_for_every_strategy() -> None:
    entries = [
        feedback_entry("price", 0.1, 4),
        feedback_entry("random", 0.1, 8, seed=0),
        feedback_entry("random", 0.1, 9, seed=1),
        feedback_entry("price", 0.2, 2),
    ]
    table = tabulate_feedback(entries)
    assert column(table, "price") == ["4 (96.0)", "2 (98.0)"]
    assert column(table, "random") == ["8.5 (91.5)", ""]
    assert column(table, "asked") == ["10 of 100 (10 %)", "20 of 100 (20 %)"]
    published = FEEDBACK["s-cdip"]
    assert column(table, "published") == [f"{published.before:.1f} -> {published.after:.1f} %", ""]


def test_a_factor_has_a_row_for_each_value_and_training() -> None:
    entries = [
        factor_entry("evidence", "ink", 1, [0.5, 0.7, 0.5, 0.7]),
        factor_entry("evidence", "ink", 2, [0.4]),
        factor_entry("evidence", "ink", 1, [0.9], steps=300),
    ]
    table = tabulate_ablation(entries)
    assert column(table, "trained") == ["shipped model", "300 steps"]
    assert column(table, "k = 2") == ["40.0", ""]
    assert column(table, "k = 1")[0].startswith("60.0 ± ")


def test_all_seeds_of_a_factor_count_and_the_difference_stands_beside_what_was_published() -> None:
    entries = [factor_entry("v_shift", "10", 5, [0.9 + seed / 10], seed=seed) for seed in (0, 1)]
    table = tabulate_ablation([*entries, factor_entry("v_shift", "5", 1, [0.9])])
    assert column(table, "k = 5") == ["", "95.0"]
    published = ABLATION["v_shift"]["s-cdip"]
    assert column(table, "published, k = 5") == [
        f"{published['5']:.1f}",
        f"{published['10']:.1f} ({95 - published['10']:+.1f})",
    ]


def test_values_stand_in_the_order_of_their_numbers_however_they_were_measured() -> None:
    sizes = [factor_entry("sample", value, 1, [0.5]) for value in ("64x32", "32x64", "32x32")]
    shifts = [factor_entry("v_shift", value, 1, [0.5]) for value in ("0", "20", "10", "5")]
    words = [factor_entry("evidence", value, 1, [0.5]) for value in ("outline", "ink")]
    table = tabulate_ablation([*sizes, *shifts, *words])
    assert column(table, "value") == ["32x32", "32x64", "64x32", "0", "5", "10", "20", "outline", "ink"]


@pytest.mark.parametrize("accuracy", [0.7, 0.69])
def test_a_document_is_poor_below_seventy_percent(accuracy: float) -> None:
    table = tabulate_curves([curve_entry("drawn", "outline", 1, [accuracy])])
    assert column(table, "k = 1") == [f"0 of 1 perfect, {int(accuracy < 0.7)} below 70 %"]
    assert column(table, "published %") == [""]
