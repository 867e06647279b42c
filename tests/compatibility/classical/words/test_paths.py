from itertools import pairwise

import numpy as np
import pytest

from deshred.compatibility.classical.words import (
    Piece,
    Sighting,
    Sightings,
    WordsOptions,
    compose_words,
    gather_evidence,
)
from deshred.compatibility.classical.words.paths import (
    Move,
    count_words,
    find_moves,
    find_paths,
    sample_sequences,
)
from deshred.errors import InputError, SettingsError

ROWS, WIDTH, LINES = 400, 30, 12
BAR, PAPER = 20, 240


class BarReader:
    """Reads bars of one tone as words: those that are whole stand in its dictionary."""

    fingerprint = "bars"

    def read(self, image: np.ndarray) -> Sightings:
        found = []
        for line in range(LINES):
            tones = image[30 + 30 * line, :, 0].astype(int)
            turns = np.flatnonzero(np.diff(tones, prepend=-1, append=-1))
            bars = [(int(a), int(b)) for a, b in pairwise(turns) if tones[a] < PAPER]
            found += [Sighting("word", a, b, 90.0, b - a == BAR) for a, b in bars]
        return Sightings(tuple(found), tuple(found))


def draw_page(rng: np.random.Generator, shreds: int) -> np.ndarray:
    """Bars everywhere, so that every cut goes through some of them, no two of the same tone side by side."""
    page = np.full((ROWS, WIDTH * shreds, 3), PAPER, np.uint8)
    for line in range(LINES):
        at = int(rng.integers(2, 12))
        while at + BAR < page.shape[1]:
            page[24 + 30 * line : 37 + 30 * line, at : at + BAR] = rng.integers(0, 200)
            at += BAR + int(rng.integers(6, 14))
    return page


def cut(page: np.ndarray) -> list[Piece]:
    count = page.shape[1] // WIDTH
    return [Piece(part, np.ones(part.shape[:2], bool)) for part in np.split(page, count, axis=1)]


def test_a_page_of_words_is_put_together() -> None:
    pieces = cut(draw_page(np.random.default_rng(0), 8))
    order = np.random.default_rng(1).permutation(8)
    shuffled = [pieces[i] for i in order]
    options = WordsOptions(samples=60, candidate_factor=2, filter_rate=0.3)
    evidence = gather_evidence(shuffled, BarReader(), options=options)
    assert evidence.sequences > 0
    found = compose_words(shuffled, evidence, BarReader(), options=options)
    assert order[list(found)].tolist() == list(range(8))


def test_the_same_seed_gives_the_same_evidence() -> None:
    pieces = cut(draw_page(np.random.default_rng(3), 6))
    options = WordsOptions(samples=10, candidate_factor=2, filter_rate=0.3, seed=5)
    one, other = (gather_evidence(pieces, BarReader(), options=options) for _ in range(2))
    np.testing.assert_array_equal(one.words, other.words)


def test_reading_ends_when_time_is_up() -> None:
    pieces = cut(draw_page(np.random.default_rng(3), 6))
    options = WordsOptions(samples=50, candidate_factor=2, filter_rate=0.3, time_limit=1e-9)
    assert gather_evidence(pieces, BarReader(), options=options).sequences == 1


def test_moves_equal_a_plain_computation() -> None:
    rng = np.random.default_rng(2)
    low = rng.random((6, 6))
    options = WordsOptions(filter_rate=0.5, keenness=1.5)
    moves = find_moves(low, options)
    for i in range(6):
        mutual = {}
        for j in set(range(6)) - {i}:
            row = [low[i, k] for k in range(6) if k != i]
            column = [low[k, j] for k in range(6) if k != j]
            mutual[j] = (low[i, j] - min(row)) / (max(row) - min(row))
            mutual[j] += (low[i, j] - min(column)) / (max(column) - min(column))
        order = sorted(mutual, key=lambda j: -mutual[j])
        worst = mutual[order[3]]
        for move, j in zip(moves[i], order[:3], strict=True):
            a = 1.5 * (mutual[j] / worst - 1)
            assert move.to == j
            assert move.chance == pytest.approx((np.exp(a) - 1) / (np.exp(a) + 1))


def test_pure_edges_are_nobodys_neighbors() -> None:
    low = np.random.default_rng(2).random((6, 6))
    plain = find_moves(low, WordsOptions(filter_rate=0.5))
    low[:, 5] = low[5, :] = 3.0
    moves = find_moves(low, WordsOptions(filter_rate=0.5))
    assert moves[5] == []
    assert all(move.to != 5 or move.chance <= 0 for some in moves for move in some)
    assert [len(some) for some in plain] == [3] * 6


def test_sequences_are_new_long_enough_and_visit_nobody_twice() -> None:
    moves = [[Move(j, 0.8) for j in range(8) if j != i] for i in range(8)]
    found = sample_sequences(moves, 8, np.random.default_rng(0), WordsOptions(samples=40, candidate_factor=2))
    assert len(found) == len(set(found)) == 40
    assert all(2 < len(walk) <= 4 and len(set(walk)) == len(walk) for walk in found)


def test_nobody_to_go_to_ends_the_search() -> None:
    assert sample_sequences([[], []], 2, np.random.default_rng(0), WordsOptions()) == []


def test_words_must_be_sure_long_and_known() -> None:
    words = [
        Sighting("word", 0, 9, 90, True),
        Sighting("word", 0, 9, 59, True),
        Sighting("no", 0, 9, 90, True),
        Sighting("wrod", 0, 9, 90, False),
    ]
    assert count_words(words, WordsOptions()) == words[:1]


def test_shreds_without_text_are_refused_clearly() -> None:
    page = np.full((ROWS, 3 * WIDTH, 3), PAPER, np.uint8)
    with pytest.raises(InputError, match="printed text"):
        gather_evidence(cut(page), BarReader(), options=WordsOptions())


def test_text_between_pure_edges_is_text_all_the_same() -> None:
    page = np.full((ROWS, 3 * WIDTH, 3), 255, np.uint8)
    page[24:37, 5 : 5 + BAR] = 0  # inside the first shred; no edge has ink
    evidence = gather_evidence(cut(page), BarReader(), options=WordsOptions())
    assert evidence.sequences == 0
    assert np.all(evidence.low[~np.eye(3, dtype=bool)] == 3.0)


def test_words_over_runs_of_shreds_equal_a_plain_count() -> None:
    pieces = cut(draw_page(np.random.default_rng(4), 5))
    found = find_paths((0, 1, 2, 3, 4), pieces, BarReader(), WordsOptions())
    page = np.concatenate([piece.image for piece in pieces], axis=1)
    starts = [0, *(WIDTH * i - 1 for i in range(1, 5)), 5 * WIDTH]  # a seam is the last column before it
    plain: dict[tuple[int, ...], int] = {}
    for word in BarReader().read(page).words:
        under = tuple(i for i in range(5) if word.left < starts[i + 1] and word.right > starts[i])
        if word.is_known and len(under) > 1:
            plain[under] = plain.get(under, 0) + 1
    assert plain
    assert found == plain


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SettingsError, match="filter_rate"):
        WordsOptions(filter_rate=1.0)
    with pytest.raises(SettingsError, match="samples"):
        WordsOptions(samples=-1)
