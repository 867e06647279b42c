"""Ways to map a function over many items: one after the other, in threads, or in processes.

Decoding and OpenCV release the interpreter lock, so threads are the default for pixels: they copy
nothing. Processes are for work that is mostly Python. Results always come in the order of the items.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor as Pool
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from deshred.errors import SettingsError

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]  # (stage, done, total)

MOST_JOBS = 1024  # threads cost memory, and a system has only so many
_AHEAD = 4  # items per job that are begun before they are asked for


class Executor(Protocol):
    """One way to do it: `stream`. The first exception ends it and is raised."""

    @property
    def shares_memory(self) -> bool:
        """Whether items and results stay where they are; else each of them is copied."""
        return True

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to every item; results as they come, in the order of the items."""

    def sees(self, files: Sequence[Path]) -> bool:  # noqa: ARG002
        """Whether who does the work can open these files as they are here."""
        return True

    def tell(self, stage: str) -> str:
        """A stage as progress shows it, with who works on it where that is not this machine."""
        return stage

    def map(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        *,
        stage: str = "",
        progress: Progress | None = None,
    ) -> list[Result]:
        """All results of `stream`."""
        collected = []
        for done, result in enumerate(self.stream(function, items), 1):
            collected.append(result)
            if progress is not None:
                progress(self.tell(stage), done, len(items))
        return collected


def usable_cpus() -> int:
    """The number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class SerialExecutor(Executor):
    """One item after the other in the calling thread: the one to debug with."""

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to every item; results as they come, in the order of the items."""
        return map(function, items)


@dataclass(frozen=True)
class ThreadExecutor(Executor):
    """Threads, as many as `jobs`."""

    jobs: int

    def __post_init__(self) -> None:
        check_jobs(self.jobs)

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to every item; results as they come, in the order of the items."""
        return _stream_from_pool(ThreadPoolExecutor(self.jobs), self.jobs, function, items)


@dataclass(frozen=True)
class ProcessExecutor(Executor):
    """Processes, as many as `jobs`; function, items and results must pickle."""

    jobs: int
    shares_memory: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_jobs(self.jobs)

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to every item; results as they come, in the order of the items."""
        # Forking a process that already runs threads (OpenCV, ONNX Runtime) can deadlock the child.
        pool = ProcessPoolExecutor(self.jobs, mp_context=multiprocessing.get_context("spawn"))
        return _stream_from_pool(pool, self.jobs, function, items)


@dataclass(frozen=True)
class KeepingExecutor(Executor):
    """Another executor whose results are put away as they come: what `keep` returns is the result."""

    executor: Executor
    keep: Callable[[Any], Any]

    @property
    def shares_memory(self) -> bool:
        """As the other one."""
        return self.executor.shares_memory

    def sees(self, files: Sequence[Path]) -> bool:
        """As the other one."""
        return self.executor.sees(files)

    def tell(self, stage: str) -> str:
        """As the other one."""
        return self.executor.tell(stage)

    def stream(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Apply the function to every item; results as they come, in the order of the items."""
        return map(self.keep, self.executor.stream(function, items))


def default_executor(jobs: int | None = None) -> Executor:
    """Threads on `jobs` processors (all of them when None); one job needs no pool."""
    jobs = usable_cpus() if jobs is None else jobs
    check_jobs(jobs)
    return SerialExecutor() if jobs == 1 else ThreadExecutor(jobs)


def check_jobs(jobs: int) -> None:
    """Refuse a number of jobs that no machine has room for."""
    if jobs < 1:
        raise SettingsError(f"jobs must be at least 1, got {jobs}.")
    if jobs > MOST_JOBS:
        raise SettingsError(f"jobs can be {MOST_JOBS:,} at most, got {jobs}. Leave it out to use all.")


def _stream_from_pool(
    pool: Pool, jobs: int, function: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[Result]:
    """Results in order, and only a few of them ahead of who asks: they may be large."""
    coming = iter(items)
    try:
        ahead = deque(pool.submit(function, item) for item in islice(coming, _AHEAD * jobs))
        while ahead:
            result = ahead.popleft().result()
            ahead.extend(pool.submit(function, item) for item in islice(coming, 1))
            yield result
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
