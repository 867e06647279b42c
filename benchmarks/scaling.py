"""How a run grows with its pile: cold files to pages, seconds and peak memory of every stage.

    python benchmarks/scaling.py -o bench/                              made shreds: 25, 100, 400, 1000
    python benchmarks/scaling.py --sizes 2300,20000 -o bench/           more of them; measured sizes are kept
    python benchmarks/scaling.py --pile scans/ -o bench/                a pile on disk
    python benchmarks/scaling.py --against ../base/src --sizes 400 -o bench/     the same with another version
    python benchmarks/scaling.py --sizes "" --foresee 20000,100000 -o bench/     what larger piles would take

Every run is the whole command `deshred reconstruct` in a process of its own, and every second of it belongs
to a stage: "start" is Python and its imports, "between" what no stage counts. On a busy machine read the
seconds of processors, and of two versions the ratio: they run one after the other on the same files.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

_SAMPLE_SECONDS = 0.02
_PAGE_SHREDS = 25


@dataclass
class Stage:
    """What one stage of a run took."""

    seconds: float = 0.0
    processor_seconds: float = 0.0
    peak_gb: float = 0.0  # all that is resident
    own_gb: float = 0.0  # without files that are mapped: what the system cannot take back


@dataclass(frozen=True)
class Truth:
    """How much of a made pile came out right; of the shreds that were placed."""

    joins: int  # true ones
    made: int
    right: int
    documents: int
    whole: int  # documents that are one page, in order

    def to_text(self) -> str:
        return (
            f"{self.right:,} of {self.made:,} joins made are right ({self.joins:,} true ones), "
            f"{self.whole} of {self.documents} documents whole"
        )


def count_right(pages: list[list[int]]) -> Truth:
    """Compare pages, as the numbers of their shreds, with how `make_pile` numbers them."""
    documents: dict[int, list[int]] = defaultdict(list)
    for number in sorted(number for page in pages for number in page):
        documents[number // _PAGE_SHREDS].append(number)
    true = {pair for document in documents.values() for pair in pairwise(document)}
    made = [pair for page in pages for pair in pairwise(page)]
    whole = sum(page == documents[page[0] // _PAGE_SHREDS] for page in pages)
    return Truth(len(true), len(made), len(true & set(made)), len(documents), whole)


@dataclass(frozen=True)
class Run:
    """One pile, one version."""

    version: str
    made: int  # shreds in the pile
    shreds: int  # those that are not blank
    stages: dict[str, Stage]
    summary: str
    truth: Truth | None = None  # of made piles

    @property
    def seconds(self) -> float:
        return sum(stage.seconds for stage in self.stages.values())

    @property
    def processor_seconds(self) -> float:
        return sum(stage.processor_seconds for stage in self.stages.values())

    @property
    def peak_gb(self) -> float:
        return max(stage.peak_gb for stage in self.stages.values())

    @property
    def own_gb(self) -> float:
        return max(stage.own_gb for stage in self.stages.values())

    def to_text(self) -> str:
        told = ", ".join(
            f"{name} {stage.seconds:.1f} ({stage.processor_seconds:.1f}; {stage.peak_gb:.2f} GB)"
            for name, stage in self.stages.items()
        )
        return (
            f"{self.version}: {self.shreds} of {self.made} shreds, {self.seconds:.1f} s, of processors "
            f"{self.processor_seconds:.1f} s, {self.peak_gb:.2f} GB ({self.own_gb:.2f} its own): {told}\n"
            f"  {self.summary}" + (f"\n  {self.truth.to_text()}" if self.truth else "")
        )


@dataclass
class Observer:
    """Gives every moment of this process to one stage."""

    stages: dict[str, Stage] = field(default_factory=lambda: defaultdict(Stage))
    _stack: list[str] = field(default_factory=lambda: ["start"])
    _since: float = 0.0
    _worked: float = 0.0

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        self._count()
        self._stack[0] = "between"  # the imports are over
        self._stack.append(name)
        try:
            yield
        finally:
            self._count()
            self._stack.pop()

    def watch(self) -> None:
        self._since, self._worked = time.time(), 0.0
        self.stages["start"].seconds = self._since - _started()
        threading.Thread(target=self._sample, daemon=True).start()

    def finish(self) -> None:
        self._count()

    def _count(self) -> None:
        now, worked = time.time(), time.process_time()
        stage = self.stages[self._stack[-1]]
        stage.seconds += now - self._since
        stage.processor_seconds += worked - self._worked
        self._since, self._worked = now, worked

    def _sample(self) -> None:
        while True:
            lines = Path("/proc/self/status").read_text().splitlines()
            sizes = {
                line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "RssA"))
            }
            stage = self.stages[self._stack[-1]]
            stage.peak_gb = max(stage.peak_gb, int(sizes["VmRSS"]) * 1024 / 1e9)
            stage.own_gb = max(stage.own_gb, int(sizes["RssAnon"]) * 1024 / 1e9)
            time.sleep(_SAMPLE_SECONDS)


def _started() -> float:
    """When this process began."""
    ticks = int(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19])
    booted = next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime"))
    return int(booted.split()[1]) + ticks / os.sysconf("SC_CLK_TCK")


def run_observed(arguments: list[str], report: Path) -> None:
    """In a process of its own: the command line, and what each of its stages took."""
    observer = Observer()
    observer.watch()
    try:
        from deshred.timing import Stopwatch
    except ImportError:  # versions before had it elsewhere
        from deshred.pipeline import Stopwatch  # type: ignore[attr-defined, no-redef]

    plain = Stopwatch.measure

    @contextmanager
    def measure(self: Stopwatch, stage: str) -> Iterator[None]:
        with observer.measure(stage), plain(self, stage):
            yield

    Stopwatch.measure = measure  # type: ignore[method-assign]
    from deshred.__main__ import main

    sys.argv = ["deshred", *arguments]
    try:
        main()
    finally:
        observer.finish()
        report.write_text(json.dumps({name: asdict(stage) for name, stage in observer.stages.items()}))


def measure(version: str, source: Path, piles: list[Path], flags: list[str], *, is_made: bool) -> Run:
    """Reconstruct a pile with the version that lies in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        report, out = Path(folder, "stages.json"), Path(folder, "out")
        command = ["reconstruct", *map(str, piles), "-o", str(out), "--quiet", *flags]
        environment = {**os.environ, "PYTHONPATH": str(source)}
        subprocess.run(
            [sys.executable, __file__, "--observe", str(report), *command], env=environment, check=True
        )
        answer = json.loads((out / "arrangement.json").read_text())
        stages = {name: Stage(**stage) for name, stage in json.loads(report.read_text()).items()}
    pages = [[shred["id"] for shred in page["shreds"]] for page in answer["pages"]]
    shreds = sum(map(len, pages))
    truth = count_right([list(map(int, page)) for page in pages]) if is_made else None
    return Run(version, shreds + len(answer["blank"]), shreds, stages, answer["summary"], truth)


