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

from scipy.stats import binomtest

from deshred.evaluation.experiments.paired import group_differences

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = (
    "README.md",
    "docs/results.md",
    "docs/results-solver.md",
    "docs/results-experiments.md",
    "docs/review.md",
    "docs/exports.md",
    "docs/cluster.md",
)
COLLECTIONS = {"s-marques": "S-Marques", "s-isri-ocr": "S-ISRI-OCR", "s-cdip": "S-CDIP"}
COMPLETE = {"s-marques": 60, "s-isri-ocr": 20, "s-cdip": 100}
PUBLISHED = {  # on the complete collections, k = 1 / all mixed, in percent
    "Marques (published, complete collections)": ((29.2, 22.6), (8.1, 4.2), (4.0, 0.3)),
    "Proposed-NN (published, complete collections)": ((94.6, 86.6), (87.4, 82.5), (82.3, 72.3)),
    "Proposed (published, complete collections)": ((96.7, 97.6), (95.5, 97.0), (91.7, 91.7)),
}
ASKED = {  # Pattern Recognition Letters 164 (2022), metric learning, opt-l, one round: start, 10 %, 25 %
    "s-marques": (93.51, 94.39, 95.15),
    "s-isri-ocr": (96.04, 97.11, 98.30),
    "s-cdip": (90.39, 92.39, 94.19),
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
    whole = {(e["collection"], e["method"]): e for e in experiment("incremental") if e["k"] == e["documents"]}
    mixed = {m: [whole[c, m]["mean"] for c in COLLECTIONS] for m in ("towers", "default")}
    at_hand = [whole[c, "default"]["documents"] for c in COLLECTIONS]
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


def scripts() -> str:
    """Joins of simulated piles in every script, and how far the probabilities were off."""
    found = {(row["script"], row["kinds"], row["scorer"], row["model"]): row for row in load("scripts")}
    columns = [("running text", "towers"), ("any", "towers"), ("any", "default")]
    names = list(dict.fromkeys(script for script, *_ in found))
    rows = [
        [name.replace("-", ", ").capitalize()]
        + [_change(found, *((name, *column, model) for model in ("before", "after"))) for column in columns]
        + [f"{percent(found[name, *columns[0], 'after']['calibration_error'])} %"]
        for name in names
    ]
    for row, name in zip(rows, names, strict=True):
        row.insert(2, _through_print(found[name, *columns[0], "after"]))
    head = [
        "script",
        "running text, ink alone",
        "cuts through print",
        "any page, ink alone",
        "any page, default",
    ]
    return table([*head, "calibration error (running text)"], rows) + _count_sure(load("scripts"))


def _through_print(row: dict[str, Any]) -> str:
    """What is found of the joins that were not cut through a gutter."""
    found, joins = row["found"] - row["gutters_found"], row["joins"] - row["gutters"]
    return f"{percent(found / joins)} % of {joins}"


def wear() -> str:
    """Joins from ink alone on worn pages, at three strengths, and how far the probabilities were off."""
    found = {(row["wear"], row["strength"], row["model"]): row for row in load("wear")}
    strengths = sorted({strength for kind, strength, _ in found if kind})
    rows = []
    for kind in dict.fromkeys(kind for kind, *_ in found):
        shown = strengths if kind else [0.0]
        errors = [found[kind, strength, "after"]["calibration_error"] for strength in shown]
        cells = [_change(found, (kind, one, "before"), (kind, one, "after")) for one in shown]
        cells += [""] * (len(strengths) - len(cells))
        rows.append([kind or "none", *cells, " / ".join(map(percent, errors)) + " %"])
    head = [f"strength {strength:g}" for strength in strengths]
    return table(["wear", *head, "calibration error"], rows) + _count_sure(load("wear"))


def _count_sure(rows: list[dict[str, Any]]) -> str:
    after = [row for row in rows if row["model"] == "after"]
    sure, wrong = (sum(row[key] for row in after) for key in ("sure", "sure_wrong"))
    return f"\nOf {sure:,} joins with a probability of at least 0.9 (after), {wrong} were wrong.\n"


def _change(rows: dict[Any, dict[str, Any]], before: Any, after: Any) -> str:
    shares = [percent(rows[key]["found"] / rows[key]["joins"]) for key in (before, after) if key in rows]
    return " to ".join(shares) + (" %" if shares else "-")


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


def turned() -> str:
    """Piles with half of their shreds upside down, beside the same piles upright."""
    rows = []
    for plain, one in zip(load("pages")["results"], load("pages-turned")["results"], strict=True):
        name = COLLECTIONS.get(one["collection"], "raw sheets of S-CDIP")
        whole = f"{plain['perfect']} / {one['perfect']} of {one['documents']}"
        accuracy = f"{percent(plain['accuracy'])} / {percent(one['accuracy'])} %"
        rows.append([name, accuracy, whole, f"{one['upright']} of {one['pages']}"])
    head = ["pile", "accuracy, upright / turned", "documents whole, upright / turned"]
    return table([*head, "pages found that are upright"], rows)


def missing() -> str:
    """Joins that are asserted when shreds are taken away."""
    rows = []
    parts = [load(f"pages-missing-{share}")["results"] for share in (10, 30)]
    for some, many in zip(*parts, strict=True):
        name = COLLECTIONS.get(some["collection"], "raw sheets of S-CDIP")
        cells = []
        for one in (some, many):
            cells.append(f"{one['asserted_right']} of {one['asserted']}")
            cells.append(f"{percent(one['asserted_right'] / one['touching'])} %")
        rows.append([name, *cells])
    head = ["pile", "10 % missing: right of asserted", "asserted of the true joins"]
    return table([*head, "30 % missing: right of asserted", "asserted of the true joins"], rows)


def blanks() -> str:
    """Simulated piles with their blank shreds: left aside, and placed by their outline."""
    rows = []
    for kind, name in (("drawn", "drawn pages"), ("intact", "ISRI-OCR pages")):
        piles = [pile for pile in load("hard")["blanks"] if pile["pages"] == kind]
        total = {key: sum(pile[key] for pile in piles) for key in piles[0] if key != "pages"}
        rows.append(
            [
                f"{len(piles)} piles of {name}",
                f"{total['placed']} of {total['blank']}",
                f"{total['right_of_placed']} of {total['joins_of_placed']}",
                f"{total['asserted_right']} of {total['asserted']}",
                f"{total['whole_before']} / {total['whole_after']} of {total['documents']}",
            ]
        )
    head = [
        "piles",
        "blank shreds placed",
        "their joins that are right",
        "joins with p >= 0.8 that are right",
    ]
    return table([*head, "documents whole, blank ones aside / placed"], rows)


def sides() -> str:
    """Simulated sheets with print on both sides, from one side and from both."""
    rows = []
    for tears, piles in load("hard")["sides"].items():
        cells = []
        for name in ("one", "two"):
            found = [pile[name] for pile in piles]
            whole = sum(one["whole"] for one in found)
            documents = sum(one["documents"] for one in found)
            recall = statistics.mean(one["recall"] for one in found)
            cells += [f"{whole} of {documents}", f"{percent(recall)} %"]
        rows.append([tears, *cells])
    head = ["tears", "fronts alone: pages whole", "true joins found"]
    return table([*head, "both sides: pages whole", "true joins found"], rows)


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


def scaling() -> str:
    """The whole command by stages: a real pile with two versions in the same run, and made piles."""
    rows = []
    piles = {"S-CDIP": load("scaling-s-cdip"), "made": load("scaling-made")}
    told = {
        "other": " before",
        "earlier": ", an older version",
    }
    for pile, runs in piles.items():
        for run in sorted(runs, key=lambda one: (one["made"], not one["version"].startswith("other"))):
            stages = sorted(run["stages"].items(), key=lambda stage: -stage[1]["processor_seconds"])[:6]
            rows.append(
                [
                    f"{pile}, {run['made']:,}{told.get(run['version'], '')}",
                    f"{run['processor_seconds']:.1f}",
                    f"{1000 * run['processor_seconds'] / run['made']:.0f}",
                    f"{max(stage['own_gb'] for stage in run['stages'].values()):.1f} / {run['peak_gb']:.1f}",
                    ", ".join(f"{name} {stage['processor_seconds']:.1f}" for name, stage in stages),
                ]
            )
    head = ["pile, shreds", "seconds of processors", "ms per shred", "GB of its own / resident"]
    return table([*head, "largest stages"], rows)


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


def experiment(name: str) -> list[dict[str, Any]]:
    return list(load(f"experiments/{name}")["results"].values())


EXPERIMENT_METHODS = {  # as short as a table wants them
    "default": "**default**",
    "towers": "ink alone",
    "pairwise": "pairwise network",
    "pairwise-nn": "pairwise network, nearest neighbor",
    "pairwise-still": "pairwise network, no shifts",
    "pairwise-still-nn": "pairwise network, no shifts, nearest neighbor",
    "words": "words",
    "characters": "characters, 5 px, mean of 10 alphabets (2019 as meant)",
    "characters-2020": "characters, 10 px, best of 10 by truth (as run in 2020)",
    "marques": "Marques",
    "marques-2020": "Marques with overflowing bytes (as run in 2020)",
}


def mixing() -> str:
    """Accuracy as documents are mixed."""
    entries = experiment("incremental")
    ks = sorted({entry["k"] for entry in entries})
    rows = []
    for collection, name in COLLECTIONS.items():
        for method, label in EXPERIMENT_METHODS.items():
            own = {e["k"]: e for e in entries if (e["collection"], e["method"]) == (collection, method)}
            if own:
                shares = [one["accuracy"] for one in own[1]["instances"]]
                perfect, poor = sum(share == 1 for share in shares), sum(share < 0.7 for share in shares)
                cells = [percent(own[k]["mean"]) if k in own else "" for k in ks]
                rows.append([name, label, *cells, f"{perfect} of {len(shares)}", str(poor)])
    return table(["collection", "scorer", *(f"k = {k}" for k in ks), "perfect at k = 1", "below 70 %"], rows)


def rivals() -> str:
    """Every method at k = 1, beside what the authors stored for the same documents."""
    stored = load("experiments/stored")["results"]
    entries = [entry for entry in experiment("comparison") if entry["k"] == 1]
    rows = []
    for method, label in EXPERIMENT_METHODS.items():
        cells: list[str] = []
        for collection in COLLECTIONS:
            own = {
                entry["instance"][0]: 100 * entry["accuracy"]
                for entry in entries
                if (entry["collection"], entry["method"]) == (collection, method)
            }
            known = {n: v.get(method) for n, v in stored.get(collection, {}).items()}
            both = [n for n in own if known.get(n) is not None]
            cells.append(f"{statistics.mean(own.values()):.1f} ({len(own)})" if own else "")
            if collection in stored:
                same = statistics.mean(own[n] for n in both) if both else 0.0
                cells.append(f"{same:.1f} / {statistics.mean(known[n] for n in both):.1f}" if both else "")
        if any(cells):
            rows.append([label, *cells])
    head = ["method", "S-Marques", "same documents: here / stored", "S-ISRI-OCR"]
    return table([*head, "same documents: here / stored", "S-CDIP"], rows)


def paired() -> str:
    """The default and each other method, document by document at k = 1."""
    found = group_differences(experiment("comparison"))
    rows = []
    for method, label in EXPERIMENT_METHODS.items():
        cells = []
        for collection in COLLECTIONS:
            values = found.get((collection, method))
            if values:
                better, worse = sum(v > 1e-9 for v in values), sum(v < -1e-9 for v in values)
                counts = f"{better} / {len(values) - better - worse} / {worse}"
                chance = binomtest(better, better + worse).pvalue if better + worse else 1.0
                shown = f"p = {chance:.2g}" if chance >= 0.0001 else "p < 0.0001"
                cells.append(f"{counts}; {100 * statistics.mean(values):+.1f}; {shown}")
            else:
                cells.append("")
        if any(cells):
            rows.append([label, *cells])
    return table(["deshred's default against", *COLLECTIONS.values()], rows)


def crowding() -> str:
    """Every method as documents are mixed, on the same piles."""
    groups: dict[tuple[str, str, int], list[float]] = {}
    for entry in experiment("comparison"):
        key = (entry["collection"], entry["method"], entry["k"])
        groups.setdefault(key, []).append(entry["accuracy"])
    ks = sorted({k for _, _, k in groups})
    rows = []
    for collection, name in COLLECTIONS.items():
        for method, label in EXPERIMENT_METHODS.items():
            own = [groups.get((collection, method, k)) for k in ks]
            if any(own):
                cells = [f"{percent(statistics.mean(one))} ({len(one)})" if one else "" for one in own]
                rows.append([name, label, *cells])
    return table(["collection", "method", *(f"k = {k}" for k in ks)], rows)


def choices() -> str:
    """Every value of every factor, one column per k."""
    groups: dict[tuple[int, str, str, str], dict[int, float]] = {}
    ks: set[int] = set()
    for entry in experiment("ablation"):
        steps, shift = entry["steps"], entry.get("shift")
        budget = f"{steps} steps" if steps else "shipped"
        budget += "" if shift in (None, 10) else f", v_shift {shift}"
        place = list(COLLECTIONS).index(entry["collection"])
        key = (place, entry["factor"], entry["value"], f"{budget}, {entry['documents']} documents")
        groups.setdefault(key, {})[entry["k"]] = entry["mean"]
        ks.add(entry["k"])
    rows = []

    def where(key: tuple[int, str, str, str]) -> tuple[int, str, tuple[float, ...]]:
        numbers = re.findall(r"\d+(?:\.\d+)?", key[2]) if key[2][0].isdigit() else []
        return *key[:2], tuple(map(float, numbers))

    for (place, factor, value, budget), own in sorted(groups.items(), key=lambda item: where(item[0])):
        cells = [percent(own[k]) if k in own else "" for k in sorted(ks)]
        rows.append([list(COLLECTIONS.values())[place], factor, value, budget, *cells])
    return table(["collection", "factor", "value", "model", *(f"k = {k}" for k in sorted(ks))], rows)


def asking() -> str:
    """Wrong joins left after questions, our default scores."""
    groups: dict[tuple[int, float, float, int], list[dict[str, Any]]] = {}
    for entry in experiment("feedback"):
        if entry["method"] == "default" and entry["load"] in (0.1, 0.25) and entry["rounds"] != 2:
            place = list(COLLECTIONS).index(entry["collection"])
            groups.setdefault((place, entry["error"], entry["load"], entry["rounds"]), []).append(entry)
    strategies = list(dict.fromkeys(entry["strategy"] for own in groups.values() for entry in own))
    rows = []
    for (place, error, share, rounds), own in sorted(groups.items()):
        name = list(COLLECTIONS.values())[place]
        before = f"{own[0]['wrong_before']} ({percent(own[0]['before'])} %)"
        left = [_left([entry for entry in own if entry["strategy"] == one]) for one in strategies]
        rows.append([name, f"{100 * error:.0f} %", f"{100 * share:.0f} %", str(rounds), before, *left])
    return table(["collection", "wrong answers", "asked", "rounds", "wrong before", *strategies], rows)


def _left(entries: list[dict[str, Any]]) -> str:
    return f"{statistics.mean(entry['wrong_after'] for entry in entries):.3g}" if entries else ""


def _runs(*key: str) -> list[dict[str, Any]]:
    """The runs of `benchmarks/review.py` whose names begin so, one per seed."""
    start = " ".join(key) + " "
    return [run for name, run in load("review").items() if name.startswith(start)]


def reviewing() -> str:
    """Pages found by the solver: what simulated people make of them."""
    rows = []
    for person in ("perfect", "wrong:0.05"):
        for collection, name in COLLECTIONS.items():
            runs = _runs(collection, "pages", "default", "queue", person)
            if not runs:
                continue
            documents = runs[0]["documents"]
            rows.append(
                [
                    name,
                    "perfect" if person == "perfect" else "5 % wrong",
                    f"{_each(runs, 'whole', 0)} → {_each(runs, 'whole', -1)} of {documents}",
                    f"{_mean(runs, 'precision', 0):.4f} → {_mean(runs, 'precision', -1):.4f}",
                    f"{_mean(runs, 'recall', 0):.4f} → {_mean(runs, 'recall', -1):.4f}",
                    ", ".join(_whole_after(run) for run in runs),
                    f"{_each(runs, 'questions', -1)} ({_mean(runs, 'seconds', -1) / 60:.0f} min)",
                ]
            )
    head = ["collection", "person", "whole documents", "precision of joins", "recall", "all whole after"]
    return table([*head, "asked in all"], rows)


def _each(runs: list[dict[str, Any]], column: str, at: int) -> str:
    values = [str(run[column][at]) for run in runs]
    return values[0] if len(set(values)) == 1 else ", ".join(values)


def _mean(runs: list[dict[str, Any]], column: str, at: int) -> float:
    return statistics.mean(run[column][at] for run in runs)


def _whole_after(run: dict[str, Any]) -> str:
    """From which question on every document stays whole."""
    broken = [k for k, whole in enumerate(run["whole"]) if whole < run["documents"]]
    first = broken[-1] + 1 if broken else 0
    if first == len(run["whole"]):
        return "never"
    asked: int = run["questions"][first]
    return f"{asked} ({percent(asked / run['joins'])} %)"


def paths() -> str:
    """One path with free ends, as published: accuracy against the share of joins asked about."""
    rows = []
    for collection, name in COLLECTIONS.items():
        start, *later = ASKED[collection]
        cells = [f"{after:.2f} ({_removed(start, after)})" for after in later]
        rows.append([name, "published, complete collection", "perfect", f"{start:.2f}", *cells])
        for scorer, label in (("towers", "ink alone"), ("default", "with outline")):
            kinds = (("queue", "perfect"), ("queue", "wrong:0.05"), ("opt-l", "perfect"))
            for strategy, person in kinds:
                runs = _runs(collection, "path", scorer, strategy, person)
                if runs:
                    told = "perfect" if person == "perfect" else "5 % wrong"
                    rows.append([name, f"{label}, {strategy}", told, *_path_cells(runs)])
    return table(["collection", "scores and questions", "person", "start", "10 % asked", "25 % asked"], rows)


def _path_cells(runs: list[dict[str, Any]]) -> list[str]:
    at = [[100 * _accuracy_at(run, share) for share in (0.0, 0.1, 0.25)] for run in runs]
    start, *later = (statistics.mean(column) for column in zip(*at, strict=True))
    return [f"{start:.2f}", *(f"{after:.2f} ({_removed(start, after)})" for after in later)]


def _accuracy_at(run: dict[str, Any], share: float) -> float:
    """After so many questions, or as many as there were."""
    asked = int(share * run["joins"])
    found: float = next(
        (a for n, a in zip(run["questions"], run["accuracy"], strict=True) if n >= asked), run["accuracy"][-1]
    )
    return found


def _removed(start: float, after: float) -> str:
    return "-" if start >= 99.995 else f"{100 * (after - start) / (100 - start):.0f} %"


def board() -> str:
    """Times and memory of the review board, made piles."""
    told = {
        "start": ("server start", "s", 3.0),
        "start_cpu": ("of it processor, server", "s", None),
        "first_paint": ("first paint", "s", 1.0),
        "overview": ("overview complete", "s", 2.5),
        "overview_cpu": ("of it processor, server", "s", None),
        "page_open": ("page open", "s", 0.3),
        "page_open_cpu": ("of it processor, server", "s", None),
        "logged": ("own change on disk and on screen", "s", 0.03),
        "certified": ("from the key to the solved layout", "s", 1.5),
        "certified_cpu": ("of it processor, server and solver", "s", None),
        "question": ("next question", "s", 0.05),
        "server_mb": ("server, own memory", "MB", 600),
        "solver_mb": ("solver, own memory", "MB", None),
        "tab_mb": ("tab, script memory", "MB", 500),
    }
    found = load("review-times")
    rows = [
        ["pages", *(f"{one['pages']:,}" for one in found), ""],
        ["programs that wanted one of the two cores", *(f"{one['load']:.0f}" for one in found), ""],
        ["layout proven optimal", *("yes" if one["proven"] else "no" for one in found), ""],
    ]
    for key, (name, unit, goal) in told.items():
        digits = 0 if unit == "MB" else 2
        known = [one[key] for one in found]
        cells = ["not in 2 min" if value is None else f"{value:,.{digits}f} {unit}" for value in known]
        rows.append([name, *cells, "" if goal is None else f"< {goal:g} {unit}"])
    return table(["", *(f"{one['shreds']:,} shreds" for one in found), "goal at 2,300"], rows)


READ = {"s-isri-ocr": "S-ISRI-OCR", "s-marques": "S-Marques, `por`", "drawn": "drawn, against what was drawn"}


def reading() -> str:
    """Words found and character errors in every copy, and on how many pages mending made words worse."""
    copies = {
        "intact": "intact page",
        "evidence": "evidence copy",
        "mended": "the same, seams mended",
        "reading": "reading copy",
    }
    rows = []
    for name, label in READ.items():
        losses = load(f"reading-{name}")
        found = {copy: {loss["document"]: loss for loss in losses if loss["copy"] == copy} for copy in copies}
        pages = list(found["evidence"])
        cells = [_read_share(list(own.values())) for own in found.values()]
        changes = [found["mended"][page]["found"] - found["evidence"][page]["found"] for page in pages]
        better, worse = sum(change > 0 for change in changes), sum(change < 0 for change in changes)
        counts = f"{better} / {len(pages) - better - worse} / {worse}"
        rows.append([f"{label} ({len(pages)})", *cells, counts])
    return table(["pages", *copies.values(), "mended: better / same / worse"], rows)


def _read_share(losses: list[dict[str, Any]]) -> str:
    if not losses:
        return "(is the truth)"
    found, errors = (statistics.mean(loss[key] for loss in losses) for key in ("found", "errors"))
    return f"{percent(found)} %, CER {percent(errors)} %"


def searching() -> str:
    """Different words of four letters and more that search finds, and words it finds that are not there."""
    rows = []
    for name in ("s-isri-ocr", "drawn"):
        pages = load(f"searching-{name}")
        shares = [statistics.mean(page[key] for page in pages) for key in ("exact", "tolerant", "wrong")]
        label = READ[name].partition(",")[0]
        rows.append([f"{label} ({len(pages)})", *(f"{percent(share)} %" for share in shares)])
    return table(["pages", "found exactly", "found tolerantly", "found, but not there"], rows)


def exporting() -> str:
    """What exports take, of a case of one page and of one with more."""
    costs = load("exporting")
    sizes = sorted({cost["pages"] for cost in costs})
    rows = []
    for what in dict.fromkeys(cost["what"] for cost in costs):
        own = {cost["pages"]: cost for cost in costs if cost["what"] == what}
        most = own[max(own)]
        per_page = [f"{most[key] / most['pages']:.1f}" for key in ("seconds", "size_mb")]
        rows.append([what, *per_page, " / ".join(_memory(own.get(size)) for size in sizes)])
    memory = f"memory in MB, cases of {' / '.join(map(str, sizes))} pages"
    return table(["export", "processor seconds a page", "MB a page", memory], rows)


def _memory(cost: dict[str, Any] | None) -> str:
    return "–" if cost is None else f"{cost['memory_mb']:.0f}"


TASKS = {  # of benchmarks/cluster.py: what it is, where it was measured, what a unit is
    "cut": ("read and cut a sheet", "sheets", "sheets"),
    "describe": ("describe the edges of a shred", "listed", "shreds"),
    "compare_pair": ("compare in full, up to `dense_limit` shreds", "dense", "joins"),
    "compare_chosen": ("compare what stood out", "listed", "joins"),
}


def tasks() -> str:
    """What a unit of each kind of task takes a worker, and what travels for it."""
    measured = load("cluster")
    rows = []
    for kind, (label, where, unit) in TASKS.items():
        pile = measured[where]
        one, count = pile["tasks"][kind], pile["shreds"] ** 2 if unit == "joins" else pile[unit]
        cells = [
            f"{1e3 * one['seconds'] / count:.3g} ms",
            *(_bytes(one[way] / count) for way in ("read", "written")),
        ]
        rows.append([label, *cells, _bytes(one["sent"] / one["count"])])
    look = measured["look"]
    rows.append(
        ["look at a join", f"{1e3 * look['join_seconds']:.2g} ms", *["shared by all joins"] * 2, "5 kB"]
    )
    here = measured["listed"]
    for stage, label in (("decode", "read a shred"), ("prepare", "set blank ones aside, cut edges")):
        cost = f"{1e3 * here['stages'][stage] / here['shreds']:.3g} ms"
        rows.append([f"{label}: the machine of the command", cost, "", "", ""])
    return table(["work", "processor", "reads", "writes", "a task, through Dask"], rows)


def _bytes(count: float) -> str:
    if count < 1e3:
        return f"{count:.0f} bytes"
    return f"{count / 1e3:.3g} kB" if count < 1e6 else f"{count / 1e6:.2g} MB"


def workers() -> str:
    """The whole command alone, and with one and two workers."""
    measured = load("cluster")
    piles: dict[str, list[dict[str, Any]]] = {}
    for run in measured["runs"]:
        piles.setdefault(run["pile"], []).append(run)
    rows = []
    for name, runs in piles.items():
        count = measured["sheets" if name == "sheets" else "listed"]["shreds"]
        for run in runs:
            longest = run["own_seconds"] + max(run["worker_seconds"], default=0.0)
            rows.append(
                [
                    f"{count} shreds{', on sheets' if name == 'sheets' else ''}",
                    str(run["workers"] or "none"),
                    f"{run['own_seconds']:.1f}",
                    ", ".join(f"{seconds:.1f}" for seconds in run["worker_seconds"]),
                    f"{runs[0]['own_seconds'] / longest:.2f}",
                    "yes" if run["is_equal"] else "**no**",
                ]
            )
    head = [
        "pile",
        "workers",
        "command and scheduler",
        "each worker",
        "gain, processors free",
    ]
    return table([*head, "equal bits"], rows)


def cluster() -> str:
    """What larger piles would take."""
    rows = []
    for row in load("cluster")["estimate"]:
        seconds = [f"{value / 60:.1f}" for value in row["seconds"].values()]
        label = f"{row['shreds']:,}{' on sheets' if row['kind'] == 'sheets' else ''}"
        rows.append([label, str(row["processors"]), *seconds])
    head = ["shreds", "processors of the machine of the command", "no cluster", "2 workers", "16", "64"]
    return table(head, rows)


FIGURES: dict[str, Callable[[], str]] = {
    figure.__name__: figure
    for figure in (
        readme,
        accuracy,
        seeds,
        scripts,
        wear,
        confidence,
        pages,
        turned,
        missing,
        blanks,
        sides,
        speed,
        scaling,
        solver,
        mixing,
        rivals,
        paired,
        crowding,
        choices,
        asking,
        reviewing,
        paths,
        board,
        reading,
        searching,
        exporting,
        tasks,
        workers,
        cluster,
    )
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
