"""Raw results of a comparison in, a table out: the default and each other method, document by document.

Documents differ more than methods do, so the difference on each document says more than two means.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from deshred.evaluation.experiments.methods import METHODS
from deshred.evaluation.experiments.raw import Entry
from deshred.evaluation.experiments.tables import (
    Table,
    average_many,
    label_collection,
    label_method,
    place_collection,
    show_mean,
)

_EQUAL = 1e-9  # no join more or less


def tabulate_pairs(entries: Sequence[Entry]) -> Table:
    """At k = 1: on how many documents the default is better, equal or worse, by how much, and a sign test."""
    differences = group_differences(entries)
    rows = []
    for (collection, method), values in differences.items():
        better, worse = sum(v > _EQUAL for v in values), sum(v < -_EQUAL for v in values)
        counts = (str(better), str(len(values) - better - worse), str(worse))
        names = (label_collection(collection), label_method(method))
        rows.append((*names, *counts, show_mean(average_many(values)), _show_chance(better, worse)))
    header = ("collection", "method", "better", "equal", "worse", "mean difference", "p (sign test)")
    note = (
        "Documents at k = 1 on which deshred's default is better than the method, equal and worse; the mean "
        "difference in points with its 95 % interval; and how likely such counts, or clearer ones, are by "
        "chance (two-sided, of the documents that differ; not corrected for the number of methods)."
    )
    return Table("Document by document", header, tuple(rows), note)


def group_differences(entries: Sequence[Entry]) -> dict[tuple[str, str], list[float]]:
    """(collection, method) -> what the default has more on each document that both have, over all seeds."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    for entry in entries:
        if entry["k"] == 1:
            own = found.setdefault((entry["collection"], entry["method"]), {})
            own.setdefault(entry["instance"][0], []).append(entry["accuracy"])
    order = list(METHODS)
    differences = {}
    for collection, method in sorted(found, key=lambda key: (place_collection(key[0]), order.index(key[1]))):
        base, own = found.get((collection, "default"), {}), found[collection, method]
        shared = sorted(base.keys() & own.keys())
        if method != "default" and shared:
            differences[collection, method] = [float(np.mean(base[d]) - np.mean(own[d])) for d in shared]
    return differences


def _show_chance(better: int, worse: int) -> str:
    if better + worse == 0:
        return ""
    chance = float(stats.binomtest(better, better + worse).pvalue)
    return f"{chance:.2g}" if chance >= 0.0001 else "< 0.0001"
