"""How many letters differ, by the book."""

from __future__ import annotations


def count_edits(one: str, other: str) -> int:
    """The table of the textbook: the slow twin."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b)))
    return row[-1]
