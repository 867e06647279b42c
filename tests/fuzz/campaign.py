"""Thousands of damaged files through every door: each must be read, or end in a documented error.

    python -m tests.fuzz.campaign --count 40000

prints a table of counts, seconds and peak memory, and exits with 1 if any outcome was bad. Each input is made
from the seed and its number alone: `--only 1234 --keep FOLDER` makes one again and keeps it. The work is done
in processes of a few hundred inputs each, so that a crash costs one of them and is counted.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from deshred.errors import DeshredError
from deshred.executors import ThreadExecutor, usable_cpus
from tests.fuzz.doors import Door, list_doors
from tests.fuzz.mutations import mutate
from tests.fuzz.tables import replace_table

SEED = 20_240
PER_PROCESS = 1000
TIERS = (
    (24, 30_000),
    (6, 6_000),
)  # doors as they came, and how many numbers are theirs; the rest has the others
MOST_SECONDS = 10.0  # of a processor, for one input
UNEXPECTED = 1  # the exit code of what should not happen


@dataclass(frozen=True)
class Outcome:
    """What became of one input."""

    number: int
    door: str
    result: str  # read, refused, or bad
    detail: str
    seconds: float


@dataclass(frozen=True)
class Tally:
    """What became of all of them."""

    outcomes: tuple[Outcome, ...]
    seconds: float
    peak_mb: int

    @property
    def bad(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.result == "bad")


def try_input(number: int, doors: Sequence[Door], folder: Path, seed: int = SEED) -> Outcome:
    """Damage one file and give it to its door."""
    rng = np.random.default_rng([seed, number])
    door = choose_door(number, doors)
    content = mutate(door.make(), door.structure, rng)
    start = _processor_seconds()
    result, detail = _classify(door, content, folder)
    seconds = _processor_seconds() - start
    if seconds > MOST_SECONDS:
        result, detail = "bad", f"{seconds:.0f} s of a processor; {detail}"
    return Outcome(number, door.name, result, detail, seconds)


def choose_door(number: int, doors: Sequence[Door]) -> Door:
    """The first numbers go to the first doors in turn, later ones to those that came later: none changes."""
    start = 0
    for count, share in TIERS:
        if number < share:
            return doors[start + number % count]
        start, number = start + count, number - share
    return doors[start + number % (len(doors) - start)]


def list_numbers(index: int, count: int, doors: int) -> range:
    """The first numbers that go to a door."""
    start = first = 0
    for own, share in (*TIERS, (doors - sum(own for own, _ in TIERS), 0)):
        if index < start + own:
            return range(first + index - start, first + index - start + count * own, own)
        start, first = start + own, first + share
    raise IndexError(index)


def _classify(door: Door, content: bytes, folder: Path) -> tuple[str, str]:
    folder.mkdir(parents=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            door.read(content, folder)
    except DeshredError as error:
        told = str(error).replace(str(folder), "")
        is_expected = error.exit_code != UNEXPECTED and told
        return ("refused" if is_expected else "bad"), f"{type(error).__name__}: {told[:200]}"
    except BaseException as error:  # that is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        return "bad", f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"[:300]
    finally:
        shutil.rmtree(folder)
    return "read", ""


def run(numbers: Iterable[int], seed: int = SEED) -> Tally:
    """Try inputs here, one after the other."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as home:
        doors = list_doors(Path(home) / "sound")
        outcomes = tuple(try_input(number, doors, Path(home) / "damaged", seed) for number in numbers)
    return Tally(outcomes, time.monotonic() - start, _peak_mb())


def run_apart(count: int, seed: int = SEED, first: int = 0, jobs: int = 1) -> Tally:
    """Try many inputs, in processes of a few hundred, so many at a time."""
    start, outcomes, peak = time.monotonic(), [], 0
    stop = first + count
    parts = [range(begin, min(stop, begin + PER_PROCESS)) for begin in range(first, stop, PER_PROCESS)]
    try:
        for part in ThreadExecutor(jobs).stream(partial(_run_process, seed=seed), parts):
            outcomes += part.outcomes
            peak = max(peak, part.peak_mb)
            bad = sum(outcome.result == "bad" for outcome in outcomes)
            print(f"{len(outcomes)}/{count}: {bad} bad, {peak} MB", file=sys.stderr, flush=True)
    except KeyboardInterrupt:  # what was tried until then is worth knowing
        pass
    return Tally(tuple(outcomes), time.monotonic() - start, peak)


