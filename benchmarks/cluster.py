"""What a cluster gains: seconds and bytes of every kind of task, real runs on one machine, and an estimate.

    python benchmarks/cluster.py --shreds strips/ --sheets sheets/ -o bench/
    python benchmarks/cluster.py --shreds strips/ --sheets sheets/ -o bench/ --only tasks    not the real runs

Tasks are measured in this process, in seconds of a processor: what a worker does, what is left to the machine
of the command, what Dask carries, and what goes through the store. Real runs go from files to pages, alone
and with one and two workers on this machine. The estimate follows from the tasks: no such cluster was there.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from deshred.cases import Arrays, Folder, FolderStore, SharedStore, open_store
from deshred.cluster import connect
from deshred.compatibility.contract import EdgeScorer
from deshred.compatibility.describing import Describing
from deshred.compatibility.groups import find_groups
from deshred.compatibility.scoring import ScoringOptions
from deshred.compatibility.sketches import BLOCK, Sketch, gather_looks, look_at_part
from deshred.elements import Constraints, Pile
from deshred.executors import Executor, SerialExecutor
from deshred.pipeline import reconstruct
from deshred.runs import Run
from deshred.settings import Settings
from deshred.timing import Stopwatch

_BLOCK = 32  # shreds in a group: so that a small pile has several tasks
_COLUMNS = 4096  # of the pile that is looked at
_BYTES_PER_SECOND = 1.25e9  # of a store, to all workers together: 10 Gbit/s
_PROCESSORS = (2, 16)  # of the machine of the command
_THREADS = 8  # of a worker process: they share what it holds
_JOINS = 160  # of an edge that stand out at the first look
_ROWS = 256  # of a large pile that are compared with all, to learn its shifts
_SHREDS_PER_SHEET = 12
_WORKERS = (2, 16, 64)
_PILES = (2_000, 20_000, 100_000)


@dataclass
class CountedStore:
    """A folder that counts what is read and written."""

    store: FolderStore
    read: int = 0
    written: int = 0

    __hash__ = object.__hash__

    @property
    def address(self) -> str:
        return self.store.address

    def load(self, key: str) -> Arrays | None:
        found = self.store.load(key)
        self.read += _count_bytes(found or {})
        return found

    def save(self, key: str, arrays: Arrays) -> None:
        self.store.save(key, arrays)
        self.written += _count_bytes(arrays)


def _count_bytes(arrays: Mapping[str, Any]) -> int:
    return sum(array.nbytes for array in arrays.values())


@dataclass
class Tasks:
    """All tasks of a kind."""

    count: int = 0
    seconds: float = 0.0  # of the processors of workers
    sent: int = 0  # bytes that Dask carries
    read: int = 0  # bytes from the store
    written: int = 0


@dataclass
class Watching(Executor):
    """Does tasks here, one after the other, and measures what each would cost elsewhere."""

    store: CountedStore
    kinds: dict[str, Tasks] = field(default_factory=dict)
    shares_memory: ClassVar[bool] = False

    def stream(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        for item in items:
            tasks = self.kinds.setdefault(function.func.__name__.strip("_"), Tasks())  # type: ignore[attr-defined]
            tasks.count += 1
            tasks.sent += len(pickle.dumps((function, item)))
            read, written, start = self.store.read, self.store.written, time.process_time()
            result = function(item)
            tasks.seconds += time.process_time() - start
            tasks.read += self.store.read - read
            tasks.written += self.store.written - written
            yield result


@dataclass(frozen=True)
class Measured:
    """A pile, task by task and stage by stage."""

    shreds: int
    sheets: int
    tasks: dict[str, Tasks]
    stages: dict[str, float]  # seconds of processors, tasks included


def measure(paths: list[Path], *, dense_limit: int) -> Measured:
    """Run all stages in this process as if the tasks were done elsewhere."""
    settings = Settings(jobs=1, scoring=ScoringOptions(block=_BLOCK, dense_limit=dense_limit))
    scorer = settings.load_scorer()
    with tempfile.TemporaryDirectory() as folder:
        store = CountedStore(FolderStore(Folder(Path(folder))))
        executor = Watching(store)
        run = Run(settings, store=store, executor=executor)
        run.watch = Stopwatch(clock=time.process_time)
        intake = run.load(paths)
        pile = run.prepare(intake.shreds, scorer, Constraints())
        scored = run.score(pile, scorer)
        arrangement = run.arrange(scored.compatibility, Constraints())
        arrangement = run.refine(arrangement, scored.compatibility, scored.pile)
        with run.watch.measure("compose"):
            for _ in run.compose(scored.pile, arrangement, scored.compatibility):
                pass
    return Measured(len(pile), len(intake.sheets), executor.kinds, run.watch.seconds)


@dataclass(frozen=True)
class Look:
    """Seconds of a processor for the first look, of one join, and to put one together from parts."""

    join_seconds: float
    gather_seconds: float  # per column and part
    sketch_bytes: int  # per shred, both sides


def measure_look(pile: Pile, scorer: EdgeScorer) -> Look:
    """Look at a pile of thousands: the edges of this one, again and again."""
    store = FolderStore(Folder(Path(tempfile.mkdtemp())))
    groups = find_groups([shred.fingerprint for shred in pile.shreds], store, _BLOCK)
    described = Describing(pile, scorer, store, SerialExecutor()).describe_all(groups[:1], None)
    seconds = gathering = 0.0
    size = 0
    pairs = zip(
        scorer.looks,  # type: ignore[attr-defined]
        scorer.sketch(described[0].rights),  # type: ignore[attr-defined]
        scorer.sketch(described[0].lefts),  # type: ignore[attr-defined]
        strict=True,
    )
    for look, rights, lefts in pairs:
        wide, tall = _repeat(lefts, _COLUMNS), _repeat(rights, _COLUMNS)
        start = time.process_time()
        looked = [look_at_part(0, BLOCK, look=look, rights=tall, lefts=wide) for _ in range(4)]
        seconds += (time.process_time() - start) / (4 * BLOCK * _COLUMNS)
        start = time.process_time()
        gather_looks(look, _COLUMNS, looked)
        gathering += (time.process_time() - start) / (4 * _COLUMNS)
        size += _count_bytes({**rights.to_arrays("r"), **lefts.to_arrays("l")}) // len(rights)
    return Look(seconds, gathering, size)


def _repeat(sketch: Sketch, count: int) -> Sketch:
    return sketch[np.arange(count) % len(sketch)]


@dataclass(frozen=True)
class Real:
    """Files to pages once, with real processes."""

    pile: str
    workers: int  # 0: no cluster
    seconds: float  # by the clock
    own_seconds: float  # of processors, of the machine of the command and the scheduler
    worker_seconds: list[float]  # of processors, of each
    is_equal: bool  # to the run without a cluster, bit for bit


@dataclass(frozen=True, eq=False)
class Answer:
    """What is compared."""

    scores: Any
    pages: list[Any]

    def equals(self, other: Answer) -> bool:
        pairs = zip(self.pages, other.pages, strict=True)
        return np.array_equal(self.scores, other.scores) and all(np.array_equal(*pair) for pair in pairs)


def run_pile(paths: list[Path], executor: Executor, store: SharedStore) -> Answer:
    settings = Settings(jobs=1, scoring=ScoringOptions(block=_BLOCK, dense_limit=0))
    done = reconstruct(paths, settings=settings, executor=executor, store=store)
    return Answer(done.compatibility.scores, [page.image for page in done.pages])


def _import_all() -> None:
    """What a worker does once, before its first task."""
    Settings().load_scorer()


def run_with_workers(pile: str, paths: list[Path]) -> Iterator[Real]:
    """Alone, with one worker and with two; to start them and to import deshred is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        clock, used = time.monotonic(), time.process_time()
        alone = run_pile(paths, SerialExecutor(), open_store(f"{folder}/alone"))
        yield Real(pile, 0, time.monotonic() - clock, time.process_time() - used, [], True)
        for workers in (1, 2):
            store = open_store(f"{folder}/{workers}")
            with connect(f"local:{workers}", store) as executor:
                executor.client.run(_import_all)
                before = executor.client.run(time.process_time)
                clock, used = time.monotonic(), time.process_time()
                found = run_pile(paths, executor, store)
                seconds, own = time.monotonic() - clock, time.process_time() - used
                after = executor.client.run(time.process_time)
            far = [after[worker] - before[worker] for worker in before]
            yield Real(pile, workers, seconds, own, far, found.equals(alone))


