"""Joins, shreds and words as CSV that spreadsheets open and never run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from deshred.export.crossings import rate_crossings
from deshred.export.material import File, Material
from deshred.export.names import clean_cell

Cell = str | int | float | None

_JOINS = (
    "page",
    "left",
    "right",
    "verdict",
    "probability",
    "score",
    "offset_px",
    "price",
    "words_across",
    "reading",
)
_SHREDS = ("shred", "page", "place", "x", "y", "file", "frame", "sha256", "blank")
_WORDS = (
    "page",
    "line",
    "word",
    "clarity",
    "confidence",
    "left",
    "top",
    "right",
    "bottom",
    "joins",
    "open_join",
)


def export_csv(material: Material) -> Iterator[File]:
    """`joins.csv`, `shreds.csv`, and `words.csv` where pages were read."""
    yield File("csv/joins.csv", _to_csv(_JOINS, _list_joins(material)))
    yield File("csv/shreds.csv", _to_csv(_SHREDS, _list_shreds(material)))
    if material.readings is not None:
        yield File("csv/words.csv", _to_csv(_WORDS, _list_words(material)))


def _to_csv(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(heads)
    writer.writerows([clean_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return b"\xef\xbb\xbf" + buffer.getvalue().encode()  # spreadsheets need the mark to see UTF-8


def _list_joins(material: Material) -> Iterator[Sequence[Cell]]:
    for index in range(len(material.pages)):
        crossings = rate_crossings(material, index)
        for join in material.page_joins(index):
            numbers = (join.probability, join.score, join.offset, join.price)
            across = crossings[join.left, join.right]
            told = (across.words, across.across) if material.readings is not None else (None, None)
            yield (material.number(index), join.left, join.right, join.verdict, *numbers, *told)


def _list_shreds(material: Material) -> Iterator[Sequence[Cell]]:
    made = material.reconstruction
    for index, card in enumerate(material.pages.cards):
        for place, at in enumerate(card.placements, 1):
            source = made.shreds[made.shreds.index_of(at.shred_id)].source
            yield (
                at.shred_id,
                material.number(index),
                place,
                at.x,
                at.y,
                source.path.name,
                source.frame,
                source.sha256,
                0,
            )
    for shred in made.blank:
        source = shred.source
        yield (shred.id, None, None, None, None, source.path.name, source.frame, source.sha256, 1)


def _list_words(material: Material) -> Iterator[Sequence[Cell]]:
    for index in range(len(material.pages)):
        for number, line in enumerate(material.lines(index), 1):
            for word in line.words:
                crossed = material.crossed(index, word)
                box = word.box
                yield (
                    material.number(index),
                    number,
                    word.text,
                    word.clarity,
                    word.confidence,
                    *(box.left, box.top, box.right, box.bottom),
                    len(crossed),
                    int(any(join.verdict == "open" for join in crossed)),
                )
