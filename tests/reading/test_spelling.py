from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deshred.reading.spelling import edit_distance
from tests.reading.edits import count_edits

letters = st.text(alphabet="abcß🙂", max_size=12)


@given(letters, letters)
def test_the_distance_is_that_of_the_textbook(one: str, other: str) -> None:
    assert edit_distance(one, other) == count_edits(one, other)


def test_a_text_longer_than_a_machine_word_is_counted_too() -> None:
    assert edit_distance("x" * 900 + "a", "x" * 900 + "b") == 1
