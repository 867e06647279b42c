"""The text across a join is a second opinion: clear, mixed, broken, or nothing where too few words cross."""

from __future__ import annotations

import pytest

from deshred.export.crossings import Crossing, rate_crossings
from tests.export.materials import make_material, make_readings


@pytest.mark.parametrize(
    ("words", "confidence", "across"),
    [(3, 0.9, "clear"), (3, 0.8, "mixed"), (3, 0.6, "broken"), (2, 0.6, "unknown"), (0, 0.0, "unknown")],
)
def test_three_words_say_how_a_join_reads(words: int, confidence: float, across: str) -> None:
    assert Crossing(words, confidence).across == across


def test_every_join_has_the_words_that_cross_it() -> None:
    # the first word of each line crosses the first join, the third the second
    lines = "|".join(["Invoice x abcdef"] * 3)
    found = rate_crossings(make_material(readings=make_readings((lines, "Dear"), 0.5)), 0)
    assert found == {("a", "b"): Crossing(3, 0.5), ("b", "c"): Crossing(3, 0.5)}


def test_pages_that_were_not_read_say_nothing() -> None:
    found = rate_crossings(make_material(readings=None), 0)
    assert {crossing.across for crossing in found.values()} == {"unknown"}
