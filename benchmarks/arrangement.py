"""How fast the exact arrangement is, and what it proves: families of made-up piles, n = 25 to 10,000.

    python benchmarks/arrangement.py --out results            n = 25 ... 2,300, a few minutes
    python benchmarks/arrangement.py --out results --large    also 5,000
    python benchmarks/arrangement.py --out results --huge     also 10,000
    python benchmarks/arrangement.py --brute-force 5000       against Held-Karp instead
    python benchmarks/arrangement.py --sizes --scores case/compatibility.npz --copies 9 45 --out results
                                                              a scored pile, and copies of it in one

Writes arrangement.json and arrangement.png (with matplotlib); of a family and size measured anew, what was in
the folder before is replaced, the rest is kept. Seconds are CPU seconds of one core.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deshred.arrangement import ArrangementOptions, WarmStart, arrange
from deshred.cases import load_compatibility
from deshred.elements import Compatibility, Constraints, Margins
from deshred.errors import InfeasibleError

Scores = NDArray[np.float32]
SHREDS_PER_PAGE = 23
_LISTED, _COPY_NOISE = 64, 0.3  # joins of an edge; nats


@dataclass(frozen=True)
class Run:
    """One measurement."""

    family: str
    n: int
    seed: int
    pages: int
    seconds: float
    proven: bool
    cost: float
    gap: float


@dataclass(frozen=True)
class Copied:
    """A large pile of pages of limited width, made of copies of one that was scored, solved once."""

    pile: str
    n: int
    seconds: float  # of a processor
    gb: float  # more than before
    pages: int
    expected: int  # pages
    joins: int
    kept: int  # joins that are those of the single pile
    cost: float
    gap: float

    def to_text(self) -> str:
        return (
            f"{self.pile}, {self.n:,} shreds: {self.seconds:.1f} s, {self.gb:.2f} GB, {self.pages} pages for "
            f"{self.expected}, {self.kept:,} of {self.joins:,} joins those of the single pile, "
            f"gap {self.gap:.3g} of {self.cost:.6g}"
        )


@dataclass(frozen=True)
class Report:
    """All measurements; those of warm starts by family and kind of change."""

    runs: list[Run] = field(default_factory=list)
    warm: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    copied: list[Copied] = field(default_factory=list)

    def with_copied(self, one: Copied) -> Report:
        """A pile of copies, in place of an earlier run of the same."""
        kept = [other for other in self.copied if (other.pile, other.n) != (one.pile, one.n)]
        return replace(self, copied=[*kept, one])

    def with_runs(self, some: list[Run]) -> Report:
        """Runs of one family and size, in place of earlier ones."""
        new = {(run.family, run.n, run.pages) for run in some}
        kept = [run for run in self.runs if (run.family, run.n, run.pages) not in new]
        return replace(self, runs=kept + some)


def draw_pages(n: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Random pages of 20 to 26 shreds."""
    order, pages = rng.permutation(n), []
    while len(order):
        size = int(rng.integers(SHREDS_PER_PAGE - 3, SHREDS_PER_PAGE + 4))
        size = len(order) if len(order) - size < 5 else size
        pages.append(order[:size])
        order = order[size:]
    return pages


