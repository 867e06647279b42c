"""Pieces in, evidence out: how well pairs fit by pixels and symbols, and which runs of pieces carry words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.classical.words.ocr import Sighting, WordReader
from deshred.compatibility.classical.words.pieces import JoinedPieces, Piece, compose_row, join_pieces
from deshred.errors import InputError, SettingsError
from deshred.executors import Executor, Progress, SerialExecutor

Floats = NDArray[np.float64]
Paths = dict[tuple[int, ...], int]  # runs of shreds, and the words over each

_PURE = 3.0  # the score of two edges that are pure white or pure black: nothing to read
_SURE_SYMBOL = 80.0
_SYMBOL_INSET, _WORD_INSET = 2, 3  # px taken off both ends of a box that must reach over a seam
_LEAST_LETTERS = 3
_REJECTIONS = 100  # in a row; then no further sequences are looked for
_LEAST_TOTAL = 3.0  # of words over a pair, to count


@dataclass(frozen=True)
class WordsOptions:
    """The values of the 2020 paper's run, but for the number of samples: 10,000 there, on 240 threads."""

    word_confidence: float = 60.0
    symbol_weight: float = 0.5  # lambda 0: against pixels
    word_weight: float = 0.7  # lambda 1: against the low-level score, when fragments are put together
    keenness: float = 1.0  # U_a: how much better successors are preferred
    filter_rate: float = 0.7  # share of successors that are not tried
    candidate_factor: int = 4  # a sequence holds one in so many shreds
    samples: int = 300  # sequences read; the authors' own default for 30 shreds
    time_limit: float | None = None  # seconds for reading sequences
    seed: int = 0

    def __post_init__(self) -> None:
        if self.samples < 0 or self.candidate_factor < 1 or self.seed < 0:
            raise SettingsError(
                "samples and seed must not be negative and candidate_factor at least 1, "
                f"got {self.samples}, {self.seed} and {self.candidate_factor}."
            )
        if not 0 <= self.filter_rate < 1:
            raise SettingsError(f"filter_rate must be at least 0 and below 1, got {self.filter_rate:g}.")


@dataclass(frozen=True, eq=False)
class WordEvidence:
    """What was read: pairs by themselves, and words over them in longer rows."""

    low: Floats  # (n, n): 0 to 1, or 3 where both edges are pure
    words: Floats  # (n, n): words times the length of their paths
    sequences: int  # that were read


