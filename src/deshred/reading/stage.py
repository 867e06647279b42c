"""Pages in, one Reading each out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import SimpleQueue

from deshred.elements import Page
from deshred.executors import Progress, default_executor
from deshred.reading.engines import Reader, ReadingOptions, open_reader
from deshred.reading.shelves import ReadingShelf, make_key
from deshred.reading.words import Reading
from deshred.reading.worker import Worker


def read(
    pages: Sequence[Page],
    *,
    options: ReadingOptions | None = None,
    reader: Reader | None = None,
    shelf: ReadingShelf | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[Reading, ...]:
    """Read every page in worker processes, or with a reader of your own in this one."""
    options = options or ReadingOptions()
    chosen = reader or open_reader(options)  # also says early what is missing
    keys = [make_key(page, chosen) for page in pages] if shelf else [""] * len(pages)
    kept = {key: found for key in keys if shelf and (found := shelf.take(key)) is not None}
    missing = [(key, page) for key, page in zip(keys, pages, strict=True) if key not in kept]
    fresh = (
        _read_with(reader, missing, shelf, progress)
        if reader
        else _read_apart(options, missing, shelf, jobs, progress)
    )
    coming = iter(fresh)
    return tuple(kept[key] if key in kept else next(coming) for key in keys)


_Task = tuple[str, Page]


def _read_with(
    reader: Reader, tasks: Sequence[_Task], shelf: ReadingShelf | None, progress: Progress | None
) -> list[Reading]:
    executor = default_executor(1)
    return executor.map(
        _keeping(lambda page: reader.read_image(page.image, page.dpi), shelf),
        tasks,
        stage="reading",
        progress=progress,
    )


def _read_apart(
    options: ReadingOptions,
    tasks: Sequence[_Task],
    shelf: ReadingShelf | None,
    jobs: int | None,
    progress: Progress | None,
) -> list[Reading]:
    """One worker process per job; threads only hand pages to them."""
    if not tasks:
        return []
    idle: SimpleQueue[Worker] = SimpleQueue()
    executor = default_executor(jobs)
    count = min(len(tasks), getattr(executor, "jobs", 1))
    workers = [Worker(options) for _ in range(count)]
    for worker in workers:
        idle.put(worker)

    def read_page(page: Page) -> Reading:
        worker = idle.get()
        try:
            return worker.read_image(page.image, page.dpi)
        finally:
            idle.put(worker)

    try:
        return default_executor(count).map(
            _keeping(read_page, shelf), tasks, stage="reading", progress=progress
        )
    finally:
        for worker in workers:
            worker.close()


def _keeping(read_page: Callable[[Page], Reading], shelf: ReadingShelf | None) -> Callable[[_Task], Reading]:
    def read_and_keep(task: _Task) -> Reading:
        key, page = task
        reading = read_page(page)
        if shelf is not None:
            shelf.keep(key, reading)
        return reading

    return read_and_keep
