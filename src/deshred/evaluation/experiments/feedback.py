"""A person in the loop: some joins are asked about, answers become constraints, the pile is solved again.

All documents of a collection are mixed. The protocol is that of Pattern Recognition Letters 164 (2022): the
person says whether a join of the present order is right, and the end of one document before the start of
another is right too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from deshred.arrangement import ArrangementOptions, arrange
from deshred.cases import Folder, FolderStore
from deshred.compatibility.calibration import rate
from deshred.compatibility.scoring import score
from deshred.elements import Arrangement, Compatibility, Constraints, join_piles
from deshred.errors import InfeasibleError, SettingsError
from deshred.evaluation.collections import Collection
from deshred.evaluation.experiments.instances import ExperimentOptions, open_documents
from deshred.evaluation.experiments.methods import METHODS, find_methods
from deshred.evaluation.experiments.page import Outcome, write_outcome
from deshred.evaluation.experiments.plots import import_pyplot, plot_feedback
from deshred.evaluation.experiments.raw import Entry, RawResults
from deshred.evaluation.experiments.strategies import STRATEGIES, Question, believe
from deshred.evaluation.experiments.tables import take_largest
from deshred.evaluation.protocol import EvaluationOptions, prepare_documents
from deshred.executors import Progress, default_executor
from deshred.options import option
from deshred.simulation.truth import Place, Truth

_PATH = ArrangementOptions(pages=1, free_ends=True, time_limit=120.0)


@dataclass(frozen=True, kw_only=True)
class FeedbackOptions(ExperimentOptions):
    """Who scores, who picks the questions, how many in how many rounds, and how often people err."""

    methods: tuple[str, ...] = option(("default", "towers"), "What is measured.", metavar="NAME,...")
    strategies: tuple[str, ...] = option(
        tuple(STRATEGIES), "Which joins are asked about.", metavar="NAME,..."
    )
    loads: tuple[float, ...] = option(
        (0.1, 0.15, 0.2, 0.25), "Shares of the joins that are asked about.", metavar="SHARE,..."
    )
    rounds: tuple[int, ...] = option((1, 2, 3), "How many rounds of questions.", metavar="N,...")
    errors: tuple[float, ...] = option((0.0, 0.05), "Shares of wrong answers.", metavar="SHARE,...")
    seeds: tuple[int, ...] = option(
        (0, 1, 2), "Seeds for wrong answers and random questions.", metavar="N,..."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [name for name in self.strategies if name not in STRATEGIES]
        if unknown:
            raise SettingsError(
                f"there is no strategy {', '.join(unknown)}. Choose among {', '.join(STRATEGIES)}."
            )
        find_methods(self.methods)
        if any(METHODS[name].scorer in ("characters", "words") for name in self.methods):
            raise SettingsError("feedback is measured with scorers of edges; leave out characters and words.")
        if not all(0 < load <= 1 for load in self.loads) or not all(0 <= e < 1 for e in self.errors):
            raise SettingsError(
                f"loads and errors must be shares from 0 to 1, got {self.loads} and {self.errors}."
            )
        if any(r < 1 for r in self.rounds):
            raise SettingsError(f"rounds must be at least 1, got {self.rounds}.")


def feedback(
    collections: Sequence[Path],
    out: Path,
    *,
    options: FeedbackOptions | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run what `out` does not hold yet, and write tables, plots and the page of all it holds."""
    options = options or FeedbackOptions()
    import_pyplot()  # hours of work should not end without it
    raw = RawResults(out, "feedback", again=options.again)
    for folder in collections:
        collection = open_documents(folder, 0, options.documents)
        for name in options.methods:
            _measure(collection, name, raw, out, options, progress)
    return show_feedback(raw, out)


def show_feedback(raw: RawResults, out: Path) -> Outcome:
    """Tables, plots and the page."""
    plot_feedback(take_largest(raw), out / "feedback.png")
    return write_outcome(raw)


@dataclass(frozen=True)
class _Trial:
    """One way to ask."""

    strategy: str
    load: float
    rounds: int
    error: float
    seed: int

    def __str__(self) -> str:
        return (
            f"{self.strategy} load={self.load:g} rounds={self.rounds} error={self.error:g} seed={self.seed}"
        )


def _measure(
    collection: Collection,
    name: str,
    raw: RawResults,
    out: Path,
    options: FeedbackOptions,
    progress: Progress | None,
) -> None:
    trials = [
        _Trial(strategy, load, rounds, error, seed)
        for strategy in options.strategies
        for load in options.loads
        for rounds in options.rounds
        for error in options.errors
        for seed in (options.seeds if error or strategy == "random" else options.seeds[:1])
    ]
    prefix = f"{collection.name} ({len(collection)}) {name}"
    model = METHODS[name].find_sha256(collection.name)
    missing = [trial for trial in trials if not raw.has(f"{prefix} {trial}", model=model)]
    if not missing:
        return
    loop = _Loop.prepare(collection, name, out, options)
    for done, trial in enumerate(missing, 1):
        entry = {
            "collection": collection.name,
            "documents": len(collection),
            "method": name,
            **loop.run(trial),
        }
        raw.keep(f"{prefix} {trial}", entry, model=model)
        if progress is not None:
            progress(prefix, done, len(missing))


