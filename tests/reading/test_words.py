from __future__ import annotations

import json

import pytest

from deshred.reading.words import Box, Line, Reading, Word


def word(text: str, left: int, confidence: float = 0.99) -> Word:
    return Word(text, Box(left, 10, left + 40, 30), confidence)


READING = Reading(
    (
        Line((word("shredded", 10), word("paper", 60, 0.92)), 0, (28.0, 28.5)),
        Line((word("again", 10, 0.3),), 1, (60.0, 60.0)),
    ),
    "tesseract 5.5",
    "eng",
    "ab" * 32,
)


@pytest.mark.parametrize(
    ("confidence", "clarity"), [(0.95, "clear"), (0.949, "fair"), (0.9, "fair"), (0.89, "doubtful")]
)
def test_a_confidence_is_good_for_three_classes(confidence: float, clarity: str) -> None:
    assert word("x", 0, confidence).clarity == clarity


def test_a_line_has_the_text_and_the_box_of_its_words() -> None:
    line = READING.lines[0]
    assert line.text == "shredded paper"
    assert line.box == Box(10, 10, 100, 30)
    assert (line.box.width, line.box.height) == (90, 20)


def test_the_share_of_clear_words_counts_words() -> None:
    assert READING.clear_share == pytest.approx(1 / 3)
    assert Reading((), "none", "eng", "").clear_share == 0.0


def test_a_reading_survives_json() -> None:
    assert Reading.from_dict(json.loads(json.dumps(READING.to_dict()))) == READING
