"""Accuracy of every method on every public collection at hand: the table of the README, JSON and a plot.

    python benchmarks/accuracy.py ../shared/data -o benchmarks/results --cache /tmp/scores

Cross-database as in the paper: what is measured on S-Marques and S-ISRI-OCR was trained on CDIP pages,
what is measured on S-CDIP on ISRI pages. `--keep` takes results that the output folder already holds.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deshred.arrangement import ArrangementOptions
from deshred.cases import to_json, write_atomically
from deshred.compatibility.scorers import load_scorer
from deshred.evaluation.collections import open_collection
from deshred.evaluation.protocol import EvaluationOptions, K, evaluate

COLLECTIONS = {"s-marques": "S-Marques", "s-isri-ocr": "S-ISRI-OCR", "s-cdip": "S-CDIP"}


def cross_database(family: str) -> dict[str, str]:
    return {"s-marques": f"{family}-cdip", "s-isri-ocr": f"{family}-cdip", "s-cdip": f"{family}-isri"}


@dataclass(frozen=True)
class Method:
    """One row of the table."""

    label: str
    scorer: str
    solver: str = "exact"
    models: Mapping[str, str] = field(default_factory=dict)  # by collection
    ks: tuple[K, ...] = (1, "all")


METHODS = {
    "marques": Method("Marques (tones, greedy)", "marques", "greedy"),
    # All pairs of a mixed pile take hours with a pairwise network: single documents only.
    "pairwise-greedy": Method("pairwise, greedy", "pairwise", "greedy", cross_database("pairwise"), (1,)),
    "pairwise": Method(
        "pairwise (the paper's network)", "pairwise", "exact", cross_database("pairwise"), (1,)
    ),
    "outline": Method("outline alone", "outline"),
    "towers": Method("towers (ink alone)", "towers", "exact", cross_database("towers")),
    "default": Method("towers + outline (default)", "default", "exact", cross_database("towers")),
}


@dataclass(frozen=True)
class Published:
    """A row of the paper, on the complete collections: (k = 1, all mixed) in percent."""

    label: str
    accuracy: Mapping[str, tuple[float, float]]


PUBLISHED = (
    Published("Marques", {"s-marques": (29.2, 22.6), "s-isri-ocr": (8.1, 4.2), "s-cdip": (4.0, 0.3)}),
    Published("Proposed-NN", {"s-marques": (94.6, 86.6), "s-isri-ocr": (87.4, 82.5), "s-cdip": (82.3, 72.3)}),
    Published("Proposed", {"s-marques": (96.7, 97.6), "s-isri-ocr": (95.5, 97.0), "s-cdip": (91.7, 91.7)}),
)

Results = dict[tuple[str, str], dict[str, Any]]  # (method, collection) -> JSON of the evaluation


def measure(method: Method, collection: Path, *, seed: int, cache: Path | None) -> dict[str, Any]:
    arrangement = ArrangementOptions(solver=method.solver, pages=1)
    result = evaluate(
        open_collection(collection),
        load_scorer(method.scorer, method.models.get(collection.name)),
        options=EvaluationOptions(ks=method.ks, seed=seed, arrangement=arrangement),
        cache=cache,
    )
    print(result.to_text(), end="\n\n", flush=True)
    return result.to_dict()


def to_markdown(results: Results, methods: Sequence[str]) -> str:
    """One row per method: accuracy in % at k = 1 / all mixed, and seconds for both together."""
    shown = [name for name in COLLECTIONS if any(collection == name for _, collection in results)]
    heads = []
    for name in shown:
        documents = next(len(r["documents"]) for (_, collection), r in results.items() if collection == name)
        heads.append(f"{COLLECTIONS[name]} ({documents} documents)")
    lines = ["| method | " + " | ".join(heads) + " |", "|---" * (len(shown) + 1) + "|"]
    for published in PUBLISHED:
        cells = [f"{published.accuracy[name][0]} / {published.accuracy[name][1]}" for name in shown]
        lines.append(f"| {published.label} (published, complete collections) | " + " | ".join(cells) + " |")
    for method in methods:
        cells = [_cell(results[method, name]) if (method, name) in results else "" for name in shown]
        lines.append(f"| {METHODS[method].label} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _cell(result: dict[str, Any]) -> str:
    means = [f"{100 * result['accuracy'][k]['mean']:.1f}" for k in ("1", "all") if k in result["accuracy"]]
    return f"{' / '.join(means)} ({sum(result['seconds'].values()):.0f} s)"


def plot(results: Results, methods: Sequence[str], file: Path) -> None:
    """Accuracy at k = 1 with its confidence interval; the published one as a line."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(COLLECTIONS), figsize=(12, 4), sharey=True, layout="constrained")
    for axis, name in zip(axes, COLLECTIONS, strict=True):
        measured = [method for method in methods if (method, name) in results]
        single = [results[method, name]["accuracy"]["1"] for method in measured]
        margins = [100 * (result["ci95"] or 0) for result in single]
        axis.bar(measured, [100 * result["mean"] for result in single], yerr=margins, color="#4878a8")
        axis.axhline(PUBLISHED[-1].accuracy[name][0], color="#c44e52", linestyle="--", label="the paper")
        axis.set(title=COLLECTIONS[name], ylim=(0, 102))
        axis.tick_params(axis="x", rotation=45)
    axes[0].set_ylabel("accuracy at k = 1, %")
    axes[0].legend(loc="lower right")
    figure.savefig(file, dpi=120)