def _run_process(numbers: range, seed: int) -> Tally:
    command = [sys.executable, "-m", "tests.fuzz.campaign", "--part", str(numbers.start), str(numbers.stop)]
    with tempfile.NamedTemporaryFile() as file:  # not stdout: solvers and decoders write there as well
        command += ["--seed", str(seed), "--into", file.name]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        lines = [json.loads(line) for line in file.read().splitlines()]
    outcomes = tuple(Outcome(**line) for line in lines if "door" in line)
    peak = max((line["peak_mb"] for line in lines if "peak_mb" in line), default=0)
    if len(outcomes) < len(numbers):  # the process died at the next one
        number = numbers.start + len(outcomes)
        crash = Outcome(number, "unknown", "bad", f"the process ended with {done.returncode}", 0.0)
        rest = _run_process(range(number + 1, numbers.stop), seed) if number + 1 < numbers.stop else None
        return Tally(
            (*outcomes, crash, *(rest.outcomes if rest else ())), 0, max(peak, rest.peak_mb if rest else 0)
        )
    return Tally(outcomes, 0, peak)


def describe(tally: Tally) -> str:
    """The table of `docs/reliability.md`."""
    counts: dict[str, Counter[str]] = {}
    slowest: dict[str, float] = {}
    for outcome in tally.outcomes:
        counts.setdefault(outcome.door, Counter())[outcome.result] += 1
        slowest[outcome.door] = max(slowest.get(outcome.door, 0.0), outcome.seconds)
    rows = [
        f"| {door} | {sum(found.values()):,} | {found['read']:,} | {found['refused']:,} | {found['bad']} | "
        f"{slowest[door]:.1f} |"
        for door, found in counts.items()
    ]
    head = "| what | tried | read | refused | bad | slowest, s |\n|---|---:|---:|---:|---:|---:|"
    total = f"{len(tally.outcomes):,} inputs, {len(tally.bad)} bad, {tally.seconds:.0f} s, "
    total += f"{tally.peak_mb:,} MB at most."
    return "\n".join([head, *rows, "", total])


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _peak_mb() -> int:
    return (
        max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        // 1024
    )


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=40_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=usable_cpus(), help="processes at a time")
    parser.add_argument("--write", type=Path, help="a document to put the table into")
    parser.add_argument("--part", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--only", type=int, help="one input, by its number")
    parser.add_argument("--keep", type=Path, help="with --only: keep the damaged file here")
    given = parser.parse_args()
    if given.part:
        return _serve(range(*given.part), given.seed, given.into)
    if given.only is not None:
        return _show(given.only, given.seed, given.keep)
    tally = run_apart(given.count, given.seed, given.first, given.jobs)
    print(describe(tally))
    if given.write is not None:
        replace_table(given.write, "campaign", describe(tally))
    for outcome in tally.bad[:50]:
        print(f"bad {outcome.number} ({outcome.door}): {outcome.detail}")
    return 1 if tally.bad else 0


def _serve(numbers: range, seed: int, into: Path) -> int:
    with tempfile.TemporaryDirectory() as home, into.open("w") as file:
        doors = list_doors(Path(home) / "sound")
        for number in numbers:
            outcome = try_input(number, doors, Path(home) / "damaged", seed)
            print(json.dumps(asdict(outcome)), file=file, flush=True)
        print(json.dumps({"peak_mb": _peak_mb()}), file=file, flush=True)
    return 0


def _show(number: int, seed: int, keep: Path | None) -> int:
    with tempfile.TemporaryDirectory() as home:
        doors = list_doors(Path(home) / "sound")
        door = choose_door(number, doors)
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            content = mutate(door.make(), door.structure, np.random.default_rng([seed, number]))
            (keep / f"{number}-{door.name.replace(' ', '-').replace(':', '')}").write_bytes(content)
        print(try_input(number, doors, Path(home) / "damaged", seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