@dataclass(frozen=True)
class Costs:
    """What a pile of n shreds would take, in seconds of processors and in bytes."""

    alone: float  # without a cluster
    near: float  # on the machine of the command
    far: float  # on workers
    moved: float  # through the store
    held: float  # that every worker process reads


def foresee(count: int, listed: Measured, look: Look, sheets: Measured | None) -> Costs:
    """The costs of single shreds; with `sheets`, of as many shreds on sheets."""
    tasks, n = listed.tasks, listed.shreds
    describe, compare = tasks["describe"], tasks["compare_chosen"]
    joins = n * (n - 1)  # a pile this small: all stand out
    score_here = listed.stages["score"] - compare.seconds - tasks["look"].seconds
    own = sum(listed.stages[name] for name in ("prepare", "solve", "refine", "compose")) / n
    if sheets is None:
        read_alone = read_near = listed.stages["decode"] / n
        cut = cut_moved = 0.0
    else:
        done = sheets.tasks["cut"]
        read_near = (sheets.stages["decode"] - done.seconds) / sheets.shreds
        cut, cut_moved = done.seconds / sheets.shreds, 2 * done.written / sheets.shreds
        read_alone = cut
    described = describe.written / n
    joined = count * _JOINS * compare.seconds / joins
    parts = min(128, count / BLOCK)
    far = count * (cut + describe.seconds / n) + count**2 * look.join_seconds + joined
    gather = parts * count * look.gather_seconds
    learn = 0.0 if count <= _ROWS else _ROWS * count * compare.seconds / joins
    common = count * (own + score_here / n) + learn
    pack = count * (listed.stages["encode"] - describe.seconds) / n
    looked = parts * count * 2 * 64 * 8
    return Costs(
        alone=common + count * (read_alone + describe.seconds / n) + count**2 * look.join_seconds + joined,
        near=common + count * read_near + pack + gather,
        far=far,
        moved=count * (cut_moved + describe.read / n + 2 * described) + 2 * looked,
        held=count * (described + look.sketch_bytes),
    )


