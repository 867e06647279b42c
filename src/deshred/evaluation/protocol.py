"""A collection and a scorer in, an EvaluationResult out, by the published protocol.

Documents stand in a random sequence; the instances for k are all windows of k consecutive documents.
Paixão et al., "Self-supervised deep reconstruction of mixed strip-shredded text documents", Pattern
Recognition 107 (2020). Shreds are shuffled before each solving, so that no tie can leak their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np

from deshred.arrangement import ArrangementOptions, arrange
from deshred.compatibility.calibration import rate
from deshred.compatibility.margins import observe_borders
from deshred.compatibility.scoring import Scorer, cut_edges
from deshred.elements import Arrangement, Shred, ShredSet
from deshred.errors import InputError, SettingsError
from deshred.evaluation.blocks import EdgedDocument, ScoreBlocks, Window
from deshred.evaluation.collections import Collection, Document, read_document
from deshred.evaluation.metrics import (
    count_whole,
    measure_accuracy,
    measure_pages,
    measure_reliability,
)
from deshred.evaluation.results import EvaluationResult, InstanceResult, KResult
from deshred.executors import Executor, Progress, default_executor
from deshred.imaging.binarization import BlankOptions, is_blank
from deshred.imaging.scans import ScanOptions
from deshred.pipeline import ScorerCard, Stopwatch
from deshred.simulation.truth import Place, Truth

K = int | Literal["all"]


@dataclass(frozen=True)
class EvaluationOptions:
    """What is mixed and how it is solved: one path through all shreds, unless pages are asked for."""

    ks: tuple[K, ...] = (1, "all")
    seed: int = 0
    scans: ScanOptions = field(default_factory=ScanOptions)
    arrangement: ArrangementOptions = field(default_factory=lambda: ArrangementOptions(pages=1))

    def __post_init__(self) -> None:
        if not self.ks or len(set(self.ks)) != len(self.ks):
            raise SettingsError(f"k must name at least one number, each once, got {_show(self.ks)}.")
        for k in self.ks:
            if k != "all" and k < 1:
                raise SettingsError(f"k is the number of documents mixed, at least 1 or 'all', got {k}.")
        if self.seed < 0:
            raise SettingsError(f"the seed must not be negative, got {self.seed}.")


def parse_ks(text: str) -> tuple[K, ...]:
    """Read `1,5,all`."""
    parts = [part.strip() for part in text.split(",")]
    try:
        return tuple("all" if part == "all" else int(part) for part in parts)
    except ValueError:
        raise SettingsError(f"k is a list such as 1,5,all, got {text!r}.") from None


def evaluate(
    collection: Collection,
    scorer: Scorer,
    *,
    options: EvaluationOptions | None = None,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> EvaluationResult:
    """Measure a scorer on a collection; `cache` is a folder that lets a killed evaluation go on."""
    options = options or EvaluationOptions()
    windows = {k: list_windows(len(collection), k) for k in options.ks}
    sequence = np.random.default_rng(options.seed).permutation(len(collection)).tolist()
    documents = [collection.documents[i] for i in sequence]

    stopwatch = Stopwatch()
    reading = _Reading(scorer, options.scans, executor or default_executor(), stopwatch)
    pile = reading.read(documents, with_fingerprints=cache is not None, progress=progress)
    blocks = ScoreBlocks(pile.documents, scorer, folder=cache, stopwatch=stopwatch, progress=progress)
    blocks.score_all([window for some in windows.values() for window in some])

    solving = _Solving(scorer, pile, blocks, options, stopwatch)
    total = sum(map(len, windows.values()))
    results, done = [], 0
    for k, some in windows.items():
        solved = []
        for window in some:
            solved.append(solving.solve(window))
            done += 1
            if progress is not None:
                progress("arranging", done, total)
        results.append(_conclude(str(k), solved))
    return EvaluationResult(
        collection=collection.name,
        kinds={document.name: document.kind for document in documents},
        shreds=len(pile.truth.places),
        blank=sum(document.blank for document in pile.documents),
        accuracy=tuple(results),
        seconds=MappingProxyType(stopwatch.seconds),
        scorer=ScorerCard.of(scorer),
        settings=asdict(options),
    )


def list_windows(n_documents: int, k: K) -> list[Window]:
    """All windows of k consecutive documents."""
    size = n_documents if k == "all" else k
    if size > n_documents:
        raise SettingsError(f"k = {k} needs {k} documents, there are {n_documents}. Choose a smaller k.")
    return [Window(start, start + size) for start in range(n_documents - size + 1)]


@dataclass(frozen=True, eq=False)
class _KnownEdges:
    documents: tuple[EdgedDocument, ...]
    truth: Truth


@dataclass(frozen=True)
class _JudgedJoin:
    probability: float
    is_true: bool


@dataclass(frozen=True)
class _Solved:
    result: InstanceResult
    joins: tuple[_JudgedJoin, ...]  # those with a probability


@dataclass(frozen=True, eq=False)
class _Solving:
    """Everything that solving a window needs."""

    scorer: Scorer
    pile: _KnownEdges
    blocks: ScoreBlocks
    options: EvaluationOptions
    stopwatch: Stopwatch

    def solve(self, window: Window) -> _Solved:
        rng = np.random.default_rng([self.options.seed, window.start, window.stop])
        compatibility = self.blocks.assemble(window, rng.permutation(self.blocks.count_shreds(window)))
        with self.stopwatch.measure("solve"):
            arrangement = arrange(compatibility, options=self._options_for(window))
        return self._judge(rate(arrangement, compatibility, self.scorer.calibration), window)

    def _options_for(self, window: Window) -> ArrangementOptions:
        """A document is a page and has ends; a single path through several has none worth weighing."""
        options = self.options.arrangement
        is_path = options.pages == 1 and len(window) > 1
        return replace(options, free_ends=True) if is_path else options

    def _judge(self, arrangement: Arrangement, window: Window) -> _Solved:
        truth = self.pile.truth.restrict(arrangement.order)
        result = InstanceResult(
            documents=tuple(document.name for document in self.pile.documents[window.start : window.stop]),
            shreds=len(arrangement.order),
            accuracy=measure_accuracy(arrangement.order, truth),
            whole=count_whole(arrangement.order, truth),
            optimal=arrangement.is_optimal,
            gap=arrangement.gap,
            pages=None if self.options.arrangement.pages == 1 else measure_pages(arrangement, truth),
        )
        joins = tuple(
            _JudgedJoin(join.probability, (join.left, join.right) in truth.joins)
            for join in arrangement.joins
            if join.probability is not None
        )
        return _Solved(result, joins)


def _conclude(k: str, solved: Sequence[_Solved]) -> KResult:
    joins = [join for one in solved for join in one.joins]
    reliability = None
    if joins:
        reliability = measure_reliability(
            [join.probability for join in joins], [join.is_true for join in joins]
        )
    return KResult(k, tuple(one.result for one in solved), reliability)


@dataclass(frozen=True, eq=False)
class _Reading:
    """Everything that reading documents needs."""

    scorer: Scorer
    scans: ScanOptions
    executor: Executor
    stopwatch: Stopwatch

    def read(
        self, documents: Sequence[Document], *, with_fingerprints: bool, progress: Progress | None
    ) -> _KnownEdges:
        """One document after the other: only edges stay in memory, not pixels."""
        edged: list[EdgedDocument] = []
        places: dict[str, Place] = {}
        for done, document in enumerate(documents, 1):
            with self.stopwatch.measure("decode"):
                known = read_document(document, options=self.scans, executor=self.executor)
            with self.stopwatch.measure("blank"):
                blank = self.executor.map(_is_blank_as_published, known.shreds)
            inked = ShredSet([shred for shred, skip in zip(known.shreds, blank, strict=True) if not skip])
            _check_inked(inked, document)
            with self.stopwatch.measure("edges"):
                edges = cut_edges(inked, self.scorer, executor=self.executor)
            edged.append(
                EdgedDocument(
                    document.name,
                    inked.ids,
                    tuple(edges),
                    observe_borders(inked, edges),
                    blank=sum(blank),
                    fingerprint=inked.fingerprint if with_fingerprints else "",
                )
            )
            places |= known.truth.restrict(inked.ids).places
            if progress is not None:
                progress("reading", done, len(documents))
        return _KnownEdges(tuple(edged), Truth(places))


def _is_blank_as_published(shred: Shred) -> bool:
    return is_blank(shred, options=BlankOptions(rule="paper"))


def _check_inked(inked: ShredSet, document: Document) -> None:
    if len(inked) < 2:
        raise InputError(
            f"{document.folder}: has {len(inked)} shreds that are not blank; at least 2 make a document. "
            "Leave it out with --documents."
        )


def _show(ks: Sequence[K]) -> str:
    return ",".join(map(str, ks)) or "nothing"