def make_pile(folder: Path, count: int) -> None:
    """So many shreds of drawn pages as PNG files; those that are there already are kept."""
    from deshred.imaging.decoding import encode_png
    from deshred.simulation.drawing import PAGE_KINDS, draw_page
    from deshred.simulation.shredding import shred_page

    folder.mkdir(parents=True, exist_ok=True)
    for page in range(-(-count // _PAGE_SHREDS)):
        names = [
            folder / f"{i:06d}.png" for i in range(page * _PAGE_SHREDS, min((page + 1) * _PAGE_SHREDS, count))
        ]
        if all(name.exists() for name in names):
            continue
        rng = np.random.default_rng([1, page])
        shreds = list(shred_page(draw_page(PAGE_KINDS[page % len(PAGE_KINDS)], rng), rng))
        while len(shreds) < len(names):
            shreds += shred_page(draw_page(PAGE_KINDS[page % len(PAGE_KINDS)], rng), rng)
        for name, shred in zip(names, shreds, strict=False):
            name.write_bytes(encode_png(shred.image, shred.mask))


def find_exponent(runs: list[Run], stage: str | None = None) -> float:
    """How seconds of processors grow, in a stage or in all: with this power of the shreds.

    Between the two largest piles: what grows fastest shows there.
    """
    small, large = runs[-2:]
    seconds = [_seconds_of(run, stage) for run in (small, large)]
    return float(np.log(seconds[1] / seconds[0]) / np.log(large.shreds / small.shreds))


def _seconds_of(run: Run, stage: str | None) -> float:
    if stage is None:
        return run.processor_seconds
    return max(run.stages.get(stage, Stage()).processor_seconds, 1e-3)


def foresee(runs: list[Run], made: int) -> dict[str, float]:
    """Seconds of processors that a larger pile would take: every stage goes on growing as it grew last, and
    not less than the pile."""
    large = runs[-1]
    return {
        stage: _seconds_of(large, stage) * (made / large.made) ** max(find_exponent(runs, stage), 1.0)
        for stage in large.stages
    }


def tell_growth(runs: list[Run]) -> str:
    """Exponents of all stages, the largest stage first."""
    stages = sorted(runs[-1].stages, key=lambda name: -_seconds_of(runs[-1], name))
    told = ", ".join(f"{name} {find_exponent(runs, name):.2f}" for name in stages)
    sizes = f"from {runs[-2].shreds:,} to {runs[-1].shreds:,} shreds"
    return f"seconds of processors grow with the power {find_exponent(runs):.2f} {sizes}: {told}"


def save(runs: list[Run], path: Path) -> None:
    content: list[dict[str, Any]] = []
    for run in runs:
        totals = {"seconds": run.seconds, "processor_seconds": run.processor_seconds, "peak_gb": run.peak_gb}
        content.append({**asdict(run), **_round(totals), "stages": _round_stages(run)})
    path.write_text(json.dumps(content, indent=1) + "\n")


def _round_stages(run: Run) -> dict[str, dict[str, float]]:
    return {name: _round(asdict(stage)) for name, stage in run.stages.items()}


def _round(numbers: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in numbers.items()}


def load(path: Path) -> list[Run]:
    if not path.is_file():
        return []
    return [
        Run(
            row["version"],
            row["made"],
            row["shreds"],
            {name: Stage(**stage) for name, stage in row["stages"].items()},
            row["summary"],
            Truth(**row["truth"]) if row.get("truth") else None,
        )
        for row in json.loads(path.read_text())
    ]


def plot(runs: list[Run], path: Path) -> None:
    """Seconds and memory of every stage of this version as piles grow."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    sizes = [run.shreds for run in runs]
    for axis in (left, right):
        axis.set_prop_cycle(color=plt.get_cmap("tab20").colors)  # as many as there are stages, and more
    for name in dict.fromkeys(name for run in runs for name in run.stages):
        stages = [run.stages.get(name, Stage()) for run in runs]
        left.plot(sizes, [max(stage.processor_seconds, 1e-2) for stage in stages], marker=".", label=name)
        right.plot(sizes, [max(stage.peak_gb, 1e-2) for stage in stages], marker=".", label=name)
    left.plot(sizes, [run.processor_seconds for run in runs], "k", marker="o", label="all")
    right.plot(sizes, [run.peak_gb for run in runs], "k", marker="o", label="all")
    left.set(xscale="log", yscale="log", xlabel="shreds", ylabel="seconds of a processor")
    right.set(xscale="log", yscale="log", xlabel="shreds", ylabel="peak memory, GB")
    right.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.01, 1))
    for axis in (left, right):
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


def compare(runs: list[Run]) -> str:
    """The ratio of two versions on the same pile."""
    new, old = runs
    return (
        f"  {old.version} / {new.version}: {old.seconds / new.seconds:.2f} times the seconds, "
        f"{old.processor_seconds / new.processor_seconds:.2f} of processors, "
        f"{old.peak_gb / new.peak_gb:.2f} times the memory"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="25,100,400,1000", help="shreds of the made piles")
    parser.add_argument("--pile", nargs="*", type=Path, help="files and folders instead of made piles")
    parser.add_argument(
        "--against", type=Path, help="the folder src of another version, run on the same piles"
    )
    parser.add_argument("--made", type=Path, help="where made shreds are kept (default: the output folder)")
    parser.add_argument("--flags", default="", help="further flags of `deshred reconstruct`")
    parser.add_argument("--foresee", default="", help="made shreds that the measured growth is extended to")
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    sources = {"this": Path(__file__).resolve().parents[1] / "src"}
    if arguments.against:
        sources["other"] = arguments.against.resolve()
    if arguments.pile:
        piles = {arguments.pile[0].resolve().name: arguments.pile}
    else:
        piles = {size: [] for size in arguments.sizes.split(",") if size}
    name = f"scaling-{next(iter(piles))}" if arguments.pile else "scaling-made"
    runs = load(arguments.output / f"{name}.json")
    for size, files in piles.items():
        if not files:
            files = [(arguments.made or arguments.output) / f"made-{size}"]
            make_pile(files[0], int(size))
        pair = [
            measure(version, source, files, arguments.flags.split(), is_made=not arguments.pile)
            for version, source in sources.items()
        ]
        for run in pair:
            print(run.to_text(), flush=True)
        if len(pair) == 2:
            print(compare(pair), flush=True)
        replaced = {(run.version, run.made) for run in pair}
        runs = [run for run in runs if (run.version, run.made) not in replaced] + pair
        runs.sort(key=lambda run: (run.version, run.made))
        save(runs, arguments.output / f"{name}.json")
    own = [run for run in runs if run.version == "this"]
    if len(own) > 1:
        print(tell_growth(own))
        plot(own, arguments.output / f"{name}.png")
        for made in map(int, filter(None, arguments.foresee.split(","))):
            expected = foresee(own, made)
            told = ", ".join(f"{stage} {seconds:.0f}" for stage, seconds in expected.items())
            print(f"{made:,} shreds, extrapolated: {sum(expected.values()):.0f} s of processors: {told}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--observe"]:
        run_observed(sys.argv[3:], Path(sys.argv[2]))
    else:
        main()