def true_joins(pages: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.concatenate([page[:-1] for page in pages]), np.concatenate([page[1:] for page in pages])


def probabilities(
    n: int, seed: int, *, blank: float = 0.02, inner: float = 0.03, decimals: int | None = None
) -> Scores:
    """A network's probabilities: weak true joins, false positives, blank edges that fit each other."""
    rng = np.random.default_rng(seed)
    pages = draw_pages(n, rng)
    scores = rng.beta(0.15, 6.0, (n, n)).astype(np.float32)
    for i in np.flatnonzero(rng.random(n) < 0.2):
        size = int(rng.integers(1, 4))
        scores[i, rng.integers(0, n, size)] = rng.uniform(0.5, 0.95, size)
    left, right = true_joins(pages)
    blank_right, blank_left = np.zeros(n, bool), np.zeros(n, bool)
    blank_left[[page[0] for page in pages]] = blank_right[[page[-1] for page in pages]] = True
    blank_both = rng.random(n) < blank
    blank_inner = rng.random(len(left)) < inner
    blank_right |= blank_both
    blank_left |= blank_both
    blank_right[left[blank_inner]] = blank_left[right[blank_inner]] = True
    rows, columns = np.flatnonzero(blank_right), np.flatnonzero(blank_left)
    scores[np.ix_(rows, columns)] = rng.uniform(0.3, 0.6, (len(rows), len(columns)))
    values = 1 - rng.beta(1, 30, len(left))
    weak = rng.random(len(left)) < 0.08
    values[weak] = rng.uniform(0.05, 0.6, int(weak.sum()))
    inked = ~(blank_right[left] & blank_left[right])
    scores[left[inked], right[inked]] = values[inked]
    if decimals is not None:
        scores = np.floor(scores * 10**decimals) / 10**decimals
    return scores.astype(np.float32)


def log_odds(n: int, seed: int, *, mean: float = 8.0, deviation: float = 3.0, weak: float = 0.08) -> Scores:
    """Noise of variance 1, true joins some deviations above it."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((n, n), dtype=np.float32)
    left, right = true_joins(draw_pages(n, rng))
    values = rng.normal(mean, deviation, len(left))
    lost = rng.random(len(left)) < weak
    values[lost] = rng.normal(1, 1, int(lost.sum()))
    scores[left, right] = values
    return scores


def symmetric_blank(n: int, seed: int) -> Scores:
    """Three shreds in ten are blank and fit each other both ways round."""
    scores = probabilities(n, seed)
    rng = np.random.default_rng(seed + 1000)
    blank = np.flatnonzero(rng.random(n) < 0.3)
    upper = np.triu(rng.uniform(0.3, 0.6, (len(blank), len(blank))), 1)
    scores[np.ix_(blank, blank)] = upper + upper.T
    return scores


def uniform(n: int, seed: int) -> Scores:
    """No signal at all."""
    return np.random.default_rng(seed).random((n, n), dtype=np.float32)


def flat(n: int, seed: int) -> Scores:
    """All scores equal."""
    del seed
    return np.full((n, n), 0.5, np.float32)


def look_alike(n: int, seed: int, *, share: float = 1.0) -> Scores:
    """Edges with features; a share of the shreds has two edges that look alike, so scores are symmetric."""
    rng = np.random.default_rng(seed)
    pages = draw_pages(n, rng)
    centers = rng.normal(size=(30, 4))
    left, right = (centers[rng.integers(0, 30, n)] + 0.3 * rng.normal(size=(n, 4)) for _ in range(2))
    alike = rng.random(n) < share
    for page in pages:
        for place, shred in enumerate(page):
            if place:
                left[shred] = right[page[place - 1]] + 0.25 * rng.normal(size=4)
            if alike[shred]:
                right[shred] = left[shred] + 0.1 * rng.normal(size=4)
    squares = (right**2).sum(1)[:, None] + (left**2).sum(1)[None] - 2 * right @ left.T
    return np.exp(-np.maximum(squares, 0) / 2).astype(np.float32)


def plane(n: int, seed: int) -> Scores:
    """Distances in the plane: the worst case, symmetric and without signal."""
    places = np.random.default_rng(seed).random((n, 2))
    squares = (places**2).sum(1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * places @ places.T, 0))
    return -distances.astype(np.float32)


FAMILIES: dict[str, Callable[[int, int], Scores]] = {
    "probabilities": probabilities,
    "probabilities, 2 decimals": lambda n, seed: probabilities(n, seed, decimals=2),
    "many blank": lambda n, seed: probabilities(n, seed, blank=0.15, inner=0.15),
    "ties": lambda n, seed: probabilities(n, seed, blank=0.15, inner=0.15, decimals=1),
    "log-odds": log_odds,
    "log-odds, hard": lambda n, seed: log_odds(n, seed, mean=4.0, deviation=2.0, weak=0.15),
    "symmetric blank block": symmetric_blank,
    "uniform": uniform,
    "flat": flat,
    "features": lambda n, seed: look_alike(n, seed, share=0.0),
    "features, 30 % alike": lambda n, seed: look_alike(n, seed, share=0.3),
}
WARM_FAMILIES = ("probabilities", "many blank", "log-odds", "features")
SYMMETRIC: dict[str, Callable[[int, int], Scores]] = {"features, all alike": look_alike, "plane": plane}


def as_pile(scores: Scores) -> Compatibility:
    n = len(scores)
    return Compatibility(tuple(f"s{i:05d}" for i in range(n)), scores, np.zeros((n, n), np.int16))


def measure(family: str, n: int, seed: int, pages: int, time_limit: float) -> Run:
    pile = as_pile({**FAMILIES, **SYMMETRIC}[family](n, seed))
    start = time.process_time()
    found = arrange(pile, options=ArrangementOptions(pages=pages, time_limit=time_limit))
    return Run(family, n, seed, pages, time.process_time() - start, found.is_optimal, found.cost, found.gap)


def measure_warm(pile: Compatibility, options: ArrangementOptions, changes: int) -> dict[str, list[float]]:
    """CPU seconds, proof included, of a first solve and of each solve after one changed constraint."""
    warm = WarmStart()
    start = time.process_time()
    best = arrange(pile, options=options, warm_start=warm)
    seconds = {
        "first solve": [time.process_time() - start],
        "forbidden": [],
        "required": [],
        "taken back": [],
    }
    index = {name: i for i, name in enumerate(pile.ids)}
    rng = np.random.default_rng(1)
    for at in rng.choice(len(best.joins), changes, replace=False):
        left, right = best.joins[at].left, best.joins[at].right
        row = pile.scores[index[left]].copy()
        row[[index[left], index[right]]] = -np.inf
        rival = pile.ids[int(row.argmax())]
        for kind, constraints in (
            ("forbidden", Constraints(forbidden=frozenset({(left, right)}))),
            ("taken back", Constraints()),
            ("required", Constraints(required=frozenset({(left, rival)}))),
        ):
            start = time.process_time()
            found = arrange(pile, constraints, options=options, warm_start=warm)
            seconds[kind].append(time.process_time() - start)
            if not found.is_optimal:
                print(f"not proven: gap {found.gap:.2g}", flush=True)
    return seconds


def copy_pile(pile: Compatibility, joins: set[tuple[int, int]], copies: int, noise: float) -> Compatibility:
    """Copies of a pile with noise on every score, mixed: only these joins stay within their copy."""
    rng, n = np.random.default_rng(copies), len(pile)
    rows, columns = pile.list_joins()
    best = np.lexsort(
        (columns, -pile.scores.ravel(), rows)
    )  # a dense pile becomes lists, as if it were large
    rank = np.empty(len(rows), np.int64)
    rank[best] = np.arange(len(rows)) - np.searchsorted(rows[best], rows[best])
    listed = np.isfinite(pile.scores.ravel()) & ((rank < _LISTED) | pile.is_sparse)
    rows, columns = rows[listed], columns[listed]
    scores, offsets = pile.scores.ravel()[listed], pile.offsets.ravel()[listed]
    is_own = np.array([pair in joins for pair in zip(rows.tolist(), columns.tolist(), strict=True)])
    keys, values = [], []
    for copy in range(copies):
        other = np.where(is_own, copy, rng.integers(0, copies, len(rows)))
        keys.append((rows + copy * n) * (copies * n) + columns + other * n)
        values.append(scores + rng.normal(0, noise, len(scores)).astype(np.float32))
    order = np.argsort(np.concatenate(keys), kind="stable")
    tails, heads = np.divmod(np.concatenate(keys)[order], copies * n)
    margins = pile.margins
    assert margins is not None
    return Compatibility(
        tuple(f"{copy:04d} {name}" for copy in range(copies) for name in pile.ids),
        np.concatenate(values)[order],
        np.tile(offsets, copies)[order],
        row_starts=np.searchsorted(tails, np.arange(copies * n + 1)).astype(np.int64),
        columns=heads.astype(np.int32),
        margins=Margins(
            *(
                (np.tile(side, copies) + rng.normal(0, noise, copies * n)).astype(np.float32)
                for side in (margins.starts, margins.ends)
            ),
            np.tile(margins.widths_mm, copies),
            None if margins.heights_mm is None else np.tile(margins.heights_mm, copies),
        ),
        calibration=pile.calibration,
    )


def measure_copies(name: str, pile: Compatibility, copies: int, time_limit: float) -> Copied:
    """Solve a pile, then so many copies of it in one, for so many seconds."""
    single, index = arrange(pile), {shred: i for i, shred in enumerate(pile.ids)}
    joins = {(index[join.left], index[join.right]) for join in single.joins}
    copied = copy_pile(pile, joins, copies, _COPY_NOISE)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    found = arrange(copied, options=ArrangementOptions(time_limit=time_limit))
    seconds = time.process_time() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    expected = {
        (f"{copy:04d} {pile.ids[i]}", f"{copy:04d} {pile.ids[j]}") for copy in range(copies) for i, j in joins
    }
    kept = sum((join.left, join.right) in expected for join in found.joins)
    return Copied(
        name,
        len(copied),
        seconds,
        (after - before) * 1024 / 1e9,
        len(found.pages),
        len(single.pages) * copies,
        len(found.joins),
        kept,
        found.cost,
        found.gap,
    )


def compare_with_brute_force(count: int, seed: int) -> int:
    """Random small piles against Held-Karp and enumeration; returns the number of wrong answers."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.arrangement.brute_force import (
        best_of,
        enumerate_orders,
        held_karp,
        held_karp_on_pages,
        obeys,
        pile,
        random_constraints,
        random_scores,
    )

    from deshred.arrangement.problem.pages import FILLED, WIDER, page_price

    wrong = infeasible = sparse = narrow = 0
    for at in range(count):
        rng = np.random.default_rng((seed, at))
        groups = at % 3 == 0
        n = int(rng.integers(1, 7 if groups else 10))
        pages = int(rng.integers(1, min(4, n) + 1))
        margins = None
        if rng.random() < 0.4:
            starts, ends, widths = rng.normal(size=(3, n)).astype(np.float32)
            margins = Margins(starts, ends, np.abs(widths))
        width = None
        if margins is not None and rng.random() < 0.6:
            width = 200.0
            margins = replace(margins, widths_mm=rng.uniform(20, 120, n).astype(np.float32))
        scores = random_scores(rng, n)
        shreds = full = pile(scores, margins)
        if n > 2 and np.isfinite(scores).all() and rng.random() < 0.3:
            shreds, full = best_of(scores, 2, margins)
            sparse += 1
        constraints = random_constraints(rng, shreds.ids, groups=groups)
        truth = np.inf
        if width is not None and margins is not None:
            total = float(margins.widths_mm.sum())
            if total <= FILLED * pages * WIDER * width:
                by_pages = enumerate_orders if groups else held_karp_on_pages
                truth = by_pages(full, constraints, pages, most_mm=WIDER * width)
                truth += pages * page_price(total, width)
                narrow += 1
        if truth == np.inf:
            truth = (enumerate_orders if groups else held_karp)(full, constraints, pages)
        options = ArrangementOptions(pages=pages, page_width_mm=width)
        try:
            found = arrange(shreds, constraints, options=options)
        except InfeasibleError:
            infeasible += 1
            if truth != np.inf:
                wrong += 1
                print(f"case {at}: refused instead of {truth}, {shreds}, {options}, {constraints}")
            continue
        order = [[slot.shred_id for slot in page] for page in found.pages]
        good = abs(found.cost - truth) < 2e-6 and found.is_optimal and obeys(order, constraints)
        if not good:
            wrong += 1
            print(f"case {at}: {found} instead of {truth}, {shreds}, {options}, {constraints}")
    print(
        f"{count} cases, {infeasible} infeasible, {sparse} sparse, {narrow} with pages of limited width: "
        f"{wrong} wrong"
    )
    return wrong