def plot_reliability(results: Results, file: Path) -> None:
    """What probabilities of joins promise against what they keep, all documents mixed."""
    import matplotlib.pyplot as plt

    shown = [name for name in COLLECTIONS if ("default", name) in results]
    figure, axes = plt.subplots(
        1, len(shown), figsize=(4 * len(shown), 4), layout="constrained", squeeze=False
    )
    for axis, name in zip(axes[0], shown, strict=True):
        reliability = results["default", name]["accuracy"]["all"]["reliability"]
        bins = reliability["bins"]
        axis.plot([0, 1], [0, 1], color="#999999", linestyle="--")
        sizes = [20 + 300 * entry["joins"] / reliability["joins"] for entry in bins]
        axis.scatter([b["promised"] for b in bins], [b["kept"] for b in bins], s=sizes, color="#4878a8")
        for entry in bins:
            axis.annotate(entry["joins"], (entry["promised"], entry["kept"]), fontsize=7)
        axis.set(
            title=f"{COLLECTIONS[name]}: calibration error {reliability['error']:.1%}",
            xlabel="probability of the join",
            ylabel="share of right joins",
        )
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Regenerate the table of accuracies.")
    parser.add_argument("data", type=Path, help=f"folder that holds {', '.join(COLLECTIONS)}")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--methods", default=",".join(METHODS), help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, help="keep scores here: a killed run goes on")
    parser.add_argument("--keep", action="store_true", help="do not repeat what the output folder holds")
    arguments = parser.parse_args()

    methods = arguments.methods.split(",")
    results: Results = {}
    for method in methods:
        for name in COLLECTIONS:
            file = arguments.output / f"accuracy-{name}-{method}.json"
            if not (arguments.keep and file.is_file()):
                content = measure(
                    METHODS[method], arguments.data / name, seed=arguments.seed, cache=arguments.cache
                )
                write_atomically(file, to_json(content).encode())
            results[method, name] = json.loads(file.read_text(encoding="utf-8"))
    table = to_markdown(results, methods)
    write_atomically(arguments.output / "accuracy.md", table.encode())
    plot(results, methods, arguments.output / "accuracy.png")
    if "default" in methods:
        plot_reliability(results, arguments.output / "reliability.png")
    print(table)


if __name__ == "__main__":
    main()
