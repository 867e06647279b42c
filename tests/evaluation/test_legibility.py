"""How well a page reads is counted in letters and words, whatever columns the engine saw."""

from __future__ import annotations

import pytest

from deshred.evaluation.legibility import PlacedWord, measure_legibility, order_text
from deshred.reading.words import Box


def word(text: str, left: int, top: int, height: int = 20) -> PlacedWord:
    return PlacedWord(text, Box(left, top, left + 10 * len(text), top + height))


TRUTH = [word("Dear", 10, 10), word("Sir", 80, 10), word("paid", 10, 60), word("in", 80, 60)]


def test_a_page_read_without_a_mistake_has_none() -> None:
    found = measure_legibility(TRUTH, TRUTH)
    assert (found.character_error_rate, found.words_found, found.words) == (0.0, 1.0, 4)


def test_the_order_in_which_an_engine_tells_its_words_does_not_count() -> None:
    columns = [TRUTH[0], TRUTH[2], TRUTH[1], TRUTH[3]]
    assert measure_legibility(columns, TRUTH).character_error_rate == 0.0


def test_words_that_stand_a_little_askew_are_one_line() -> None:
    askew = [word("Dear", 10, 14), word("Sir", 80, 9), word("paid", 10, 60)]
    assert order_text(askew) == "Dear Sir\npaid"
    assert order_text([]) == ""


def test_every_letter_that_must_be_changed_counts_once() -> None:
    read = [word("Dear", 10, 10), word("Sit", 80, 10), word("paid", 10, 60), word("in", 80, 60)]
    found = measure_legibility(read, TRUTH)
    assert found.character_error_rate == pytest.approx(1 / len("Dear Sir\npaid in"))
    assert found.words_found == 3 / 4


def test_a_word_is_found_as_often_as_it_is_there() -> None:
    twice, once = [word("a", 10, 10), word("a", 80, 10)], [word("a", 10, 10)]
    assert measure_legibility(once, twice).words_found == 0.5
    assert measure_legibility(twice, once).words_found == 1.0


def test_nothing_read_is_all_lost_and_a_blank_page_loses_nothing() -> None:
    assert measure_legibility([], TRUTH).character_error_rate == 1.0
    assert measure_legibility([], []).character_error_rate == 0.0
