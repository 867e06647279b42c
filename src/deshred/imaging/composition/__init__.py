"""Shreds and their Arrangement in, Pages out, in one of two copies that are never mixed up.

The *evidence* copy has unchanged pixels and shows where paper was lost. The *reading* copy is straight and
its seams are mended, for people and machines to read. Every Page says which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from deshred.elements import Arrangement, Copy, Page, Placement, Shred, ShredSet
from deshred.executors import Executor, Progress, SerialExecutor, default_executor
from deshred.imaging.composition.evidence import compose_evidence
from deshred.imaging.composition.lost_ink import LostInk as LostInk
from deshred.imaging.composition.lost_ink import erase_marks as erase_marks
from deshred.imaging.composition.lost_ink import find_lost_ink as find_lost_ink
from deshred.imaging.composition.lost_ink import mark_lost_ink as mark_lost_ink
from deshred.imaging.composition.lost_ink import transfer_lost_ink as transfer_lost_ink
from deshred.imaging.composition.mending import mend as mend
from deshred.imaging.composition.missing import MissingPaper as MissingPaper
from deshred.imaging.composition.options import CompositionOptions as CompositionOptions
from deshred.imaging.composition.reading import compose_reading
from deshred.lazy import LazySequence
from deshred.shelf import give_back


def compose(
    shreds: ShredSet,
    arrangement: Arrangement,
    *,
    options: CompositionOptions | None = None,
    copy: Copy = "evidence",
    missing: Sequence[MissingPaper] = (),
    lazily: bool = False,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Sequence[Page]:
    """Lay the shreds of every page side by side, either now or, if lazy, when the page is asked for."""
    pages = LazyPages(shreds, arrangement, options=options, copy=copy, missing=missing)
    if lazily:
        return pages
    executor = executor or SerialExecutor()
    if not executor.shares_memory:  # all shreds would travel with every page
        executor = default_executor()
    return executor.map(pages.compose, range(len(pages)), stage="composing", progress=progress)


class LazyPages(LazySequence[Page]):
    """The pages of an arrangement, each composed when it is asked for: all of them may not fit into memory.

    The one that was asked for last is kept, and of all where their shreds lie.
    """

    def __init__(
        self,
        shreds: ShredSet,
        arrangement: Arrangement,
        *,
        options: CompositionOptions | None = None,
        copy: Copy = "evidence",
        missing: Sequence[MissingPaper] = (),
    ) -> None:
        self._shreds = shreds
        self._slots = [slots for slots in arrangement.pages if slots]
        self._options = options or CompositionOptions()
        self._compose_copy = _COPIES[copy]
        self._missing = tuple(missing)
        self._last: tuple[int, Page] | None = None
        self._placements: dict[int, tuple[Placement, ...]] = {}

    def make(self, index: int) -> Page:
        """The page, which is kept until another one is asked for."""
        last = self._last
        if last is None or last[0] != index:
            last = self._last = index, self.compose(index)
        return last[1]

    def __len__(self) -> int:
        return len(self._slots)

    def compose(self, index: int) -> Page:
        """Compose a page; it is not kept, and of shreds that lie on disk nothing stays in memory."""
        slots, shreds = self._slots[index], self.choose(index)
        page = self._compose_copy(slots, shreds, options=self._options, missing=self._missing)
        self._placements[index] = page.placements
        for shred in shreds:
            give_back(shred)
        return page

    def choose(self, index: int) -> list[Shred]:
        """The shreds of a page, from left to right."""
        return [self._shreds[self._shreds.index_of(slot.shred_id)] for slot in self._slots[index]]

    def find_placements(self, index: int) -> tuple[Placement, ...]:
        """Where the shreds of a page lie; it is composed once at most."""
        if index not in self._placements:
            self.compose(index)
        return self._placements[index]


_COPIES: dict[Copy, Callable[..., Page]] = {"evidence": compose_evidence, "reading": compose_reading}
