"""Ways to map a function over many items: one after the other, in threads, or in processes.

Decoding and OpenCV release the interpreter lock, so threads are the default for pixels: they copy
nothing. Processes are for work that is mostly Python. Results always come in the order of the items.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor as Pool
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from deshred.errors import SettingsError

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]  # (stage, done, total)


class Executor(Protocol):
    """One method: `map`. The first exception ends it and is raised."""

    def map(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        *,
        stage: str = "",
        progress: Progress | None = None,
    ) -> list[Result]:
        """Apply the function to every item; results in the order of the items."""


def usable_cpus() -> int:
    """The number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class SerialExecutor:
    """One item after the other in the calling thread: the one to debug with."""

    def map(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        *,
        stage: str = "",
        progress: Progress | None = None,
    ) -> list[Result]:
        """Apply the function to every item; results in the order of the items."""
        return _collect(map(function, items), len(items), stage, progress)


@dataclass(frozen=True)
class ThreadExecutor:
    """Threads, as many as `jobs`."""

    jobs: int

    def __post_init__(self) -> None:
        _check_jobs(self.jobs)

    def map(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        *,
        stage: str = "",
        progress: Progress | None = None,
    ) -> list[Result]:
        """Apply the function to every item; results in the order of the items."""
        return _map_in_pool(ThreadPoolExecutor(self.jobs), function, items, stage, progress, chunk=1)


@dataclass(frozen=True)
class ProcessExecutor:
    """Processes, as many as `jobs`; function, items and results must pickle."""

    jobs: int

    def __post_init__(self) -> None:
        _check_jobs(self.jobs)

    def map(
        self,
        function: Callable[[Item], Result],
        items: Sequence[Item],
        *,
        stage: str = "",
        progress: Progress | None = None,
    ) -> list[Result]:
        """Apply the function to every item; results in the order of the items."""
        # Forking a process that already runs threads (OpenCV, ONNX Runtime) can deadlock the child.
        pool = ProcessPoolExecutor(self.jobs, mp_context=multiprocessing.get_context("spawn"))
        chunk = max(1, min(16, len(items) // (4 * self.jobs)))
        return _map_in_pool(pool, function, items, stage, progress, chunk=chunk)


def default_executor(jobs: int | None = None) -> Executor:
    """Threads on `jobs` processors (all of them when None); one job needs no pool."""
    jobs = usable_cpus() if jobs is None else jobs
    _check_jobs(jobs)
    return SerialExecutor() if jobs == 1 else ThreadExecutor(jobs)


def _check_jobs(jobs: int) -> None:
    if jobs < 1:
        raise SettingsError(f"jobs must be at least 1, got {jobs}.")


def _map_in_pool(
    pool: Pool,
    function: Callable[[Item], Result],
    items: Sequence[Item],
    stage: str,
    progress: Progress | None,
    *,
    chunk: int,
) -> list[Result]:
    try:
        return _collect(pool.map(function, items, chunksize=chunk), len(items), stage, progress)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _collect(results: Iterable[Result], total: int, stage: str, progress: Progress | None) -> list[Result]:
    collected = []
    for done, result in enumerate(results, 1):
        collected.append(result)
        if progress is not None:
            progress(stage, done, total)
    return collected
