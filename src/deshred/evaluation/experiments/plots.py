"""Raw results in, figures in the paper's form out, for print and for every kind of color vision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deshred.errors import MissingDependencyError
from deshred.evaluation.experiments.methods import METHODS
from deshred.evaluation.experiments.published import ACCURACY, KINDS, SECONDS
from deshred.evaluation.experiments.raw import Entry
from deshred.evaluation.experiments.tables import (
    count_documents,
    find_ratios,
    group_accuracies,
    group_kinds,
    label_collection,
    label_method,
)
from deshred.evaluation.metrics import average

# Okabe and Ito: eight colors that people with any color vision can tell apart
_COLORS = (
    "#0072B2",
    "#56B4E9",
    "#999999",
    "#D55E00",
    "#E69F00",
    "#009E73",
    "#66C2A5",
    "#CC79A7",
    "#000000",
    "#7F7F7F",
)
_MARKERS = ("o", "s", "v", "D", "d", "^", "<", "P", "X", "x")
_DASHES = ("-", "-", "-", "--", ":", "-.", ":", "--", "-", ":")
_STYLES = {
    name: {"color": color, "marker": marker, "linestyle": dash}
    for name, color, marker, dash in zip(METHODS, _COLORS, _MARKERS, _DASHES, strict=True)
}
_PRINT_DPI = 150


def plot_curves(entries: Sequence[Entry], file: Path) -> Path:
    """Accuracy against the number of documents mixed, one panel per collection, with 95 % intervals."""
    groups = group_accuracies(entries)
    names = list(dict.fromkeys(collection for collection, _, _ in groups))
    plt = import_pyplot()
    figure, axes = plt.subplots(1, len(names), figsize=(4.6 * len(names), 4.2), sharey=True, squeeze=False)
    for axis, collection in zip(axes[0], names, strict=True):
        for method in dict.fromkeys(m for c, m, _ in groups if c == collection):
            curve = {k: values for (c, m, k), values in groups.items() if (c, m) == (collection, method)}
            _draw_curve(axis, curve, method)
        count = count_documents(entries)[collection]
        _draw_published(axis, collection, ("proposed", "proposed-nn"), most=count)
        axis.set(title=f"{label_collection(collection)} ({count} documents)", xlabel="documents mixed, k")
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("accuracy, %")
    return _finish(figure, axes[0], file)


def plot_kinds(entries: Sequence[Entry], file: Path) -> Path:
    """Box plots at k = 1 by kind of document, the published mean as a mark."""
    kinds = group_kinds(entries)
    methods = list(dict.fromkeys(method for method, _ in kinds))
    names = sorted({kind for _, kind in kinds}, key=lambda kind: KINDS.get(kind, 100.0))
    plt = import_pyplot()
    figure, axes = plt.subplots(figsize=(11, 4.6), squeeze=False)
    axis = axes[0][0]
    width = 0.8 / max(len(methods), 1)
    for place, method in enumerate(methods):
        values = [100 * np.array(kinds.get((method, kind), [])) for kind in names]
        spots = np.arange(len(names)) + (place - (len(methods) - 1) / 2) * width
        color = _STYLES[method]["color"]
        boxes = axis.boxplot(
            values, positions=spots, widths=0.85 * width, patch_artist=True, manage_ticks=False
        )
        for box in boxes["boxes"]:
            box.set(facecolor=color, alpha=0.55, hatch=("", "//", "..", "xx")[place % 4])
        for median in boxes["medians"]:
            median.set(color="black")
        axis.plot([], [], color=color, linewidth=8, alpha=0.55, label=label_method(method))
    known = [place for place, kind in enumerate(names) if kind in KINDS]
    published = [KINDS[names[place]] for place in known]
    axis.plot(known, published, "k*", markersize=10, linestyle="none", label="Proposed (published mean)")
    axis.set_xticks(np.arange(len(names)), [name.replace("_", " ") for name in names], rotation=20)
    axis.set(ylabel="accuracy, %", title="S-CDIP by kind of document, k = 1", ylim=(None, 101))
    axis.grid(axis="y", alpha=0.3)
    return _finish(figure, axes[0], file)


def plot_comparison(entries: Sequence[Entry], file: Path) -> Path:
    """Accuracy of every method on the same piles, one panel per collection; their time in the last one."""
    groups = group_accuracies(entries)
    names = list(dict.fromkeys(collection for collection, _, _ in groups))
    plt = import_pyplot()
    figure, axes = plt.subplots(1, len(names) + 1, figsize=(4.3 * (len(names) + 1), 4.4), squeeze=False)
    for axis, collection in zip(axes[0], names, strict=False):
        for method in dict.fromkeys(m for c, m, _ in groups if c == collection):
            curve = {k: values for (c, m, k), values in groups.items() if (c, m) == (collection, method)}
            _draw_curve(axis, curve, method)
        _draw_published(axis, collection, ("proposed", "paixao", "liang", "marques"), most=5)
        axis.set(title=label_collection(collection), xlabel="documents mixed, k", ylim=(-3, 103))
        axis.grid(alpha=0.3)
    _draw_times(axes[0][-1], entries)
    axes[0][0].set_ylabel("accuracy, %")
    return _finish(figure, axes[0], file)


def plot_ablation(entries: Sequence[Entry], file: Path) -> Path:
    """Mean accuracy of every value, one panel per factor; dots for the collections, at the largest k."""
    factors = list(dict.fromkeys(entry["factor"] for entry in entries))
    names = list(dict.fromkeys(entry["collection"] for entry in entries))
    plt = import_pyplot()
    columns = min(4, max(len(factors), 1))
    rows = -(-max(len(factors), 1) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.8 * columns, 3.3 * rows + 0.5), squeeze=False)
    for axis in axes.ravel()[len(factors) :]:
        axis.set_axis_off()
    for axis, factor in zip(axes.ravel(), factors, strict=False):
        own = [entry for entry in entries if entry["factor"] == factor]
        values = list(dict.fromkeys(entry["value"] for entry in own))
        for place, name in enumerate(names):
            found = {e["value"]: e for e in sorted(own, key=lambda e: e["k"]) if e["collection"] == name}
            spots = [values.index(value) for value in found]
            means = [100 * entry["mean"] for entry in found.values()]
            axis.plot(
                spots, means, _MARKERS[place], linestyle="-", color=_COLORS[(0, 3, 5)[place % 3]],
                label=label_collection(name),
            )  # fmt: skip
        axis.set_xticks(range(len(values)), values, fontsize=8)
        largest = f"k = {max(entry['k'] for entry in own)}"
        axis.set_title(factor if factor.endswith(largest) else f"{factor}, {largest}", fontsize=10)
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("accuracy, %")
    return _finish(figure, axes.ravel()[: max(len(factors), 1)], file)


def plot_feedback(entries: Sequence[Entry], file: Path) -> Path:
    """Wrong joins that are left against the share of joins asked, one round; a panel per pile and person."""
    single = [entry for entry in entries if entry["rounds"] == 1]
    panels = sorted({(entry["collection"], entry["error"]) for entry in single})
    methods = list(dict.fromkeys(entry["method"] for entry in single))
    plt = import_pyplot()
    shape = (len(methods), len(panels))
    figure, axes = plt.subplots(*shape, figsize=(3.6 * shape[1], 3.4 * shape[0] + 0.6), squeeze=False)
    strategies = list(dict.fromkeys(entry["strategy"] for entry in single))
    for row, method in zip(axes, methods, strict=True):
        for axis, (collection, error) in zip(row, panels, strict=True):
            for place, strategy in enumerate(strategies):
                key = (collection, error, method, strategy)
                _draw_remaining(axis, [e for e in single if _feedback_key(e) == key], place)
            person = "perfect" if error == 0 else f"{100 * error:.0f} % wrong"
            axis.set_title(f"{label_collection(collection)}, {method}, {person}", fontsize=9)
            axis.set(xlabel="joins asked, %", ylim=(0, None))
            axis.grid(alpha=0.3)
        row[0].set_ylabel("wrong joins left")
    return _finish(figure, axes.ravel(), file)


def _feedback_key(entry: Entry) -> tuple[str, float, str, str]:
    return entry["collection"], entry["error"], entry["method"], entry["strategy"]


def _draw_remaining(axis: Any, entries: Sequence[Entry], place: int) -> None:
    """Means over the seeds, from no question on."""
    if not entries:
        return
    loads = sorted({entry["load"] for entry in entries})
    left = [np.mean([e["wrong_after"] for e in entries if e["load"] == load]) for load in loads]
    axis.plot(
        [0, *(100 * load for load in loads)],
        [entries[0]["wrong_before"], *left],
        label=entries[0]["strategy"],
        color=_COLORS[place],
        marker=_MARKERS[place],
        linestyle=_DASHES[place],
        markersize=4,
    )


def _draw_times(axis: Any, entries: Sequence[Entry]) -> None:
    found = find_ratios(entries)
    for method in (name for name in METHODS if any(name == other for other, _ in found)):
        ratios = {k: ratio for (other, k), ratio in sorted(found.items()) if other == method}
        axis.plot(list(ratios), list(ratios.values()), label=label_method(method), **_STYLES[method])
    axis.set(title="time per pile, times deshred's default", xlabel="documents mixed, k", yscale="log")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.grid(alpha=0.3)


def _draw_curve(axis: Any, curve: dict[int, list[float]], method: str) -> None:
    ks = list(curve)
    means = [average(values) for values in curve.values()]
    values = np.array([100 * mean.value for mean in means])
    margins = np.array([100 * (mean.margin or 0.0) for mean in means])
    axis.plot(ks, values, label=label_method(method), markersize=5, **_STYLES[method])
    low, high = np.maximum(values - margins, 0), np.minimum(values + margins, 100)
    axis.fill_between(ks, low, high, color=_STYLES[method]["color"], alpha=0.15, linewidth=0)


def _draw_published(axis: Any, collection: str, methods: Sequence[str], *, most: int) -> None:
    markers = dict(zip(SECONDS, ("*", "2", "3", "4"), strict=True)) | {"proposed-nn": "1"}
    names = {
        "proposed": "Proposed",
        "proposed-nn": "Proposed-NN",
        "paixao": "Paixão",
        "liang": "Liang",
        "marques": "Marques",
    }
    for method in methods:
        curve = {k: v for k, v in ACCURACY.get(collection, {}).get(method, {}).items() if k <= most}
        label = f"{names[method]} (published)"
        axis.plot(
            list(curve), list(curve.values()), "k", marker=markers[method], linestyle="none", label=label
        )


def import_pyplot() -> Any:
    """Matplotlib without a window; it belongs to an extra."""
    try:
        import matplotlib
    except ImportError:
        raise MissingDependencyError(
            "plots need matplotlib, which is not installed. Try: pip install 'deshred[plots]'"
        ) from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def _finish(figure: Any, axes: Sequence[Any], file: Path) -> Path:
    """One legend below all panels, each entry once."""
    entries: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    columns = min(3, len(entries)) or 1
    rows = -(-len(entries) // columns)
    figure.tight_layout(rect=(0, (0.22 * rows + 0.1) / figure.get_figheight(), 1, 1))  # inches per line
    figure.legend(
        entries.values(), entries.keys(), loc="lower center", ncol=columns, frameon=False, fontsize=9
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=_PRINT_DPI)
    import_pyplot().close(figure)
    return file