def estimate(listed: Measured, look: Look, sheets: Measured) -> list[dict[str, Any]]:
    rows = []
    for kind, cut in (("shreds", None), ("sheets", sheets)):
        for count in _PILES:
            costs = foresee(count, listed, look, cut)
            for own in _PROCESSORS:
                seconds = {"0": costs.alone / own}
                for workers in _WORKERS:
                    processes = max(1, workers // _THREADS)
                    network = (costs.moved + processes * costs.held) / _BYTES_PER_SECOND
                    seconds[str(workers)] = costs.near / own + costs.far / workers + network
                rows.append(
                    {
                        "kind": kind,
                        "shreds": count,
                        "processors": own,
                        "costs": asdict(costs),
                        "seconds": seconds,
                    }
                )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--shreds", nargs="+", type=Path, required=True)
    parser.add_argument("--sheets", nargs="+", type=Path, required=True)
    parser.add_argument("--only", choices=["tasks", "runs"])
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    file = given.output / "cluster.json"
    results = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if given.only != "runs":
        dense = measure(given.shreds, dense_limit=10**6)
        listed = measure(given.shreds, dense_limit=0)
        sheets = measure(given.sheets, dense_limit=0)
        settings = Settings(jobs=1)
        scorer = settings.load_scorer()
        run = Run(settings)
        pile = run.prepare(run.load(given.shreds).shreds, scorer, Constraints())
        look = measure_look(pile, scorer)  # type: ignore[arg-type]
        measured = {"dense": dense, "listed": listed, "sheets": sheets, "look": look}
        results |= {name: asdict(one) for name, one in measured.items()}
        results["estimate"] = estimate(listed, look, sheets)
        file.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if given.only != "tasks":
        results["runs"] = []
        for name, paths in (("shreds", given.shreds), ("sheets", given.sheets)):
            for real in run_with_workers(name, paths):
                print(real, flush=True)
                results["runs"].append(asdict(real))
        file.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
