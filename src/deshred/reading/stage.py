"""Pages in, one Reading each out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from queue import Empty, SimpleQueue

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
    jobs = 1 if reader else max(1, min(len(pages), usable_cpus() if jobs is None else jobs))
    with open_reading(options, reader=reader, store=store) as read_page:
        executor = default_executor(jobs)
        return tuple(executor.map(read_page, pages, stage="reading", progress=progress))


@contextmanager
def open_reading(
    options: ReadingOptions | None = None, *, reader: Reader | None = None, store: Store | None = None
) -> Iterator[ReadPage]:
    """What reads a page, also in several threads at a time; what lies in the store is not read again."""
    options = options or ReadingOptions()
    known = reader or open_reader(options)  # says at once what is missing
    with ExitStack() as stack:
        read_page = _read_here(reader) if reader else _read_apart(options, stack)

        def read_once(page: Page) -> Reading:
            key = make_key(page, known) if store is not None else ""
            kept = take(store, key) if store is not None else None
            reading = kept or read_page(page)
            if store is not None and kept is None:
                keep(store, key, reading)
            return reading

        yield read_once


def _read_here(reader: Reader) -> ReadPage:
    return lambda page: reader.read_image(page.image, page.dpi)


def _read_apart(options: ReadingOptions, stack: ExitStack) -> ReadPage:
    """Threads hand pages to worker processes, of which there are as many as were busy at a time."""
    idle: SimpleQueue[Worker] = SimpleQueue()

    def read_page(page: Page) -> Reading:
        try:
            worker = idle.get_nowait()
        except Empty:
            worker = Worker(options)
            stack.callback(worker.close)
        try:
            return worker.read_image(page.image, page.dpi)
        finally:
            idle.put(worker)

    return read_page
