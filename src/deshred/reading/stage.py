"""Pages in, one Reading each out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue

from deshred.cases import Store
from deshred.elements import Page
from deshred.executors import Progress, default_executor, usable_cpus
from deshred.reading.engines import Reader, ReadingOptions, open_reader
from deshred.reading.keeping import keep, make_key, take
from deshred.reading.words import Reading
from deshred.reading.worker import Worker

ReadPage = Callable[[Page], Reading]


def read(
    pages: Sequence[Page],
    *,
    options: ReadingOptions | None = None,
    reader: Reader | None = None,
    store: Store | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[Reading, ...]:
    """Read every page in worker processes, or with a reader of your own in this one."""
    options = options or ReadingOptions()
    known = reader or open_reader(options)  # says at once what is missing
    tasks = [_Task(page, make_key(page, known) if store else "", store) for page in pages]
    kept = [task.take() for task in tasks]
    missing = [task for task, reading in zip(tasks, kept, strict=True) if reading is None]
    jobs = 1 if reader else max(1, min(len(missing), usable_cpus() if jobs is None else jobs))
    with _here(reader) if reader else _apart(options, jobs if missing else 0) as read_page:
        fresh = default_executor(jobs).map(
            lambda task: task.keep(read_page(task.page)), missing, stage="reading", progress=progress
        )
    coming = iter(fresh)
    return tuple(next(coming) if reading is None else reading for reading in kept)


@dataclass(frozen=True, eq=False)
class _Task:
    page: Page
    key: str
    store: Store | None

    def take(self) -> Reading | None:
        return None if self.store is None else take(self.store, self.key)

    def keep(self, reading: Reading) -> Reading:
        if self.store is not None:
            keep(self.store, self.key, reading)
        return reading


@contextmanager
def _here(reader: Reader) -> Iterator[ReadPage]:
    yield lambda page: reader.read_image(page.image, page.dpi)


@contextmanager
def _apart(options: ReadingOptions, count: int) -> Iterator[ReadPage]:
    """One worker process per job; threads only hand pages to them."""
    workers = [Worker(options) for _ in range(count)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def read_page(page: Page) -> Reading:
        worker = idle.get()
        try:
            return worker.read_image(page.image, page.dpi)
        finally:
            idle.put(worker)

    try:
        yield read_page
    finally:
        for worker in workers:
            worker.close()
