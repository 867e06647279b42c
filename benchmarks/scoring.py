"""How quick are the scorers: seconds per stage and joins per second, towers against pairwise in one run.

    python benchmarks/scoring.py --sizes 25,100,400 -o bench/        simulated piles, a plot of growth;
                                                                     sizes measured before are kept
    python benchmarks/scoring.py --pile scans/ -o bench/             a pile on disk, from cold files to pages

The pairwise scorer is timed on a sample of its joins and scaled to all of them; everything else is run. Both
see the same shreds, one after the other on the same cores: read the ratio, not the seconds. What a whole run
takes, and its memory, is measured by `scaling.py`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from deshred import Settings, load_scorer, reconstruct
from deshred.compatibility.contract import EdgeScorer
from deshred.elements import ShredSet
from deshred.executors import SerialExecutor
from deshred.imaging.decoding import encode_png
from deshred.imaging.edges import extract_edges
from deshred.simulation.drawing import PAGE_KINDS, draw_page
from deshred.simulation.shredding import shred_page


@dataclass(frozen=True)
class Timing:
    """One pile: seconds of each stage with the default scorer, and what pairwise would need to score it."""

    made: int  # shreds in the pile
    shreds: int  # those that are not blank
    seconds: dict[str, float]
    joins_per_second: float
    pairwise_joins_per_second: float
    pairwise_seconds: float

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    @property
    def ratio(self) -> float:
        """How many times longer the whole run takes with the pairwise scorer."""
        own = self.seconds["encode"] + self.seconds["score"]
        return (self.total - own + self.pairwise_seconds) / self.total

    @property
    def scoring_ratio(self) -> float:
        """How many times longer the scoring alone takes with the pairwise scorer."""
        return self.pairwise_seconds / (self.seconds["encode"] + self.seconds["score"])

    def to_text(self) -> str:
        stages = ", ".join(
            f"{stage} {value:.2f} s ({value / self.total:.0%})" for stage, value in self.seconds.items()
        )
        return (
            f"{self.shreds} shreds: {self.total:.1f} s in all: {stages}\n"
            f"  {self.joins_per_second:,.0f} joins per second, "
            f"pairwise {self.pairwise_joins_per_second:,.1f}\n"
            f"  pairwise would score for {self.pairwise_seconds:,.0f} s: "
            f"{self.scoring_ratio:,.0f} times the scoring, {self.ratio:,.0f} times the whole"
        )


def simulate(folder: Path, count: int, rng: np.random.Generator) -> None:
    """Save so many simulated shreds of drawn pages as PNG files."""
    made = 0
    for kind in _kinds():
        for shred in shred_page(draw_page(kind, rng), rng):
            if made == count:
                return
            (folder / f"{made:05d}.png").write_bytes(encode_png(shred.image, shred.mask))
            made += 1


def _kinds() -> Iterator[str]:
    while True:
        yield from PAGE_KINDS


def time_pairwise(shreds: ShredSet, scorer: EdgeScorer, sample: int, rng: np.random.Generator) -> float:
    """Joins per second of the pairwise scorer on a random square block of the pile."""
    chosen = [shreds[int(i)] for i in rng.choice(len(shreds), min(sample, len(shreds)), replace=False)]
    start = time.perf_counter()
    edges = [extract_edges(shred, options=scorer.edge_options) for shred in chosen]
    rights = scorer.describe_rights([pair.right for pair in edges], SerialExecutor())
    lefts = scorer.describe_lefts([pair.left for pair in edges], SerialExecutor())
    scorer.compare(rights, lefts)
    return len(chosen) ** 2 / (time.perf_counter() - start)


def measure(paths: list[Path], default: EdgeScorer, pairwise: EdgeScorer, sample: int) -> Timing:
    result = reconstruct(paths, default, settings=Settings())
    count, made = len(result.shreds), len(result.shreds) + len(result.blank)
    seconds = {stage: round(value, 3) for stage, value in result.seconds.items()}
    rate = time_pairwise(result.shreds, pairwise, sample, np.random.default_rng(0))
    own = seconds["encode"] + seconds["score"]
    return Timing(made, count, seconds, count**2 / own, rate, count * (count - 1) / rate)


def save(timings: list[Timing], path: Path) -> None:
    content = [{**asdict(t), "ratio": t.ratio, "scoring_ratio": t.scoring_ratio} for t in timings]
    path.write_text(json.dumps(content, indent=1) + "\n")


def load(path: Path) -> list[Timing]:
    if not path.is_file():
        return []
    names = [field.name for field in fields(Timing)]
    return [Timing(**{name: row[name] for name in names}) for row in json.loads(path.read_text())]


def plot(timings: list[Timing], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
    sizes = [timing.shreds for timing in timings]
    for stage in timings[0].seconds:
        axis.plot(sizes, [max(t.seconds[stage], 1e-3) for t in timings], marker=".", label=stage)
    axis.plot(sizes, [t.total for t in timings], "k", marker="o", label="all stages")
    axis.plot(
        sizes, [t.pairwise_seconds for t in timings], "k--", label="pairwise scoring (scaled from a sample)"
    )
    axis.set(xscale="log", yscale="log", xlabel="shreds", ylabel="seconds")
    axis.legend(fontsize=7)
    axis.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="25,100,400,1000,2000", help="shreds of the simulated piles")
    parser.add_argument("--pile", nargs="*", type=Path, help="files and folders instead of simulated piles")
    parser.add_argument("--model", default="towers-default")
    parser.add_argument("--pairwise-model", default="pairwise-cdip")
    parser.add_argument("--sample", type=int, default=8, help="side of the block that pairwise is timed on")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    default = load_scorer("default", arguments.model)
    pairwise = load_scorer("pairwise", arguments.pairwise_model)
    if arguments.pile:
        timing = measure(arguments.pile, default, pairwise, arguments.sample)
        print(timing.to_text())
        save([timing], arguments.output / f"scoring-{arguments.pile[0].resolve().name}.json")
        return
    timings = load(arguments.output / "scoring-growth.json")
    for size in map(int, arguments.sizes.split(",")):
        if size in {timing.made for timing in timings}:
            continue
        with tempfile.TemporaryDirectory() as folder:
            simulate(Path(folder), size, np.random.default_rng(size))
            timing = measure([Path(folder)], default, pairwise, arguments.sample)
        print(timing.to_text(), flush=True)
        timings = sorted([*timings, timing], key=lambda timing: timing.made)
        save(timings, arguments.output / "scoring-growth.json")
        plot(timings, arguments.output / "scoring-growth.png")


if __name__ == "__main__":
    main()
