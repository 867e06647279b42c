"""A collection and a scorer in, an EvaluationResult out, by the published protocol.

Documents stand in a random sequence; the instances for k are all windows of k consecutive documents.
Paixão et al., "Self-supervised deep reconstruction of mixed strip-shredded text documents", Pattern
Recognition 107 (2020). Shreds are shuffled before each solving, so that no tie can leak their order. A window
goes the way of every pile: prepare, score, arrange, and its joins are rated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np

from deshred.arrangement import ArrangementOptions, arrange
from deshred.cases import Folder, FolderStore, MemoryStore, PricedStore, Store
from deshred.compatibility.calibration import rate
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.scoring import score
from deshred.elements import Arrangement, Compatibility, Pile, join_piles
from deshred.errors import InputError, SettingsError
from deshred.evaluation.collections import Collection, Document, read_document
from deshred.evaluation.metrics import count_whole, measure_accuracy, measure_pages, measure_reliability
from deshred.evaluation.results import EvaluationResult, InstanceResult, KResult
from deshred.executors import Executor, KeepingExecutor, Progress, default_executor
from deshred.imaging.binarization import BlankOptions
from deshred.imaging.preparation import prepare
from deshred.imaging.scans import ScanOptions
from deshred.options import option
from deshred.shelf import Shelf
from deshred.simulation.truth import Place, Truth
from deshred.timing import Stopwatch

K = int | Literal["all"]


@dataclass(frozen=True)
class EvaluationOptions:
    """What is mixed and how it is solved: one path through all shreds, unless pages are asked for."""

    ks: tuple[K, ...] = option(
        (1, "all"),
        "How many documents are mixed.",
        flag="--k",
        metavar="1,5,all",
        parse=lambda text: parse_ks(text),
    )
    seed: int = option(0, "Seed for the sequence of documents.")
    scans: ScanOptions = field(default_factory=ScanOptions)
    blank: BlankOptions = field(default_factory=lambda: BlankOptions(rule="paper"))
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
        raise SettingsError(f"k must be a list such as 1,5,all, got {text!r}.") from None


@dataclass(frozen=True)
class Window:
    """Consecutive documents, `start` to `stop` - 1, of the sequence."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


def list_windows(n_documents: int, k: K) -> list[Window]:
    """All windows of k consecutive documents."""
    size = n_documents if k == "all" else k
    if size > n_documents:
        raise SettingsError(f"k = {k} needs {k} documents, there are {n_documents}. Choose a smaller k.")
    return [Window(start, start + size) for start in range(n_documents - size + 1)]


@dataclass(frozen=True, eq=False)
class KnownDocument:
    """A document ready to be scored, and where its shreds belong."""

    name: str
    pile: Pile
    truth: Truth


def evaluate(
    collection: Collection,
    scorer: AnyScorer,
    *,
    options: EvaluationOptions | None = None,
    cache: Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    report: Callable[[KResult], None] | None = None,
) -> EvaluationResult:
    """Measure a scorer on a collection; `cache` is a folder that lets a killed evaluation continue.

    `report` is told the result of each k as soon as it is there.
    """
    options = options or EvaluationOptions()
    executor = executor or default_executor()
    windows = {k: list_windows(len(collection), k) for k in options.ks}
    sequence = np.random.default_rng(options.seed).permutation(len(collection)).tolist()
    documents = [collection.documents[i] for i in sequence]
    watch = Stopwatch()
    keeping = KeepingExecutor(executor, Shelf().keep)  # pixels are not needed any more, but stay with shreds
    known = prepare_documents(
        documents, scorer, options=options, executor=keeping, progress=progress, stopwatch=watch
    )
    store: Store = MemoryStore() if cache is None else open_scores(cache)
    solving = _Solving(scorer, known, options, store, executor, watch)
    for done, document in enumerate(known, 1):  # one group each: every window is made of them
        solving.score([document])
        if progress is not None:
            progress("scoring", done, len(known))
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
        if report is not None:
            report(results[-1])
    return EvaluationResult(
        collection=collection.name,
        kinds={document.name: document.kind for document in documents},
        shreds=sum(len(one.pile) for one in known),
        blank=sum(len(one.pile.blank) for one in known),
        accuracy=tuple(results),
        seconds=MappingProxyType(watch.seconds),
        scorer=scorer.card,
        settings=asdict(options),
    )


def open_scores(folder: Path) -> PricedStore:
    """Scores that outlive a run; each knows what it cost, so who finds them can be timed all the same."""
    return PricedStore(FolderStore(Folder(folder), "scores"))


def prepare_documents(
    documents: Sequence[Document],
    scorer: AnyScorer,
    *,
    options: EvaluationOptions,
    executor: Executor,
    progress: Progress | None = None,
    stopwatch: Stopwatch | None = None,
) -> list[KnownDocument]:
    """Read documents one after the other."""
    watch = stopwatch or Stopwatch()
    known = []
    for done, document in enumerate(documents, 1):
        with watch.measure("decode"):
            read = read_document(document, options=options.scans, executor=executor)
        with watch.measure("prepare"):
            try:
                pile = prepare(read.shreds, blank=options.blank, edges=scorer.edge_options, executor=executor)
            except InputError as error:
                raise InputError(f"{document.folder}: {error} Leave it out with --documents.") from None
        known.append(KnownDocument(document.name, pile, read.truth.restrict(pile.shreds.ids)))
        if progress is not None:
            progress("reading", done, len(documents))
    return known


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

    scorer: AnyScorer
    documents: Sequence[KnownDocument]
    options: EvaluationOptions
    store: Store
    executor: Executor
    stopwatch: Stopwatch

    def score(self, documents: Sequence[KnownDocument], order: Sequence[int] | None = None) -> Compatibility:
        """Score documents as one pile, in the given order of its shreds."""
        pile = join_piles([document.pile for document in documents])
        if order is not None:
            pile = pile.take(order)
        return score(pile, self.scorer, store=self.store, executor=self.executor, stopwatch=self.stopwatch)

    def solve(self, window: Window) -> _Solved:
        documents = self.documents[window.start : window.stop]
        rng = np.random.default_rng([self.options.seed, window.start, window.stop])
        order = rng.permutation(sum(len(document.pile) for document in documents)).tolist()
        compatibility = self.score(documents, order)
        with self.stopwatch.measure("solve"):
            arrangement = arrange(compatibility, options=self._options_for(window))
        return self._judge(rate(arrangement, compatibility), documents)

    def _options_for(self, window: Window) -> ArrangementOptions:
        """A document is a page and has ends; a single path through several has none worth weighing."""
        options = self.options.arrangement
        is_path = options.pages == 1 and len(window) > 1
        return replace(options, free_ends=True) if is_path else options

    def _judge(self, arrangement: Arrangement, documents: Sequence[KnownDocument]) -> _Solved:
        places: dict[str, Place] = {}
        for document in documents:
            places |= document.truth.places
        truth = Truth(places)
        result = InstanceResult(
            documents=tuple(document.name for document in documents),
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


def _show(ks: Sequence[K]) -> str:
    return ",".join(map(str, ks)) or "nothing"
