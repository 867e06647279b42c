from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deshred.reading.spelling import edit_distance

letters = st.text(alphabet="abcß🙂", max_size=12)


def count_edits(one: str, other: str) -> int:
    """The table of the textbook: the slow twin."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row = row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b)))
    return row[-1]


@given(letters, letters)
def test_the_distance_is_that_of_the_textbook(one: str, other: str) -> None:
    assert edit_distance(one, other) == count_edits(one, other)


def test_a_text_longer_than_a_machine_word_is_counted_too() -> None:
    assert edit_distance("x" * 900 + "a", "x" * 900 + "b") == 1
