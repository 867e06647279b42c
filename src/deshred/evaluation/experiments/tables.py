"""Raw results in, tables out: what was measured beside what was published, with the difference."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deshred.evaluation.experiments.methods import METHODS
from deshred.evaluation.experiments.published import (
    ABLATION,
    COLLECTIONS,
    COMPLETE,
    FEEDBACK,
    KINDS,
    published_accuracy,
)
from deshred.evaluation.experiments.raw import Entry
from deshred.evaluation.metrics import Mean, average

_ENOUGH = 4  # piles
_PUBLISHED_K = 5  # of the paper's ablation
_SOME_WRONG = 0.7  # documents below this accuracy are counted, as in the paper


@dataclass(frozen=True)
class Table:
    """Cells of text under a title; a note says what the reader must know."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def to_markdown(self) -> str:
        """As Markdown, with its title."""
        lines = [self.header, ("---",) * len(self.header), *self.rows]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return "\n\n".join(part for part in (f"## {self.title}", self.note, text) if part) + "\n"


def label_collection(name: str) -> str:
    """As the paper spells it."""
    return COLLECTIONS.get(name, name)


def place_collection(name: str) -> tuple[int, str]:
    """Where a collection stands: in the order of the paper, others behind them."""
    known = list(COLLECTIONS)
    return (known.index(name) if name in known else len(known)), name


def label_method(name: str) -> str:
    """As figures show it."""
    return METHODS[name].label if name in METHODS else name


def group_accuracies(entries: Iterable[Entry]) -> dict[tuple[str, str, int], list[float]]:
    """(collection, method, k) -> the accuracies of all instances, of either kind of entry."""
    found: dict[tuple[str, str, int], list[float]] = {}
    for entry in entries:
        key = (entry["collection"], entry["method"], entry["k"])
        values = (
            [one["accuracy"] for one in entry["instances"]] if "instances" in entry else [entry["accuracy"]]
        )
        found.setdefault(key, []).extend(values)
    order = {name: place for place, name in enumerate(METHODS)}

    def place(key: tuple[str, str, int]) -> tuple[tuple[int, str], int, int]:
        return place_collection(key[0]), order.get(key[1], len(order)), key[2]

    return {key: found[key] for key in sorted(found, key=place)}


def take_largest(entries: Iterable[Entry]) -> list[Entry]:
    """What was measured on most documents of a collection; a trial on a few says nothing beside that."""
    known = list(entries)
    most: dict[str, int] = {}
    for entry in known:
        most[entry["collection"]] = max(entry["documents"], most.get(entry["collection"], 0))
    return [entry for entry in known if entry["documents"] == most[entry["collection"]]]


def count_documents(entries: Iterable[Entry]) -> dict[str, int]:
    """The documents at hand, by collection."""
    return {entry["collection"]: entry["documents"] for entry in entries}


def tabulate_curves(entries: Sequence[Entry]) -> Table:
    """Accuracy for every collection, method and k; perfect documents and poor ones at k = 1."""
    documents = count_documents(entries)
    rows = [
        (
            label_collection(collection),
            label_method(method),
            "all" if k == documents[collection] else str(k),
            str(len(values)),
            show_mean(average_many(values)),
            *_beside(collection, method, k, documents[collection], 100 * float(np.mean(values))),
            _count_perfect(values) if k == 1 else "",
        )
        for (collection, method, k), values in group_accuracies(entries).items()
    ]
    header = ("collection", "method", "k", "piles", "accuracy %", "published %", "difference", "k = 1")
    return Table("Accuracy as documents are mixed", header, tuple(rows), _note(documents))


def tabulate_kinds(entries: Sequence[Entry]) -> Table:
    """Mean accuracy at k = 1 for each kind of document."""
    kinds = group_kinds(entries)
    methods = list(dict.fromkeys(method for method, _ in kinds))
    rows = []
    for kind in sorted({kind for _, kind in kinds}):
        means = [100 * float(np.mean(kinds.get((method, kind), [np.nan]))) for method in methods]
        published = KINDS.get(kind)
        cells = [
            _show(mean, published if METHODS[m].published == "proposed" else None)
            for m, mean in zip(methods, means, strict=True)
        ]
        rows.append((kind.replace("_", " "), "" if published is None else f"{published:.1f}", *cells))
    header = ("kind", "Proposed (published)", *map(label_method, methods))
    note = "The difference to the published figure, which is for ten documents of each kind, in brackets."
    return Table("S-CDIP by kind of document, k = 1, accuracy in %", header, tuple(rows), note)


