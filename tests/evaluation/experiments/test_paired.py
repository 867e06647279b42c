"""Document by document: only what both methods have solved is compared, and only at k = 1."""

from __future__ import annotations

import pytest

from deshred.evaluation.experiments.paired import group_differences, tabulate_pairs
from tests.evaluation.experiments.entries import pile_entry


def test_each_document_that_both_have_counts_once() -> None:
    entries = [
        pile_entry("default", 1, "D001", 1.0, 1.0),
        pile_entry("default", 1, "D002", 0.5, 1.0),
        pile_entry("default", 1, "D003", 0.1, 1.0),
        pile_entry("default", 2, "D001", 0.0, 1.0),
        pile_entry("words", 1, "D001", 0.2, 1.0, seed=0),
        pile_entry("words", 1, "D001", 0.4, 1.0, seed=1),
        pile_entry("words", 1, "D002", 0.75, 1.0),
        pile_entry("words", 1, "D009", 0.0, 1.0),
        pile_entry("words", 2, "D002", 0.0, 1.0),
    ]
    (found,) = group_differences(entries).items()
    assert found[0] == ("s-marques", "words")
    assert found[1] == pytest.approx([0.7, -0.25])


def test_counts_and_their_chance_stand_in_one_row() -> None:
    ours = [pile_entry("default", 1, f"D{n}", 1.0, 1.0) for n in range(8)]
    theirs = [pile_entry("marques", 1, f"D{n}", 0.5 if n < 6 else 1.0, 1.0) for n in range(8)]
    (row,) = tabulate_pairs([*ours, *theirs]).rows
    assert row[2:5] == ("6", "2", "0")
    assert row[5].startswith("37.5 ± ")
    assert row[6] == "0.031"  # 2 of the 2^6 ways that six coins fall


def test_where_all_documents_are_equal_there_is_nothing_to_test() -> None:
    entries = [pile_entry(name, 1, "D1", 0.9, 1.0) for name in ("default", "towers")]
    assert tabulate_pairs(entries).rows[0][2:] == ("0", "1", "0", "0.0", "")
