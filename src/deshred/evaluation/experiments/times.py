"""Raw results of a comparison in, a table of times out: seconds per pile, and ratios to the default."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from deshred.evaluation.experiments.methods import METHODS
from deshred.evaluation.experiments.published import SECONDS
from deshred.evaluation.experiments.raw import Entry
from deshred.evaluation.experiments.tables import Table, label_method


def tabulate_seconds(entries: Sequence[Entry]) -> Table:
    """Seconds per pile and the ratio to our default; the ratios of the paper beside them."""
    seconds, ratios = group_seconds(entries), find_ratios(entries)
    ks = sorted({k for _, k in seconds})
    rows = []
    for method in dict.fromkeys(method for method, _ in seconds):
        cells = []
        for k in ks:
            own = seconds.get((method, k))
            ratio = f", x {_show_ratio(ratios[method, k])}" if (method, k) in ratios else ""
            shown = "" if own is None else f"{own:.0f} s" if own >= 10 else f"{own:.2g} s"
            cells.append("" if own is None else f"{shown}{ratio}{_published_ratio(method, k)}")
        rows.append((label_method(method), *cells))
    header = ("method", *(f"k = {k}" for k in ks))
    note = (
        "Mean seconds per pile, and the ratio to deshred's default over the piles both have, of processor "
        "time where it was measured. One machine that was doing other work: read the ratios. In "
        "brackets the published ratio to Proposed."
    )
    return Table("Time", header, tuple(rows), note)


def group_seconds(entries: Iterable[Entry]) -> dict[tuple[str, int], float]:
    """(method, k) -> mean seconds per pile, of processor time over the piles that have it; no failures."""
    found: dict[tuple[str, int], list[Entry]] = {}
    for entry in entries:
        if _is_timed(entry):
            found.setdefault((entry["method"], entry["k"]), []).append(entry)
    order = {name: place for place, name in enumerate(METHODS)}
    ordered = sorted(found.items(), key=lambda item: (order.get(item[0][0], 99), item[0][1]))
    return {key: _average_seconds(some) for key, some in ordered}


def _average_seconds(entries: Sequence[Entry]) -> float:
    timed = [entry for entry in entries if "processor_seconds" in entry]
    unit = "processor_seconds" if timed else "seconds"
    return float(np.mean([_seconds_of(entry, unit) for entry in timed or entries]))


def find_ratios(entries: Sequence[Entry]) -> dict[tuple[str, int], float]:
    """(method, k) -> its time as a multiple of the default's, over the piles that both have solved.

    Processor time where both were measured by it: a machine that does other work changes it less.
    """
    found: dict[tuple[str, int], dict[str, Entry]] = {}
    for entry in entries:
        if _is_timed(entry):
            pile = f"{entry['collection']} {entry['instance']}"
            found.setdefault((entry["method"], entry["k"]), {})[pile] = entry
    ratios = {}
    for (method, k), own in found.items():
        base = found.get(("default", k), {})
        pairs = [(own[pile], base[pile]) for pile in own.keys() & base.keys()]
        timed = [pair for pair in pairs if all("processor_seconds" in one for one in pair)]
        if timed:
            pairs = timed
        if pairs:
            unit = "processor_seconds" if timed else "seconds"
            ours, theirs = (sum(_seconds_of(one, unit) for one in some) for some in zip(*pairs, strict=True))
            ratios[method, k] = ours / theirs
    return ratios


def _is_timed(entry: Entry) -> bool:
    """Failures have no time worth comparing, and neither has what was found ready without its price."""
    return "failure" not in entry and bool(entry["seconds"])


def _seconds_of(entry: Entry, unit: str) -> float:
    return float(entry[unit] if unit == "processor_seconds" else sum(entry[unit].values()))


def _show_ratio(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.2g}"


def _published_ratio(method: str, k: int) -> str:
    curve = SECONDS.get(METHODS[method].published or "", {})
    return f" (x {_show_ratio(curve[k] / SECONDS['proposed'][k])})" if k in curve else ""