def group_kinds(entries: Iterable[Entry]) -> dict[tuple[str, str], list[float]]:
    """(method, kind) -> accuracies of single documents, where kinds are known."""
    found: dict[tuple[str, str], list[float]] = {}
    for entry in entries:
        for one in entry["instances"] if entry["k"] == 1 else ():
            kind = entry["kinds"].get(one["documents"][0])
            if kind is not None:
                found.setdefault((entry["method"], kind), []).append(one["accuracy"])
    return found


def tabulate_comparison(entries: Sequence[Entry]) -> Table:
    """Accuracy of every method on the same piles, one column per k."""
    documents = count_documents(entries)
    groups = group_accuracies(entries)
    ks = sorted({k for _, _, k in groups})
    rows = []
    for collection, method in dict.fromkeys((c, m) for c, m, _ in groups):
        cells = []
        for k in ks:
            values = groups.get((collection, method, k))
            if values is None:
                cells.append("")
                continue
            percent = 100 * float(np.mean(values))
            published, difference = _beside(collection, method, k, documents[collection], percent)
            cells.append(f"{_show_piles(values)}{f' ({published}, {difference})' if published else ''}")
        rows.append((label_collection(collection), label_method(method), *cells))
    header = ("collection", "method", *(f"k = {k}" for k in ks))
    how = "Accuracy in %, 95 % interval, number of piles; published and the difference in brackets."
    note = f"{how} {_note(documents)}"
    return Table("All methods on the same piles", header, tuple(rows), note)


def _show_piles(values: Sequence[float]) -> str:
    return f"{show_mean(average_many(values))}, {len(values)} pile{'s' if len(values) > 1 else ''}"


def tabulate_feedback(entries: Sequence[Entry]) -> Table:
    """What is left wrong after questions, one column per strategy; means over the seeds."""
    strategies = list(dict.fromkeys(entry["strategy"] for entry in entries))
    groups: dict[tuple[str, str, float, int, float], list[Entry]] = {}
    for entry in entries:
        key = (entry["collection"], entry["method"], entry["error"], entry["rounds"], entry["load"])
        groups.setdefault(key, []).append(entry)
    rows = []
    ordered = sorted(groups.items(), key=lambda item: (place_collection(item[0][0]), item[0][1:]))
    for (collection, method, error, rounds, load), some in ordered:
        published = FEEDBACK.get(collection) if (load, rounds, error) == (0.1, 1, 0.0) else None
        rows.append(
            (
                label_collection(collection),
                label_method(method),
                f"{100 * error:.0f} %",
                str(rounds),
                f"{some[0]['asked']} of {some[0]['joins']} ({100 * load:.0f} %)",
                f"{some[0]['wrong_before']} ({100 * some[0]['before']:.1f} %)",
                *(_show_left([e for e in some if e["strategy"] == strategy]) for strategy in strategies),
                "" if published is None else f"{published.before:.1f} -> {published.after:.1f} %",
            )
        )
    header = ("collection", "scores", "wrong answers", "rounds", "asked", "wrong joins before")
    note = (
        "All documents mixed in one path: wrong joins left (accuracy) for each way to choose the questions. "
        "Published: metric learning, its best strategy; it starts from other scores, so compare what each "
        "gains over its own start."
    )
    return Table("A person in the loop", (*header, *strategies, "published"), tuple(rows), note)


def _show_left(entries: Sequence[Entry]) -> str:
    if not entries:
        return ""
    left = float(np.mean([entry["wrong_after"] for entry in entries]))
    return f"{left:.3g} ({100 * float(np.mean([entry['after'] for entry in entries])):.1f})"


