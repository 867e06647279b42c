"""The copy of the pages that is asked for, and its words.

The evidence copy is shown as it is, but read with its seams mended: mending moves no pixel, so its words lie
where they were read. The reading copy is straight, so its words lie elsewhere: words belong to one copy only.
Where ink may have been lost in a tear the reading copy gets a frame, but not before it was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from deshred.cases import Store
from deshred.elements import Copy, Page
from deshred.errors import SettingsError
from deshred.executors import Progress, default_executor
from deshred.imaging.composition import (
    LazyPages,
    LostInk,
    find_lost_ink,
    mark_lost_ink,
    mend,
    transfer_lost_ink,
)
from deshred.pipeline import Reconstruction
from deshred.reading import Reading, ReadingOptions, read
from deshred.runs import Run


def choose_pages(
    reconstruction: Reconstruction,
    copy: Copy,
    numbers: Sequence[int] = (),
    *,
    progress: Progress | None = None,
) -> tuple[Page, ...]:
    """The pages of a copy, all or those of these numbers; composed where they are not held."""
    held = reconstruction.pages
    for number in numbers:
        if not 1 <= number <= len(held):
            raise SettingsError(f"there is no page {number}: the case has pages 1 to {len(held)}.")
    wanted = [number - 1 for number in numbers] or range(len(held))
    if not isinstance(held, LazyPages) and all(page.copy == copy for page in held):
        return tuple(held[index] for index in wanted)
    settings, arrangement = reconstruction.settings, reconstruction.arrangement
    pages = Run(settings).compose(reconstruction.shreds, arrangement, reconstruction.compatibility, copy=copy)
    executor = default_executor(settings.jobs)
    return tuple(executor.map(pages.__getitem__, wanted, stage="composing", progress=progress))


def read_pages(
    pages: Sequence[Page],
    *,
    options: ReadingOptions | None = None,
    store: Store | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[Reading, ...]:
    """Read pages of either copy."""
    as_it_is = options is not None and options.as_it_is
    legible = [page if as_it_is or page.copy == "reading" else _mend(page) for page in pages]
    return read(legible, options=options, store=store, jobs=jobs, progress=progress)


@dataclass(frozen=True, eq=False)
class Marked:
    """Pages as they are shown, and the places of each that are marked."""

    pages: tuple[Page, ...]
    places: tuple[tuple[LostInk, ...], ...] = ()


def mark_pages(
    reconstruction: Reconstruction, pages: tuple[Page, ...], numbers: Sequence[int] = ()
) -> Marked:
    """Reading copies with frames where the evidence shows that ink may be lost; evidence as it is."""
    if all(page.copy == "evidence" for page in pages):
        return Marked(pages)
    evidence = [
        page for number, page in enumerate(reconstruction.pages, 1) if not numbers or number in numbers
    ]
    shown = [_mark(*both) for both in zip(evidence, pages, strict=True)]
    return Marked(tuple(page for page, _ in shown), tuple(places for _, places in shown))


def _mark(evidence: Page, page: Page) -> tuple[Page, tuple[LostInk, ...]]:
    slivers = [place for place in find_lost_ink(evidence) if place.is_sliver]
    places = transfer_lost_ink(slivers, evidence, page)
    return mark_lost_ink(page, places), places


def _mend(page: Page) -> Page:
    return replace(page, image=mend(page.image, page.seams))