def gather_evidence(
    pieces: Sequence[Piece],
    reader: WordReader,
    *,
    options: WordsOptions,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> WordEvidence:
    """Read all pairs, then sequences of the likelier ones until samples or time run out."""
    executor = executor or SerialExecutor()
    n = len(pieces)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    rate = partial(_rate_pair, pieces=pieces, reader=reader, options=options)
    low = np.zeros((n, n))
    found = executor.map(rate, pairs, stage="reading pairs", progress=progress)
    for pair, value in zip(pairs, found, strict=True):
        low[pair] = value.score
    if not any(value.symbols for value in found):
        _demand_text(pieces, reader)
    sequences = sample_sequences(find_moves(low, options), n, np.random.default_rng(options.seed), options)
    read = partial(find_paths, pieces=pieces, reader=reader, options=options)
    paths = _until(
        executor.stream(read, sequences),
        None if options.time_limit is None else time.monotonic() + options.time_limit,
        lambda done: progress("reading sequences", done, len(sequences)) if progress else None,
    )
    return WordEvidence(low, _add_up(paths, n), len(paths))


def _demand_text(pieces: Sequence[Piece], reader: WordReader) -> None:
    """Pairs with pure edges are never read, so a page of a few lines may have text all the same."""
    if not any(reader.read(piece.image).symbols for piece in pieces):
        raise InputError(
            f"nothing could be read on any of {len(pieces)} shreds; the scorer words needs printed text. "
            "Use another scorer, such as --scorer default, or the right language."
        )


@dataclass(frozen=True)
class _RatedPair:
    score: float
    symbols: int


def _rate_pair(
    pair: tuple[int, int], pieces: Sequence[Piece], reader: WordReader, options: WordsOptions
) -> _RatedPair:
    left, right = (pieces[i] for i in pair)
    joined = join_pieces(left, right)
    pixels = compare_pixels(left, right, joined)
    if pixels > 1:
        return _RatedPair(pixels, 0)
    symbols = reader.read(joined.piece.image).symbols
    sure = [symbol for symbol in symbols if symbol.confidence >= _SURE_SYMBOL]
    across = sum(symbol.confidence for symbol in sure if _reaches(symbol, joined.seam, _SYMBOL_INSET))
    weight = options.symbol_weight
    return _RatedPair(weight * (1 - np.exp(-across / 200)) + (1 - weight) * pixels, len(symbols))


def compare_pixels(left: Piece, right: Piece, joined: JoinedPieces) -> float:
    """How alike the two columns are that meet; 3 where both are pure."""
    last = left.image[:, np.clip(joined.seam, 0, left.image.shape[1] - 1)].astype(np.float64)
    first = right.image[:, np.clip(joined.entry, 0, right.image.shape[1] - 1)].astype(np.float64)
    if abs(_purity(last) + _purity(first)) >= 1:
        return _PURE
    distance = np.sqrt(((last - first) ** 2).sum(axis=1)).mean()
    return float(np.exp(-max(0.0, distance / 20 - 1.5)))


def _purity(column: Floats) -> int:
    gray = column.mean()
    return -1 if gray < 3 else 1 if gray > 253 else 0


def _reaches(sighting: Sighting, seam: int, inset: int) -> bool:
    return sighting.left + inset < seam < sighting.right - inset


@dataclass(frozen=True)
class Move:
    """A successor, and how likely it is taken when it comes up."""

    to: int
    chance: float


def find_moves(low: Floats, options: WordsOptions) -> list[list[Move]]:
    """The better successors of every shred, best first."""
    n = len(low)
    mutual = _normalize(low) + _normalize(low.T).T
    keep = min(int(n * (1 - options.filter_rate)), n - 1)
    moves: list[list[Move]] = []
    for i in range(n):
        order = [j for j in np.argsort(-mutual[i], kind="stable").tolist() if j != i]
        at = min(keep, len(order) - 1)
        while at > 0 and mutual[i, order[at]] <= 1e-8:
            at -= 1
        worst = mutual[i, order[at]]
        if worst <= 1e-8:
            moves.append([])
            continue
        keen = options.keenness * (mutual[i, order[:keep]] / worst - 1)
        moves.append([Move(j, float(np.tanh(a / 2))) for j, a in zip(order[:keep], keen, strict=True)])
    return moves


def _normalize(scores: Floats) -> Floats:
    """Each row from 0 to 1; pure edges and the diagonal are left out and get 0.

    So the authors do it for shreds put edge to edge. Taken along, as they do elsewhere, the 3 of a few pure
    edges would leave nothing to tell all others apart.
    """
    counts = (scores <= 1) & ~np.eye(len(scores), dtype=bool)
    least = np.where(counts, scores, np.inf).min(axis=1, keepdims=True)
    most = np.where(counts, scores, -np.inf).max(axis=1, keepdims=True)
    span = np.where(counts.any(axis=1, keepdims=True), most - least, 0.0)
    is_usable = counts & (span >= 1e-8)
    normal: Floats = np.zeros_like(scores)
    np.divide(scores - least, span, out=normal, where=is_usable)
    return normal


def sample_sequences(
    moves: Sequence[Sequence[Move]], n: int, rng: np.random.Generator, options: WordsOptions
) -> list[tuple[int, ...]]:
    """Random walks along the moves, each once, none shorter than half the length wanted."""
    length = max(2, n // options.candidate_factor)
    found: dict[tuple[int, ...], None] = {}
    rejections = 0
    while len(found) < options.samples and rejections < _REJECTIONS:
        walk = _walk(moves, int(rng.integers(n)), length, rng)
        if len(walk) > length // 2 and len(walk) > 1 and walk not in found:
            found[walk] = None
            rejections = 0
        else:
            rejections += 1
    return list(found)


def _walk(
    moves: Sequence[Sequence[Move]], start: int, length: int, rng: np.random.Generator
) -> tuple[int, ...]:
    walk = [start]
    while len(walk) < length:
        free = (move for move in moves[walk[-1]] if move.to not in walk)
        step = next((move.to for move in free if rng.random() < move.chance), None)
        if step is None:
            break
        walk.append(step)
    return tuple(walk)


def count_words(words: Sequence[Sighting], options: WordsOptions) -> list[Sighting]:
    """The words that count: sure enough, long enough, and in the dictionary."""
    return [
        word
        for word in words
        if word.confidence >= options.word_confidence
        and len(word.text.encode()) >= _LEAST_LETTERS
        and word.is_known
    ]


def find_paths(
    sequence: tuple[int, ...], pieces: Sequence[Piece], reader: WordReader, options: WordsOptions
) -> Paths:
    """Which runs of shreds carry how many words."""
    row = compose_row([pieces[i] for i in sequence])
    starts = np.array(row.starts)
    paths: Paths = {}
    for word in count_words(reader.read(row.piece.image).words, options):
        first = int(np.searchsorted(starts, word.left, side="right")) - 1
        stop = int(np.searchsorted(starts, word.right, side="left"))
        if stop - first >= 2:
            path = sequence[first:stop]
            paths[path] = paths.get(path, 0) + 1
    return paths


def _until(results: Iterable[Paths], deadline: float | None, report: Callable[[int], None]) -> list[Paths]:
    """Results as long as there is time."""
    kept: list[Paths] = []
    for result in results:
        kept.append(result)
        report(len(kept))
        if deadline is not None and time.monotonic() > deadline:
            break
    return kept


def _add_up(sequences: Sequence[Paths], n: int) -> Floats:
    """Words times length of path, for every pair along it; the first sequence that has a path counts."""
    words = np.zeros((n, n))
    seen: set[tuple[int, ...]] = set()
    for paths in sequences:
        for path, count in paths.items():
            if path not in seen:
                seen.add(path)
                words[path[:-1], path[1:]] += count * len(path)
    return words


def known_pairs(words: Floats) -> list[tuple[int, int]]:
    """Pairs with enough words over them, most first."""
    rows, columns = np.nonzero(words > _LEAST_TOTAL)
    order = np.argsort(-words[rows, columns], kind="stable")
    return [(int(rows[k]), int(columns[k])) for k in order]


def read_across(left: Piece, right: Piece, reader: WordReader, options: WordsOptions) -> float:
    """The sum of confidences of words over the seam of two pieces."""
    joined = join_pieces(left, right)
    words = count_words(reader.read(joined.piece.image).words, options)
    return sum(word.confidence for word in words if _reaches(word, joined.seam, _WORD_INSET))