@dataclass(frozen=True)
class FactorValue:
    """One value of one factor, measured in one way on one collection."""

    collection: str
    factor: str
    value: str
    trained: str
    documents: int


def group_factors(entries: Iterable[Entry]) -> dict[FactorValue, dict[int, list[float]]]:
    """The accuracies of all piles, by value and by k, of all seeds together."""
    groups: dict[FactorValue, dict[int, list[float]]] = {}
    for entry in entries:
        budget = f"{entry['steps']} steps" if entry["steps"] else "shipped model"
        budget += "" if entry.get("shift") in (None, 10) else f", v_shift {entry['shift']}"
        key = FactorValue(entry["collection"], entry["factor"], entry["value"], budget, entry["documents"])
        own = groups.setdefault(key, {}).setdefault(entry["k"], [])
        own.extend(one["accuracy"] for one in entry["instances"])
    factors = list(dict.fromkeys(one.factor for one in groups))

    def place(one: FactorValue) -> tuple[tuple[int, str], int, tuple[float, ...]]:
        return place_collection(one.collection), factors.index(one.factor), place_value(one.value)

    return {one: groups[one] for one in sorted(groups, key=place)}


def place_value(value: str) -> tuple[float, ...]:
    """The numbers of a value, to put it in order; words stay in the order in which they were measured."""
    return tuple(map(float, re.findall(r"\d+(?:\.\d+)?", value))) if value[:1].isdigit() else ()


def tabulate_ablation(entries: Sequence[Entry]) -> Table:
    """Accuracy for every value of every factor, one column per k; the published one for k = 5."""
    ks = sorted({entry["k"] for entry in entries})
    rows = []
    for one, by_k in group_factors(entries).items():
        published = ABLATION.get(one.factor, {}).get(one.collection, {}).get(one.value)
        cells = [show_mean(average_many(by_k[k])) if k in by_k else "" for k in ks]
        beside = "" if published is None else f"{published:.1f}"
        if published is not None and _PUBLISHED_K in by_k:
            beside += f" ({100 * float(np.mean(by_k[_PUBLISHED_K])) - published:+.1f})"
        name = label_collection(one.collection)
        rows.append((name, str(one.documents), one.factor, one.value, one.trained, *cells, beside))
    header = ("collection", "documents", "factor", "value", "trained", *(f"k = {k}" for k in ks))
    note = (
        "Accuracy in %. One factor is changed at a time. Published figures are for k = 5, full trainings and "
        "the complete collections, with the difference in brackets where k = 5 was measured; what had fewer "
        "steps here can only be compared within its factor."
    )
    return Table("What each choice is worth", (*header, "published, k = 5"), tuple(rows), note)


def average_many(values: Sequence[float]) -> Mean:
    """The mean; an interval only where there are enough piles to say anything about others."""
    mean = average(values)
    return mean if len(values) >= _ENOUGH else Mean(mean.value, None)


def show_mean(mean: Mean) -> str:
    """In percent, with its interval."""
    margin = "" if mean.margin is None else f" ± {100 * mean.margin:.1f}"
    return f"{100 * mean.value:.1f}{margin}"


def _show(percent: float, published: float | None) -> str:
    if np.isnan(percent):
        return ""
    return f"{percent:.1f}" if published is None else f"{percent:.1f} ({percent - published:+.1f})"


def _beside(collection: str, method: str, k: int, documents: int, percent: float) -> tuple[str, str]:
    published = published_accuracy(collection, METHODS[method].published, k, documents)
    if published is None:
        return "", ""
    return f"{published:.1f}", f"{percent - published:+.1f}"


def _count_perfect(values: Sequence[float]) -> str:
    perfect, poor = sum(value == 1 for value in values), sum(value < _SOME_WRONG for value in values)
    return f"{perfect} of {len(values)} perfect, {poor} below 70 %"


def _note(documents: Mapping[str, int]) -> str:
    counts = ", ".join(
        f"{label_collection(name)} {count} of {COMPLETE.get(name, count)}"
        for name, count in sorted(documents.items(), key=lambda item: place_collection(item[0]))
    )
    return f"Documents at hand: {counts}; published figures are for the complete collections."
