"""Raw results in, figures in the paper's form out, for print and for every kind of color vision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deshred.errors import MissingDependencyError
from deshred.evaluation.experiments.methods import METHODS
from deshred.evaluation.experiments.published import ABLATION, ACCURACY, KINDS
from deshred.evaluation.experiments.raw import Entry
from deshred.evaluation.experiments.tables import (
    FactorValue,
    average_many,
    count_documents,
    group_accuracies,
    group_factors,
    group_kinds,
    label_collection,
    label_method,
    place_collection,
    place_value,
)
from deshred.evaluation.experiments.times import find_ratios

# Okabe and Ito: colors that people with any color vision can tell apart; shapes and dashes tell them in gray
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
_LOOKS = {
    "default": ("#0072B2", "o", "-"),
    "towers": ("#56B4E9", "s", "-"),
    "outline": ("#999999", "v", "-"),
    "pairwise": ("#D55E00", "D", "--"),
    "pairwise-nn": ("#E69F00", "d", ":"),
    "pairwise-still": ("#8B3A00", "p", "-"),
    "pairwise-still-nn": ("#B8860B", "h", "-."),
    "characters": ("#009E73", "^", "-."),
    "characters-2020": ("#66C2A5", "<", ":"),
    "words": ("#CC79A7", "P", "--"),
    "marques": ("#000000", "X", "-"),
    "marques-2020": ("#7F7F7F", "x", ":"),
}
_STYLES = {
    name: {"color": color, "marker": marker, "linestyle": dash}
    for name, (color, marker, dash) in _LOOKS.items()
}
_PUBLISHED = {
    "proposed": ("Proposed", "pairwise"),
    "proposed-nn": ("Proposed-NN", "pairwise-nn"),
    "paixao": ("Paixão", "characters"),
    "liang": ("Liang", "words"),
    "marques": ("Marques", "marques"),
}
_HOLLOW: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "none", "markersize": 8}
_PRINT_DPI = 150
_LEGEND_INCHES = 3.5  # of a column
_FAR = 40  # points


def plot_curves(entries: Sequence[Entry], file: Path) -> Path:
    """Accuracy against the number of documents mixed, one panel per collection, with 95 % intervals."""
    groups = group_accuracies(entries)
    names = list(dict.fromkeys(collection for collection, _, _ in groups))
    plt = import_pyplot()
    figure, axes = plt.subplots(1, len(names), figsize=(4.6 * len(names), 4.2), sharey=True, squeeze=False)
    for axis, collection in zip(axes[0], names, strict=True):
        methods = list(dict.fromkeys(m for c, m, _ in groups if c == collection))
        for method in methods:
            if method.replace("-still", "") in methods[: methods.index(method)]:
                continue  # the same network without shifts: a factor of the ablation, far below all others
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
    names = _order_kinds({kind for _, kind in kinds})
    plt = import_pyplot()
    figure, axes = plt.subplots(figsize=(11, 4.6), squeeze=False)
    axis = axes[0][0]
    width = 0.8 / max(len(methods), 1)
    for place, method in enumerate(methods):
        values = [100 * np.array(kinds.get((method, kind), [])) for kind in names]
        spots = np.arange(len(names)) + (place - (len(methods) - 1) / 2) * width
        color = _STYLES[method]["color"]
        boxes = axis.boxplot(
            values, positions=spots, widths=0.85 * width, patch_artist=True, manage_ticks=False, sym=""
        )
        look = {"facecolor": color, "alpha": 0.55, "hatch": ("", "///", "...", "xxx")[place % 4]}
        for box in boxes["boxes"]:
            box.set(**look)
        for median in boxes["medians"]:
            median.set(color="black")
        # a kind may have three documents only: each is shown, also where a box is but a line
        each = [(spot, value) for spot, some in zip(spots, values, strict=True) for value in some]
        axis.plot(*zip(*each, strict=True), "o", color=color, markeredgecolor="black", markersize=3.5)
        axis.bar([0], [0], **look, edgecolor="black", label=label_method(method))
    lowest = min((100 * value for values in kinds.values() for value in values), default=0.0)
    known = [place for place, kind in enumerate(names) if kind in KINDS]
    published = [KINDS[names[place]] for place in known]
    axis.plot(known, published, "k*", markersize=10, linestyle="none", label="Proposed (published mean)")
    axis.set_xticks(np.arange(len(names)), [name.replace("_", " ") for name in names], rotation=20)
    axis.set(
        ylabel="accuracy, %", title="S-CDIP by kind of document, k = 1", ylim=(min(lowest - 3, 80), 101.5)
    )
    axis.grid(axis="y", alpha=0.3)
    return _finish(figure, axes[0], file)


def _order_kinds(kinds: Iterable[str]) -> list[str]:
    """The hardest for the published method first; a set comes in another order every time."""
    return sorted(kinds, key=lambda kind: (KINDS.get(kind, 100.0), kind))


def plot_comparison(entries: Sequence[Entry], file: Path) -> Path:
    """Accuracy of every method on the same piles, one panel per collection; their time in the last one."""
    groups = group_accuracies(entries)
    names = list(dict.fromkeys(collection for collection, _, _ in groups))
    plt = import_pyplot()
    rows = -(-(len(names) + 1) // 2)
    figure, grid = plt.subplots(rows, 2, figsize=(10.4, 3.7 * rows + 1.0), squeeze=False)
    axes = list(grid.ravel()[: len(names) + 1])
    for axis in grid.ravel()[len(axes) :]:
        axis.set_axis_off()
    for axis, collection in zip(axes, names, strict=False):
        for method in dict.fromkeys(m for c, m, _ in groups if c == collection):
            curve = {k: values for (c, m, k), values in groups.items() if (c, m) == (collection, method)}
            _draw_curve(axis, curve, method)
        _draw_published(axis, collection, tuple(_PUBLISHED), most=5)
        title = f"{label_collection(collection)} ({count_documents(entries)[collection]} documents)"
        axis.set(title=title, xlabel="documents mixed, k", ylim=(-3, 103))
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.grid(alpha=0.3)
        axis.set_ylabel("accuracy, %")
    _draw_times(axes[-1], entries)
    return _finish(figure, axes, file, columns=2)


def plot_ablation(entries: Sequence[Entry], file: Path) -> Path:
    """Mean accuracy of every value, a panel for each factor at a k that its collections share.

    A line for each collection, and for each way that its networks were trained.
    """
    groups = group_factors(entries)
    factors = list(dict.fromkeys(one.factor for one in groups))
    names = sorted({one.collection for one in groups}, key=place_collection)
    plt = import_pyplot()
    columns = min(4, max(len(factors), 1))
    rows = -(-max(len(factors), 1) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.8 * columns, 3.3 * rows + 0.5), squeeze=False)
    for axis in axes.ravel()[len(factors) :]:
        axis.set_axis_off()
    for axis, factor in zip(axes.ravel(), factors, strict=False):
        own = {one: by_k for one, by_k in groups.items() if one.factor == factor}
        k = _largest_shared_k(own)
        shown = {one: 100 * float(np.mean(by_k[k])) for one, by_k in own.items() if k in by_k}
        _draw_factor(axis, shown, names)
        title = factor if factor.endswith(f"k = {k}") else f"{factor}, k = {k}"
        budgets = dict.fromkeys(one.trained for one in shown if one.trained != "shipped model")
        axis.set_title("\n".join([title, *budgets]), fontsize=10)
    for row in axes:
        row[0].set_ylabel("accuracy, %")
    return _finish(figure, axes.ravel()[: max(len(factors), 1)], file)


def _draw_factor(axis: Any, shown: Mapping[FactorValue, float], names: Sequence[str]) -> None:
    """One panel: values beside each other, published ones as hollow marks."""
    values = sorted(dict.fromkeys(one.value for one in shown), key=place_value)
    for name, trained in sorted(
        {(one.collection, one.trained) for one in shown}, key=lambda line: (names.index(line[0]), line[1])
    ):
        line = {o.value: mean for o, mean in shown.items() if (o.collection, o.trained) == (name, trained)}
        look = _look_of(name, names)
        dash = "-" if trained == "shipped model" else ":"
        known = ABLATION.get(next(iter(shown)).factor, {}).get(name, {})
        published = {value: mean for value, mean in known.items() if value in values}
        label = label_collection(name)
        axis.plot([values.index(v) for v in line], list(line.values()), **look, linestyle=dash, label=label)
        if published:
            spots = [values.index(value) for value in published]
            hollow = {**look, **_HOLLOW, "label": f"{label} (published, k = 5)"}
            axis.plot(spots, list(published.values()), **hollow)
    axis.set_xticks(range(len(values)), values, fontsize=8)
    axis.set_xlim(-0.4, len(values) - 0.6)
    lowest, *others = sorted(shown.items(), key=lambda item: item[1])
    floor = lowest[1]  # published marks below it are not worth the room
    if others and others[0][1] > floor + _FAR:  # one value far below all others is told instead
        floor, place = others[0][1], values.index(lowest[0].value)
        color = _look_of(lowest[0].collection, names)["color"]
        foot = {"xy": (place, 0.02), "xycoords": ("data", "axes fraction"), "ha": "center", "va": "bottom"}
        axis.annotate(f"{lowest[1]:.1f} ▼", **foot, fontsize=8, color=color)
    axis.set_ylim(min(floor - 2, 90), 101)
    axis.grid(alpha=0.3)


def _look_of(collection: str, names: Sequence[str]) -> dict[str, Any]:
    place = names.index(collection)
    return {"marker": _MARKERS[place], "color": _COLORS[(0, 3, 5)[place % 3]]}


def _largest_shared_k(groups: Mapping[FactorValue, Mapping[int, Sequence[float]]]) -> int:
    """The largest k that every value was measured with; where they share none, the largest of all."""
    ks = [set(by_k) for by_k in groups.values()]
    return max(set.intersection(*ks) or set.union(*ks))


def plot_feedback(entries: Sequence[Entry], file: Path) -> Path:
    """Wrong joins that are left against the share of joins asked, one round; a row per method and person."""
    single = [entry for entry in entries if entry["rounds"] == 1]
    columns = sorted({entry["collection"] for entry in single}, key=place_collection)
    rows = list(dict.fromkeys((e["method"], e["error"]) for e in sorted(single, key=_method_and_person)))
    plt = import_pyplot()
    shape = (len(rows), len(columns))
    figure, axes = plt.subplots(*shape, figsize=(3.6 * shape[1], 2.9 * shape[0] + 0.6), squeeze=False)
    strategies = list(dict.fromkeys(entry["strategy"] for entry in single))
    for row, (method, error) in zip(axes, rows, strict=True):
        for axis, collection in zip(row, columns, strict=True):
            for place, strategy in enumerate(strategies):
                key = (collection, error, method, strategy)
                _draw_remaining(axis, [e for e in single if _feedback_key(e) == key], place, len(strategies))
            person = "no wrong answer" if error == 0 else f"{100 * error:.0f} % wrong answers"
            axis.set_title(f"{label_collection(collection)}, {method}, {person}", fontsize=9)
            top = max(1.0, axis.get_ylim()[1])
            axis.set(xlabel="joins asked, %", ylim=(-0.05 * top, top))
            axis.grid(alpha=0.3)
        row[0].set_ylabel("wrong joins left")
    return _finish(figure, axes.ravel(), file)


def _method_and_person(entry: Entry) -> tuple[int, float]:
    return list(METHODS).index(entry["method"]), entry["error"]


def _feedback_key(entry: Entry) -> tuple[str, float, str, str]:
    return entry["collection"], entry["error"], entry["method"], entry["strategy"]


def _draw_remaining(axis: Any, entries: Sequence[Entry], place: int, places: int) -> None:
    """Means over the seeds, from no question on; each a little aside, so that equal ones can be seen."""
    if not entries:
        return
    loads = sorted({entry["load"] for entry in entries})
    aside = 0.35 * (place - (places - 1) / 2)  # percent
    left = [np.mean([e["wrong_after"] for e in entries if e["load"] == load]) for load in loads]
    axis.plot(
        [aside, *(100 * load + aside for load in loads)],
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
    axis.set(
        title="time per pile", ylabel="times deshred's default", xlabel="documents mixed, k", yscale="log"
    )
    axis.yaxis.set_major_formatter("{x:g}")
    ks = sorted({k for _, k in found})
    axis.set_xticks(ks)
    axis.set_xlim(min(ks, default=1) - 0.5, max(ks, default=1) + 0.5)
    axis.grid(alpha=0.3)


def _draw_curve(axis: Any, curve: dict[int, list[float]], method: str) -> None:
    ks = list(curve)
    means = [average_many(values) for values in curve.values()]
    values = np.array([100 * mean.value for mean in means])
    margins = np.array([np.nan if mean.margin is None else 100 * mean.margin for mean in means])
    place = len(METHODS) - list(METHODS).index(method)  # where methods agree, ours is seen
    axis.plot(ks, values, label=label_method(method), markersize=5, zorder=2 + place / 100, **_STYLES[method])
    low, high = np.maximum(values - margins, 0), np.minimum(values + margins, 100)
    if len(ks) == 1:  # a band has no width there
        axis.vlines(ks, low, high, color=_STYLES[method]["color"], alpha=0.4)
    axis.fill_between(ks, low, high, color=_STYLES[method]["color"], alpha=0.15, linewidth=0)


def _draw_published(axis: Any, collection: str, methods: Sequence[str], *, most: int) -> None:
    """Hollow marks, in the color and shape of the method that stands for it here."""
    for method in methods:
        curve = {k: v for k, v in ACCURACY.get(collection, {}).get(method, {}).items() if k <= most}
        name, twin = _PUBLISHED[method]
        look = {**_STYLES[twin], **_HOLLOW}
        axis.plot(list(curve), list(curve.values()), label=f"{name} (published)", **look)


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


def _finish(figure: Any, axes: Sequence[Any], file: Path, *, columns: int = 3) -> Path:
    """One legend below all panels, each entry once."""
    entries: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    entries = dict(sorted(entries.items(), key=lambda entry: "(published" in entry[0]))  # ours come first
    columns = min(columns, len(entries), int(figure.get_figwidth() / _LEGEND_INCHES)) or 1
    rows = -(-len(entries) // columns)
    figure.tight_layout(rect=(0, (0.22 * rows + 0.1) / figure.get_figheight(), 1, 1))  # inches per line
    figure.legend(
        entries.values(), entries.keys(), loc="lower center", ncol=columns, frameon=False, fontsize=9
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=_PRINT_DPI)
    import_pyplot().close(figure)
    return file