def plot(runs: list[Run], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5))
    colors = plt.get_cmap("tab20").colors  # type: ignore[attr-defined]
    families = [family for family in (*FAMILIES, *SYMMETRIC) if any(run.family == family for run in runs)]
    for family, color in zip(families, colors, strict=False):
        sizes = sorted({run.n for run in runs if run.family == family})
        medians = [np.median([r.seconds for r in runs if r.family == family and r.n == n]) for n in sizes]
        style = "--" if family in SYMMETRIC else "-"
        axes.plot(sizes, medians, style, marker="o", color=color, label=family)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="shreds",
        ylabel="CPU seconds, median",
        title="Exact arrangement; dashed: symmetric scores, stopped by the clock",
    )
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="folder for the JSON and the plot")
    parser.add_argument("--sizes", type=int, nargs="*", default=[25, 50, 100, 250, 500, 1000, 2300])
    parser.add_argument(
        "--families", nargs="+", choices=[*FAMILIES, *SYMMETRIC], default=[*FAMILIES, *SYMMETRIC]
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--pages", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument(
        "--symmetric-limit", type=float, default=20.0, help="the same for scores alike both ways round"
    )
    parser.add_argument("--large", action="store_true", help="also n = 5,000, one seed")
    parser.add_argument("--huge", action="store_true", help="also n = 10,000, one seed")
    parser.add_argument(
        "--warm", action="store_true", help="re-solve after one changed constraint, n = 2,300"
    )
    parser.add_argument(
        "--scores", nargs="*", type=Path, default=[], help="the same for compatibility.npz of runs"
    )
    parser.add_argument(
        "--copies", type=int, nargs="*", default=[], help="so many copies of each of those scores as one pile"
    )
    parser.add_argument(
        "--brute-force", type=int, metavar="COUNT", help="compare small piles with brute force"
    )
    arguments = parser.parse_args()
    if arguments.brute_force:
        return int(compare_with_brute_force(arguments.brute_force, 0) > 0)
    report = load(arguments.out) if arguments.out is not None else Report()
    for n in arguments.sizes + [5000] * arguments.large + [10000] * arguments.huge:
        for family in arguments.families:
            limit = arguments.symmetric_limit if family in SYMMETRIC else arguments.time_limit
            seeds = 1 if n >= 5000 else arguments.seeds
            some = [measure(family, n, 1 + seed, arguments.pages, limit) for seed in range(seeds)]
            print(describe(some), flush=True)
            report = report.with_runs(some)
            if arguments.out is not None:
                save(report, arguments.out)
    one_path = ArrangementOptions(pages=1)
    for family in WARM_FAMILIES if arguments.warm else ():
        report.warm[family] = measure_warm(as_pile(FAMILIES[family](2300, 1)), one_path, 12)
        print(describe_warm(f"{family}, n = 2,300", report.warm[family]), flush=True)
    for path in arguments.scores:
        pile = load_compatibility(path)
        for copies in arguments.copies:
            copied = measure_copies(path.stem, pile, copies, arguments.time_limit)
            print(copied.to_text(), flush=True)
            report = report.with_copied(copied)
            if arguments.out is not None:
                save(report, arguments.out)
        if arguments.copies:
            continue
        for name, options in ((path.stem, one_path), (f"{path.stem}, pages", ArrangementOptions())):
            report.warm[name] = measure_warm(pile, options, 12)
            print(describe_warm(f"{name}, n = {len(pile):,}", report.warm[name]), flush=True)
    if arguments.out is not None:
        save(report, arguments.out)
        plot(report.runs, arguments.out / "arrangement.png")
    return 0


