"""Words that were read and words that are there in; how much was lost in reading out.

Words are put in order by where they stand, so that the engine's idea of columns does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deshred.reading.spelling import edit_distance
from deshred.reading.words import Box, Reading

_SAME_LINE = 0.5  # of the usual height of a word


@dataclass(frozen=True)
class PlacedWord:
    """A word and where it stands."""

    text: str
    box: Box


@dataclass(frozen=True)
class Legibility:
    """How well a page reads."""

    character_error_rate: float  # letters to change for each letter that is there
    words_found: float  # share of the words that are there
    words: int


def measure_legibility(read: Sequence[PlacedWord], truth: Sequence[PlacedWord]) -> Legibility:
    """Compare what was read with what is there."""
    there = order_text(truth)
    wanted = Counter(word.text for word in truth)
    found = Counter(word.text for word in read)
    return Legibility(
        edit_distance(order_text(read), there) / max(1, len(there)),
        (wanted & found).total() / max(1, wanted.total()),
        wanted.total(),
    )


def place_words(reading: Reading) -> list[PlacedWord]:
    """The words of a reading."""
    return [PlacedWord(word.text, word.box) for word in reading.words]


def order_text(words: Iterable[PlacedWord]) -> str:
    """The words line by line over the whole width of the page, with single spaces."""
    waiting = sorted(words, key=lambda word: word.box.top + word.box.bottom)
    if not waiting:
        return ""
    heights = sorted(word.box.height for word in waiting)
    apart = _SAME_LINE * heights[len(heights) // 2]
    lines: list[list[PlacedWord]] = []
    for word in waiting:
        if lines and _middle(word) - _middle(lines[-1][0]) <= apart:
            lines[-1].append(word)
        else:
            lines.append([word])
    return "\n".join(" ".join(w.text for w in sorted(line, key=lambda w: w.box.left)) for line in lines)


def _middle(word: PlacedWord) -> float:
    return (word.box.top + word.box.bottom) / 2
