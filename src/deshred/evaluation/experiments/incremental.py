"""Experiment 1: accuracy as more and more documents are mixed, and by kind of document.

Collections in; `incremental.json`, a table beside the published figures, plots and a page out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deshred.errors import SettingsError
from deshred.evaluation.collections import Collection
from deshred.evaluation.experiments.instances import ExperimentOptions, list_ks, open_documents
from deshred.evaluation.experiments.methods import Method, find_methods
from deshred.evaluation.experiments.page import Outcome, write_outcome
from deshred.evaluation.experiments.plots import import_pyplot, plot_curves, plot_kinds
from deshred.evaluation.experiments.raw import Entry, RawResults
from deshred.evaluation.experiments.tables import group_kinds, take_largest
from deshred.evaluation.protocol import EvaluationOptions, evaluate
from deshred.evaluation.results import KResult
from deshred.executors import Progress, default_executor
from deshred.options import option


@dataclass(frozen=True, kw_only=True)
class IncrementalOptions(ExperimentOptions):
    """Which methods, how many documents are mixed, and how often the sequence is drawn."""

    methods: tuple[str, ...] = option(
        ("default", "towers", "pairwise", "pairwise-nn"), "What is measured.", metavar="NAME,..."
    )
    ks: tuple[int, ...] = option(
        (), "How many documents are mixed.", metavar="N,...", shown="1 to 5, 10, 15, ... and all"
    )
    pairwise_most_k: int | None = option(
        None, "Largest k for a pairwise network, which takes hours beyond 1.", shown="none"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        find_methods(self.methods)
        if any(k < 1 for k in self.ks):
            raise SettingsError(f"ks must be at least 1, got {self.ks}.")


def incremental(
    collections: Sequence[Path],
    out: Path,
    *,
    options: IncrementalOptions | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run what `out` does not hold yet, and write tables, plots and the page of all it holds."""
    options = options or IncrementalOptions()
    import_pyplot()  # hours of work should not end without it
    raw = RawResults(out, "incremental", again=options.again)
    for folder in collections:
        for method in find_methods(options.methods):
            for seed in options.seeds:
                collection = open_documents(folder, seed, options.documents)
                _measure(collection, method, seed, raw, out / "scores", options, progress)
    return show_incremental(raw, out)


def show_incremental(raw: RawResults, out: Path) -> Outcome:
    """Tables, plots and the page."""
    entries = take_largest(raw)
    plot_curves(entries, out / "incremental.png")
    if group_kinds(entries):
        plot_kinds(entries, out / "kinds.png")
    return write_outcome(raw)


def _measure(
    collection: Collection,
    method: Method,
    seed: int,
    raw: RawResults,
    cache: Path,
    options: IncrementalOptions,
    progress: Progress | None,
) -> None:
    ks = [k for k in (options.ks or list_ks(len(collection))) if _takes_part(method, k, collection, options)]
    model = method.find_sha256(collection.name)
    missing = [k for k in ks if not raw.has(_key(collection, method, k, seed), model=model)]
    if not missing:
        return
    kinds = {document.name: document.kind for document in collection.documents}

    def keep(result: KResult) -> None:
        entry: Entry = {
            "collection": collection.name,
            "documents": len(collection),
            "method": method.name,
            "k": int(result.k),
            "seed": seed,
            "kinds": kinds,
            **result.to_dict(),
        }
        raw.keep(_key(collection, method, int(result.k), seed), entry, model=model)

    evaluate(
        collection,
        method.load(collection.name, threads=options.jobs or 0),
        options=EvaluationOptions(ks=tuple(missing), seed=seed, arrangement=method.arrangement),
        cache=cache,
        executor=default_executor(options.jobs),
        progress=progress,
        report=keep,
    )


def _takes_part(method: Method, k: int, collection: Collection, options: IncrementalOptions) -> bool:
    limits = [method.most_k, options.pairwise_most_k if method.is_slow else None]
    return k <= len(collection) and all(limit is None or k <= limit for limit in limits)


def _key(collection: Collection, method: Method, k: int, seed: int) -> str:
    return f"{collection.name} ({len(collection)}) {method.name} k={k} seed={seed}"
