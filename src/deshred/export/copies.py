"""The copy of the pages that is asked for, and its words, one page after the other.

The evidence copy is shown as it is, but read with its seams mended: mending moves no pixel, so its words lie
where they were read. The reading copy is straight, so its words lie elsewhere: words belong to one copy only.
Where ink may have been lost in a tear the reading copy gets a frame, but not before it was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

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
from deshred.reading import Reading
from deshred.runs import Run

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Taken:
    """A page as it is shown, what was read on it, and the places that are marked in it."""

    page: Page
    reading: Reading | None = None
    lost_ink: tuple[LostInk, ...] = ()


def take_pages(
    reconstruction: Reconstruction,
    copy: Copy,
    numbers: Sequence[int] = (),
    *,
    use: Callable[[Taken], Result],
    read_page: Callable[[Page], Reading] | None = None,
    as_it_is: bool = False,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """What `use` makes of the pages of a copy, all or those of these numbers; few are in memory at a time.

    Pages are read where there is something to read them with, evidence copies mended or `as_it_is`.
    """
    count = len(reconstruction.pages)
    for number in numbers:
        if not 1 <= number <= count:
            raise SettingsError(f"there is no page {number}: the case has pages 1 to {count}.")
    wanted = [number - 1 for number in numbers] or range(count)
    composer = _Composer(reconstruction, copy)

    def take(index: int) -> Result:
        page = composer.compose(index)
        reading = None
        if read_page is not None:
            reading = read_page(page if as_it_is or copy == "reading" else _mend(page))
        shown = Taken(page, reading) if copy == "evidence" else _mark(composer.find(index), page, reading)
        return use(shown)

    executor = default_executor(reconstruction.settings.jobs if jobs is None else jobs)
    for done, result in enumerate(executor.stream(take, wanted), 1):
        if progress is not None:
            progress("composing" if read_page is None else "reading", done, len(wanted))
        yield result


class _Composer:
    """Composes the pages of a copy, where they are not held."""

    def __init__(self, reconstruction: Reconstruction, copy: Copy) -> None:
        self._made = reconstruction
        held = reconstruction.pages
        self._pages = held
        if isinstance(held, LazyPages) or any(page.copy != copy for page in held):
            self._pages = Run(reconstruction.settings).compose(
                reconstruction.pile, reconstruction.arrangement, reconstruction.compatibility, copy=copy
            )

    def compose(self, index: int) -> Page:
        """A page of the copy."""
        return self._compose(self._pages, index)

    def find(self, index: int) -> Page:
        """The same page as the reconstruction has it: its evidence copy."""
        return self._compose(self._made.pages, index)

    def _compose(self, pages: Sequence[Page], index: int) -> Page:
        return pages.compose(index) if isinstance(pages, LazyPages) else pages[index]


def _mark(evidence: Page, page: Page, reading: Reading | None) -> Taken:
    """A reading copy with frames where the evidence shows that ink may be lost."""
    slivers = [place for place in find_lost_ink(evidence) if place.is_sliver]
    places = transfer_lost_ink(slivers, evidence, page)
    return Taken(mark_lost_ink(page, places), reading, places)


def _mend(page: Page) -> Page:
    return replace(page, image=mend(page.image, page.seams))
