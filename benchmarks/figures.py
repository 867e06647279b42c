"""The figures in README and docs, written from `benchmarks/results`: none is typed by hand.

    python benchmarks/figures.py            write them
    python benchmarks/figures.py --check    say which files would change, and fail if any would

A block in a page stands between `<!-- figures: NAME -->` and `<!-- end of figures -->`.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = ("README.md", "docs/results.md", "docs/results-solver.md")
COLLECTIONS = {"s-marques": "S-Marques", "s-isri-ocr": "S-ISRI-OCR", "s-cdip": "S-CDIP"}
COMPLETE = {"s-marques": 60, "s-isri-ocr": 20, "s-cdip": 100}
PUBLISHED = {  # on the complete collections, k = 1 / all mixed, in percent
    "Marques (published, complete collections)": ((29.2, 22.6), (8.1, 4.2), (4.0, 0.3)),
    "Proposed-NN (published, complete collections)": ((94.6, 86.6), (87.4, 82.5), (82.3, 72.3)),
    "Proposed (published, complete collections)": ((96.7, 97.6), (95.5, 97.0), (91.7, 91.7)),
}
METHODS = {
    "default": "**towers + outline (default)**",
    "towers": "towers (ink alone)",
    "outline": "outline alone",
    "marques": "Marques (tones, greedy)",
}
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def load(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def accuracy_of(method: str, collection: str, k: str) -> float:
    mean: float = load(f"accuracy-{collection}-{method}")["accuracy"][k]["mean"]
    return mean


def readme() -> str:
    """All documents mixed: the paper, from ink alone, and the default."""
    published = PUBLISHED["Proposed (published, complete collections)"]
    mixed = {m: [accuracy_of(m, c, "all") for c in COLLECTIONS] for m in ("towers", "default")}
    at_hand = [len(load(f"accuracy-{c}-default")["documents"]) for c in COLLECTIONS]
    return table(
        ["all documents mixed", *COLLECTIONS.values()],
        [
            ["the paper, complete collections, GPU", *(f"{mixed_all} %" for _, mixed_all in published)],
            ["deshred from ink alone", *(f"{percent(share)} %" for share in mixed["towers"])],
            [
                "**deshred** (ink and torn outline)",
                *(f"**{percent(share)} %**" for share in mixed["default"]),
            ],
            [
                "documents at hand (of the complete collection)",
                *(f"{n} ({COMPLETE[c]})" for n, c in zip(at_hand, COLLECTIONS, strict=True)),
            ],
        ],
    )


def accuracy() -> str:
    """Every method, k = 1 / all mixed."""
    at_hand = {c: len(load(f"accuracy-{c}-default")["documents"]) for c in COLLECTIONS}
    head = ["method", *(f"{name} ({at_hand[c]} documents)" for c, name in COLLECTIONS.items())]
    rows = [[label, *(f"{a} / {b}" for a, b in pairs)] for label, pairs in PUBLISHED.items()]
    for method, label in METHODS.items():
        cells = [
            " / ".join(percent(accuracy_of(method, collection, k)) for k in ("1", "all"))
            for collection in COLLECTIONS
        ]
        rows.append([label, *cells])
    return table(head, rows)


def seeds() -> str:
    """Mean and standard deviation over the seeds of a training."""
    measured = load("seeds")["seeds"].values()
    rows = []
    for method in ("default", "towers"):
        cells = []
        for collection in COLLECTIONS:
            both = []
            for k in ("1", "all"):
                values = [100 * seed[collection][method][k] for seed in measured]
                both.append(f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}")
            cells.append(" / ".join(both))
        rows.append([METHODS[method].strip("*"), *cells])
    return table(["method", *COLLECTIONS.values()], rows)


def confidence() -> str:
    """What probabilities promised and kept, all mixed."""
    rows = []
    for collection, name in COLLECTIONS.items():
        reliability = load(f"accuracy-{collection}-default")["accuracy"]["all"]["reliability"]
        highest = next(one for one in reliability["bins"] if one["low"] == 0.9)
        right = round(highest["kept"] * highest["joins"])
        cells = [reliability["joins"], highest["joins"], right, f"{percent(reliability['error'])} %"]
        rows.append([name, *map(str, cells)])
    return table(["collection", "joins", "0.9 to 1.0", "of those right", "expected calibration error"], rows)


def pages() -> str:
    """Whole pages of mixed piles whose number of pages is not told."""
    rows = []
    for one in load("pages")["results"]:
        name = COLLECTIONS.get(one["collection"], "raw sheets of S-CDIP")
        joins = f"{one['asserted_right']} of {one['asserted']}"
        counts = [one["shreds"], one["documents"], one["pages"], one["perfect"]]
        rows.append([name, *map(str, counts), f"{percent(one['recall'])} %", joins, f"{one['gap']:.1g}"])
    head = ["pile", "shreds", "documents", "pages found", "documents whole", "true joins found"]
    return table([*head, "right of the joins with p >= 0.8", "gap"], rows)


def speed() -> str:
    """A real pile and growing simulated ones, against the paper's network in the same run."""
    rows = []
    for one in [*load("scoring-s-cdip"), *load("scoring-growth")]:
        total = sum(one["seconds"].values())
        stages = sorted(one["seconds"].items(), key=lambda stage: -stage[1])[:3]
        rows.append(
            [
                f"{one['shreds']:,}",
                f"{total:.1f}",
                f"{one['joins_per_second']:,.0f}",
                f"{one['scoring_ratio']:,.0f}",
                f"{one['ratio']:,.0f}",
                ", ".join(f"{name} {seconds / total:.0%}" for name, seconds in stages),
            ]
        )
    head = ["shreds", "seconds", "joins per second", "pairwise scores so many times longer"]
    return table([*head, "and takes so many times longer in all", "largest stages"], rows)


def solver() -> str:
    """Seconds until the order is proven, by family and size: median and worst where there are more."""
    runs: dict[str, dict[int, list[dict[str, Any]]]] = {}
    for run in load("arrangement")["runs"]:
        if run["pages"] == 1:
            runs.setdefault(run["family"], {}).setdefault(run["n"], []).append(run)
    sizes = sorted({n for family in runs.values() for n in family if n <= 5000})
    rows = [[name, *(_seconds(family.get(n, [])) for n in sizes)] for name, family in sorted(runs.items())]
    return table(["family", *(f"{n:,}" for n in sizes)], rows)


def _seconds(runs: list[dict[str, Any]]) -> str:
    if not runs:
        return "-"
    if not all(run["proven"] for run in runs):
        return f"gap {max(run['gap'] / run['cost'] for run in runs if run['cost']):.1%}"
    seconds = [run["seconds"] for run in runs]
    worst = f" / {max(seconds):.1f}" if len(seconds) > 1 else ""
    return f"{statistics.median(seconds):.2f}{worst}"


FIGURES: dict[str, Callable[[], str]] = {
    figure.__name__: figure for figure in (readme, accuracy, seeds, confidence, pages, speed, solver)
}


def write(text: str) -> str:
    """A page with all of its blocks made anew."""
    return BLOCK.sub(lambda block: block[1] + FIGURES[block[2]]() + block[3], text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing, and fail if a page would change"
    )
    check = parser.parse_args().check
    stale = []
    for name in PAGES:
        page = ROOT / name
        before = page.read_text(encoding="utf-8")
        after = write(before)
        if after != before:
            stale.append(name)
            if not check:
                page.write_text(after, encoding="utf-8")
    print(f"{'stale' if check else 'written'}: {', '.join(stale) or 'none'}")
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
