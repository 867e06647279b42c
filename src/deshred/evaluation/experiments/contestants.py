"""A pile in, an answer out, with seconds per stage: every method of a comparison behind one face.

No contestant sees the truth. A method that draws lots gives several orders; which of them counts, the mean or
the best, is for the judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from deshred.arrangement import ArrangementOptions, arrange
from deshred.compatibility.classical.characters import CharactersOptions, read_shapes, score_clusterings
from deshred.compatibility.classical.marques import MarquesOptions, MarquesScorer
from deshred.compatibility.classical.words import (
    KeepingReader,
    TesseractWords,
    WordReader,
    WordsOptions,
    compose_words,
    cut_pieces,
    gather_evidence,
)
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.scoring import score
from deshred.elements import Compatibility, ShredSet
from deshred.evaluation.experiments.instances import PAPER_RULE
from deshred.evaluation.experiments.methods import Method
from deshred.evaluation.protocol import open_scores
from deshred.executors import Executor
from deshred.imaging.preparation import prepare
from deshred.timing import Stopwatch

Floats = NDArray[np.float64]

_CLUSTERINGS = 10
_LEAST_ROWS = {
    "s-marques": 3508,
    "s-isri-ocr": 3454,
}  # of the shortest shred: so many rows the authors compare


@dataclass(frozen=True)
class Answer:
    """One order, or one for every time that lots were drawn."""

    orders: tuple[tuple[str, ...], ...]
    seconds: Mapping[str, float]
    is_optimal: bool | None = None
    spared: float | None = 0.0  # processor seconds that kept scores had cost; None: nobody knows


class Contestant(Protocol):
    """A method, ready to run."""

    def solve(self, shreds: ShredSet) -> Answer:
        """Put the shreds in order; they come shuffled."""


@dataclass(frozen=True)
class ScorerContestant:
    """Any scorer of edges with a solver of orders; a pile of one page may weigh its ends."""

    scorer: AnyScorer
    arrangement: ArrangementOptions
    executor: Executor
    kept: Path | None = None  # where scores that take long are shared by all that need them

    def solve(self, shreds: ShredSet) -> Answer:
        stopwatch = Stopwatch()
        with stopwatch.measure("prepare"):
            pile = prepare(shreds, blank=PAPER_RULE, edges=self.scorer.edge_options, executor=self.executor)
        store = None if self.kept is None else open_scores(self.kept)
        compatibility = score(pile, self.scorer, store=store, executor=self.executor, stopwatch=stopwatch)
        with stopwatch.measure("solve"):
            answer = arrange(compatibility, options=self.arrangement)
        spared = 0.0 if store is None else store.spared
        return Answer((answer.order,), stopwatch.seconds, answer.is_optimal, spared)


@dataclass(frozen=True)
class CharactersContestant:
    """Character shapes: ten alphabets, an exact order for each."""

    options: CharactersOptions
    executor: Executor

    def solve(self, shreds: ShredSet) -> Answer:
        stopwatch = Stopwatch()
        with stopwatch.measure("score"):
            read = partial(read_shapes, displacement=self.options.displacement)
            texts = self.executor.map(read, list(shreds))
            found = score_clusterings(texts, options=self.options, executor=self.executor)
        rng = np.random.default_rng(self.options.seed)
        with stopwatch.measure("solve"):
            orders = tuple(_solve_shuffled(scores, shreds.ids, rng) for scores in found)
        return Answer(orders, stopwatch.seconds)


def _solve_shuffled(scores: Floats, ids: Sequence[str], rng: np.random.Generator) -> tuple[str, ...]:
    """One of the best orders: there are many, since scores are multiples of 0.2.

    The authors' solver has no seed, so ties fall differently each time; here a shuffle sees to that.
    """
    shuffled = rng.permutation(len(ids))
    moved = scores[np.ix_(shuffled, shuffled)].astype(np.float32)
    np.fill_diagonal(moved, -np.inf)
    pile = Compatibility(tuple(ids[i] for i in shuffled), moved, np.zeros(moved.shape, np.int16))
    return arrange(pile, options=ArrangementOptions(pages=1, free_ends=True)).order


@dataclass(frozen=True)
class WordsContestant:
    """Word paths, put together by greedy composition."""

    reader: WordReader
    options: WordsOptions
    executor: Executor

    def solve(self, shreds: ShredSet) -> Answer:
        stopwatch = Stopwatch()
        before = self._count_spared()
        pieces = cut_pieces(shreds)
        with stopwatch.measure("score"):
            evidence = gather_evidence(pieces, self.reader, options=self.options, executor=self.executor)
        with stopwatch.measure("solve"):
            order = compose_words(pieces, evidence, self.reader, options=self.options, executor=self.executor)
        spared = self._count_spared() - before
        return Answer((tuple(shreds.ids[i] for i in order),), stopwatch.seconds, spared=spared)

    def _count_spared(self) -> float:
        return self.reader.spared if isinstance(self.reader, KeepingReader) else 0.0


def enter(
    method: Method,
    collection: str,
    *,
    documents: int,
    executor: Executor,
    threads: int = 0,
    kept: Path | None = None,
) -> Contestant:
    """The contestant of a method, for piles of so many documents; `kept` is a folder for what takes long."""
    if method.scorer == "characters":
        displacement = 10 if method.name == "characters-2020" else 5
        options = CharactersOptions(displacement=displacement, clusterings=_CLUSTERINGS)
        return CharactersContestant(options, executor)
    if method.scorer == "words":
        return _enter_words(collection, executor, kept)
    arrangement = method.arrangement
    if documents > 1:  # a single path through several documents has no ends worth weighing
        arrangement = replace(arrangement, free_ends=True)
    scorer = _load(method, collection, threads)
    scores = kept / "scores" if kept is not None and method.scorer == "pairwise" else None
    return ScorerContestant(scorer, arrangement, executor, scores)


def _load(method: Method, collection: str, threads: int) -> AnyScorer:
    if method.scorer == "marques":
        rows = _LEAST_ROWS.get(collection, MarquesOptions().rows)
        return MarquesScorer(MarquesOptions(wraps=method.name == "marques-2020", rows=rows))
    return method.load(collection, threads=threads)


def _enter_words(collection: str, executor: Executor, kept: Path | None) -> Contestant:
    """Portuguese for S-Marques; the newer engine, since system packages have no data for the legacy one."""
    reader: WordReader = TesseractWords("por" if collection == "s-marques" else "eng")
    if kept is not None:
        reader = KeepingReader(reader, kept / "readings")
    return WordsContestant(reader, WordsOptions(), executor)