@dataclass(frozen=True, eq=False)
class _Loop:
    """A mixed pile, its first order, and the truth that the simulated person knows."""

    compatibility: Compatibility
    truth: Truth
    start: Arrangement

    @staticmethod
    def prepare(collection: Collection, name: str, out: Path, options: FeedbackOptions) -> _Loop:
        scorer = METHODS[name].load(collection.name, threads=options.jobs or 0)
        executor = default_executor(options.jobs)
        known = prepare_documents(
            collection.documents, scorer, options=EvaluationOptions(), executor=executor
        )
        pile = join_piles([document.pile for document in known])
        order = np.random.default_rng(0).permutation(len(pile)).tolist()
        shuffled = pile.take(order)
        compatibility = score(
            shuffled, scorer, store=FolderStore(Folder(out / "scores"), "scores"), executor=executor
        )
        places: dict[str, Place] = {}
        for document in known:
            places |= document.truth.places
        return _Loop(compatibility, Truth(places), _solve(compatibility, Constraints()))

    def run(self, trial: _Trial) -> Entry:
        """Ask, solve again, and count what is left wrong."""
        rng = np.random.default_rng([trial.seed, round(1000 * trial.load), trial.rounds])
        answers: dict[tuple[int, int], bool] = {}
        present, asked, found = self.start, 0, 0
        count = int(trial.load * (len(self.compatibility) - 1) / trial.rounds)
        for _ in range(trial.rounds):
            question = self._pose(present, answers, rng)
            chosen = STRATEGIES[trial.strategy](question)[:count]
            pairs = [(int(i), int(j)) for i, j in question.pairs[chosen]]
            said = {pair: self._is_right(pair) for pair in pairs}
            asked, found = asked + len(said), found + sum(not right for right in said.values())
            said = {pair: right ^ bool(rng.random() < trial.error) for pair, right in said.items()}
            try:
                # the best order stays the best when all of it is confirmed; ties must not move it
                if not (present.is_optimal and all(said.values())):
                    present = _solve(self.compatibility, self._constrain(answers | said))
                answers |= said
            except InfeasibleError:
                pass  # answers that contradict each other: those of the round are dropped, as published
        joins = len(self.compatibility) - 1
        return {
            "strategy": trial.strategy,
            "load": trial.load,
            "rounds": trial.rounds,
            "error": trial.error,
            "seed": trial.seed,
            "joins": joins,
            "asked": asked,
            "found": found,  # mistakes among the joins asked
            "before": self._accuracy(self.start),
            "after": self._accuracy(present),
            "wrong_before": round(joins * (1 - self._accuracy(self.start))),
            "wrong_after": round(joins * (1 - self._accuracy(present))),
        }

    def _pose(
        self, present: Arrangement, answers: dict[tuple[int, int], bool], rng: np.random.Generator
    ) -> Question:
        ids = {shred_id: i for i, shred_id in enumerate(self.compatibility.ids)}
        pairs = np.array([[ids[a], ids[b]] for a, b in pairwise(present.order)], np.int64)
        scores = self.compatibility.scores.astype(np.float64)
        finite = np.isfinite(scores)
        costs = np.where(finite, scores[finite].max() - np.where(finite, scores, 0.0), np.inf)
        for (i, j), is_right in answers.items():
            costs[i, j] = np.inf
            if is_right:
                costs[i], costs[:, j] = np.inf, np.inf
                costs[i, j] = -np.inf
        return Question(costs, pairs, present.joins, believe(self.compatibility), frozenset(answers), rng)

    def _is_right(self, pair: tuple[int, int]) -> bool:
        return self.truth.matches(*(self.compatibility.ids[i] for i in pair))

    def _constrain(self, answers: dict[tuple[int, int], bool]) -> Constraints:
        ids = self.compatibility.ids
        named = {(ids[i], ids[j]): is_right for (i, j), is_right in answers.items()}
        return Constraints(
            required=frozenset(pair for pair, is_right in named.items() if is_right),
            forbidden=frozenset(pair for pair, is_right in named.items() if not is_right),
        )

    def _accuracy(self, arrangement: Arrangement) -> float:
        """The paper's accuracy, less a join where a whole order begins in the middle of a document."""
        order = arrangement.order
        hits = sum(self.truth.matches(*pair) for pair in pairwise(order))
        is_rolled = hits == len(order) - 1 and order[0] not in self.truth.firsts
        return (hits - is_rolled) / (len(order) - 1)


def _solve(compatibility: Compatibility, constraints: Constraints) -> Arrangement:
    plain = replace(compatibility, margins=None)
    return rate(arrange(plain, constraints, options=_PATH), plain)
