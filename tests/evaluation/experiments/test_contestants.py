"""Methods behind one face: who enters with which options, and an order that no shuffle changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deshred.compatibility.classical.marques import MarquesOptions
from deshred.elements import Shred, ShredSet, Source
from deshred.evaluation.experiments.contestants import (
    CharactersContestant,
    ScorerContestant,
    WordsContestant,
    enter,
)
from deshred.evaluation.experiments.methods import METHODS
from deshred.executors import SerialExecutor
from tests.evaluation.drawn_collections import draw_document
from tests.reading.engines import needs_tesseract

SERIAL = SerialExecutor()


def drawn_shreds(seed: int, n: int = 6) -> ShredSet:
    """A document whose neighbors share the tones along their edges, in its true order."""
    shreds = []
    for at, gray in enumerate(draw_document(np.random.default_rng(seed), n)):
        image = gray[..., None].repeat(3, axis=2)
        shreds.append(Shred(f"s{at}", image, np.ones(gray.shape, bool), 300.0, Source(Path(), "")))
    return ShredSet(shreds)


@pytest.mark.parametrize("name", ["marques", "marques-2020"])
def test_the_order_does_not_depend_on_how_the_shreds_come(name: str) -> None:
    contestant = enter(METHODS[name], "drawn", documents=1, executor=SERIAL)
    shreds = drawn_shreds(1)
    answers = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(shreds))
        answers.append(contestant.solve(ShredSet([shreds[i] for i in order])))
    assert len({answer.orders for answer in answers}) == 1
    assert set(answers[0].seconds) >= {"prepare", "solve"}


def test_edge_pixels_put_a_document_of_equal_tones_together() -> None:
    shreds = drawn_shreds(2)
    answer = enter(METHODS["marques"], "drawn", documents=1, executor=SERIAL).solve(shreds)
    assert answer.orders == (shreds.ids,)


@pytest.mark.parametrize(
    ("collection", "rows"), [("s-marques", 3508), ("s-isri-ocr", 3454), ("drawn", MarquesOptions().rows)]
)
def test_edge_pixels_compare_as_many_rows_as_the_authors(collection: str, rows: int) -> None:
    plain, wrapped = (
        enter(METHODS[name], collection, documents=1, executor=SERIAL) for name in ("marques", "marques-2020")
    )
    assert isinstance(plain, ScorerContestant)
    assert isinstance(wrapped, ScorerContestant)
    assert plain.scorer.options == MarquesOptions(wraps=False, rows=rows)  # type: ignore[union-attr]
    assert wrapped.scorer.options == MarquesOptions(wraps=True, rows=rows)  # type: ignore[union-attr]


def test_page_ends_are_weighed_for_one_document_alone() -> None:
    for documents, is_free in ((1, False), (2, True)):
        contestant = enter(METHODS["outline"], "drawn", documents=documents, executor=SERIAL)
        assert isinstance(contestant, ScorerContestant)
        assert (contestant.arrangement.pages, contestant.arrangement.free_ends) == (1, is_free)


def test_characters_enter_with_ten_alphabets_as_meant_and_as_run() -> None:
    for name, displacement in (("characters", 5), ("characters-2020", 10)):
        contestant = enter(METHODS[name], "s-cdip", documents=1, executor=SERIAL)
        assert isinstance(contestant, CharactersContestant)
        assert (contestant.options.displacement, contestant.options.clusterings) == (displacement, 10)


def test_networks_share_their_scores_and_tell_what_these_cost(tmp_path: Path) -> None:
    shreds = drawn_shreds(3)
    first, second = (
        enter(METHODS[name], "drawn", documents=1, executor=SERIAL, kept=tmp_path).solve(shreds)
        for name in ("pairwise-still", "pairwise-still-nn")
    )
    assert first.spared == 0.0
    assert second.spared is not None
    assert second.spared > 0.0
    assert any((tmp_path / "scores").rglob("*.npz"))
    assert enter(METHODS["default"], "drawn", documents=1, executor=SERIAL, kept=tmp_path).kept is None  # type: ignore[attr-defined]


@needs_tesseract
def test_words_tell_what_kept_readings_had_cost(tmp_path: Path) -> None:
    shreds = drawn_shreds(3)
    first, second = (
        enter(METHODS["words"], "drawn", documents=1, executor=SERIAL, kept=tmp_path).solve(shreds)
        for _ in range(2)
    )
    assert first.orders == second.orders
    assert first.spared is not None
    assert second.spared is not None
    assert second.spared > first.spared


@needs_tesseract
def test_words_are_read_in_english_and_what_was_read_is_kept(tmp_path: Path) -> None:
    contestant = enter(METHODS["words"], "s-cdip", documents=1, executor=SERIAL, kept=tmp_path)
    assert isinstance(contestant, WordsContestant)
    assert type(contestant.reader).__name__ == "KeepingReader"
    bare = enter(METHODS["words"], "s-cdip", documents=1, executor=SERIAL)
    assert isinstance(bare, WordsContestant)
    assert type(bare.reader).__name__ == "TesseractWords"
