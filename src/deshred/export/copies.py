"""The copy of the pages that is asked for, and its words.

The evidence copy is shown as it is, but read with its seams mended: mending moves no pixel, so its words lie
where they were read. The reading copy is straight, so its words lie elsewhere: words belong to one copy only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deshred.cases import Store
from deshred.elements import Copy, Page
from deshred.executors import Progress, default_executor
from deshred.imaging.composition import compose, mend
from deshred.pipeline import Reconstruction
from deshred.reading import Reading, ReadingOptions, read


def choose_pages(
    reconstruction: Reconstruction, copy: Copy, *, progress: Progress | None = None
) -> tuple[Page, ...]:
    """The pages of a copy; those that the reconstruction does not hold are composed."""
    if all(page.copy == copy for page in reconstruction.pages):
        return reconstruction.pages
    pages = compose(
        reconstruction.shreds,
        reconstruction.arrangement,
        options=reconstruction.settings.composition,
        copy=copy,
        executor=default_executor(reconstruction.settings.jobs),
        progress=progress,
    )
    return tuple(pages)


def read_pages(
    pages: Sequence[Page],
    *,
    options: ReadingOptions | None = None,
    store: Store | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[Reading, ...]:
    """Read pages of either copy."""
    legible = [page if page.copy == "reading" else _mend(page) for page in pages]
    return read(legible, options=options, store=store, jobs=jobs, progress=progress)


def _mend(page: Page) -> Page:
    return replace(page, image=mend(page.image, page.seams))