def describe(runs: list[Run]) -> str:
    """One line for the runs of a family at one size."""
    seconds, proven = [run.seconds for run in runs], sum(run.proven for run in runs)
    gap = max(run.gap / max(abs(run.cost), 1e-9) for run in runs)
    return (
        f"{runs[0].family:27} n = {runs[0].n:5}: median {np.median(seconds):6.2f} s, "
        f"worst {max(seconds):6.2f} s, proven {proven}/{len(runs)}, worst gap {gap:.1e}"
    )


def describe_warm(pile: str, warm: dict[str, list[float]]) -> str:
    """One line for each kind of change."""
    return "\n".join(
        f"{pile}, {kind}: median {np.median(seconds):.2f} s, worst {max(seconds):.2f} s"
        for kind, seconds in warm.items()
    )


def load(folder: Path) -> Report:
    """What the folder holds from earlier runs."""
    path = folder / "arrangement.json"
    if not path.exists():
        return Report()
    content = json.loads(path.read_text())
    copied = [Copied(**one) for one in content.get("copied", [])]
    return Report([Run(**run) for run in content["runs"]], content["warm"], copied)


def save(report: Report, folder: Path) -> None:
    """Keep all measurements so far; what took an hour must not be lost in its last minute."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "arrangement.json").write_text(json.dumps(asdict(report), indent=1))


if __name__ == "__main__":
    sys.exit(main())
