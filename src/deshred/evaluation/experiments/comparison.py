"""Experiment 3: every method on the very same piles, in one run: accuracy, and seconds per stage."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from deshred.compatibility.classical.characters import keep_shreds_with_text
from deshred.errors import DeshredError, MissingDependencyError, SettingsError
from deshred.evaluation.experiments.contestants import Answer, Contestant, enter
from deshred.evaluation.experiments.instances import (
    Bench,
    ExperimentOptions,
    Instance,
    open_documents,
    spread_windows,
)
from deshred.evaluation.experiments.methods import Method, find_methods
from deshred.evaluation.experiments.page import Outcome, write_outcome
from deshred.evaluation.experiments.plots import import_pyplot, plot_comparison
from deshred.evaluation.experiments.raw import Entry, RawResults
from deshred.evaluation.experiments.tables import take_largest
from deshred.evaluation.metrics import measure_accuracy
from deshred.executors import Executor, Progress, default_executor
from deshred.options import option


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions(ExperimentOptions):
    """Which methods, how many documents are mixed, and how many piles of each size."""

    methods: tuple[str, ...] = option(
        (
            "default",
            "towers",
            "pairwise",
            "pairwise-nn",
            "characters",
            "characters-2020",
            "words",
            "marques",
            "marques-2020",
        ),
        "What is measured.",
        metavar="NAME,...",
    )
    ks: tuple[int, ...] = option((1, 2, 3, 4, 5), "How many documents are mixed.", metavar="N,...")
    piles: int | None = option(None, "At most this many piles of each size, evenly spread.", shown="all")
    pairwise_most_k: int | None = option(
        None, "Largest k for a pairwise network, which takes hours beyond 1.", shown="none"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        find_methods(self.methods)
        sizes = [*self.ks, *([] if self.piles is None else [self.piles])]
        if any(size < 1 for size in sizes):
            raise SettingsError(f"ks and piles must be at least 1, got {self.ks} and {self.piles}.")


def comparison(
    collections: Sequence[Path],
    out: Path,
    *,
    options: ComparisonOptions | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run what `out` does not hold yet, and write tables, plots and the page of all it holds."""
    options = options or ComparisonOptions()
    import_pyplot()  # hours of work should not end without it
    raw = RawResults(out, "comparison", again=options.again)
    executor = default_executor(options.jobs)
    for folder, seed in product(collections, options.seeds):
        collection = open_documents(folder, seed, options.documents)
        bench = Bench(collection, seed=seed, executor=executor, keep=max(options.ks))
        for k in options.ks:
            for method in find_methods(options.methods):
                if k <= len(bench.documents) and _takes_part(method, k, options):
                    _run(bench, method, k, raw, options, executor, progress)
    return show_comparison(raw, out)


def show_comparison(raw: RawResults, out: Path) -> Outcome:
    """Tables, plots and the page."""
    plot_comparison(take_largest(raw), out / "comparison.png")
    return write_outcome(raw)


def _takes_part(method: Method, k: int, options: ComparisonOptions) -> bool:
    limits = [method.most_k, options.pairwise_most_k if method.is_slow else None]
    return all(limit is None or k <= limit for limit in limits)


def _run(
    bench: Bench,
    method: Method,
    k: int,
    raw: RawResults,
    options: ComparisonOptions,
    executor: Executor,
    progress: Progress | None,
) -> None:
    name, total = bench.collection.name, len(bench.documents)
    windows = spread_windows(total, k, options.piles)
    model = method.find_sha256(name)
    contestant: Contestant | None = None
    for done, window in enumerate(windows, 1):
        key = f"{name} ({total}) {method.name} {window.start}-{window.stop} seed={bench.seed}"
        if not raw.has(key, model=model):
            if contestant is None:
                contestant = enter(
                    method,
                    name,
                    documents=k,
                    executor=executor,
                    threads=options.jobs or 0,
                    kept=raw.file.parent,
                )
            entry = judge(contestant, method, bench.mix(window), executor)
            named = {"collection": name, "documents": total, "method": method.name, "k": k, **entry}
            raw.keep(key, named, model=model)
        if progress is not None:
            progress(f"{name}, {method.name}, k = {k}", done, len(windows))


def judge(contestant: Contestant, method: Method, instance: Instance, executor: Executor) -> Entry:
    """Let a contestant solve a pile; a failure counts as accuracy 0, as in the paper, and is told."""
    shreds = instance.shreds
    if method.scorer == "characters":  # the method drops what it can say nothing about
        shreds = keep_shreds_with_text(shreds, executor=executor)
    start, started = time.perf_counter(), time.process_time()
    try:
        answer = contestant.solve(shreds)
    except MissingDependencyError:
        raise
    except DeshredError as error:
        seconds = {"failed": time.perf_counter() - start}
        answer = Answer((), seconds)
        return {**_describe(instance, answer), "accuracy": 0.0, "shreds": len(shreds), "failure": str(error)}
    accuracies = [measure_accuracy(order, instance.truth) for order in answer.orders]
    # the oracle of the published run: only here, where the truth is known
    chosen = max(accuracies) if method.name == "characters-2020" else float(np.mean(accuracies))
    judged = {
        **_describe(instance, answer),
        "accuracy": chosen,
        "accuracies": accuracies,
        "shreds": len(shreds),
    }
    if answer.spared is not None:  # of this process: a busy machine changes it less
        judged["processor_seconds"] = time.process_time() - started + answer.spared
    return judged


def _describe(instance: Instance, answer: Answer) -> Entry:
    """What was found ready counts with the time it once took; where that is not known, no time is told."""
    known = {} if answer.spared is None else answer.seconds
    kept = {"kept": answer.spared} if answer.spared else {}
    return {
        "instance": list(instance.documents),
        "seconds": {**known, **kept},
        "optimal": answer.is_optimal,
    }
