"""Shreds and their Arrangement in, Pages out, in one of two copies that are never mixed up.

The *evidence* copy has unchanged pixels and shows where paper was lost. The *reading* copy is straight and
its seams are mended, for people and machines to read. Every Page says which it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from deshred.elements import Arrangement, Copy, Page, ShredSet, Slot
from deshred.executors import Executor, Progress, SerialExecutor, default_executor
from deshred.imaging.composition.evidence import compose_evidence
from deshred.imaging.composition.lost_ink import LostInk as LostInk
from deshred.imaging.composition.lost_ink import find_lost_ink as find_lost_ink
from deshred.imaging.composition.lost_ink import mark_lost_ink as mark_lost_ink
from deshred.imaging.composition.mending import mend as mend
from deshred.imaging.composition.missing import MissingPaper as MissingPaper
from deshred.imaging.composition.options import CompositionOptions as CompositionOptions
from deshred.imaging.composition.reading import compose_reading


def compose(
    shreds: ShredSet,
    arrangement: Arrangement,
    *,
    options: CompositionOptions | None = None,
    copy: Copy = "evidence",
    missing: Sequence[MissingPaper] = (),
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Page]:
    """Lay the shreds of every page side by side."""
    executor = executor or SerialExecutor()
    if not executor.shares_memory:  # all shreds would travel with every page
        executor = default_executor()
    compose_page = partial(
        _compose_page,
        shreds=shreds,
        compose_copy=_COPIES[copy],
        options=options or CompositionOptions(),
        missing=tuple(missing),
    )
    pages = [slots for slots in arrangement.pages if slots]
    return executor.map(compose_page, pages, stage="composing", progress=progress)


_COPIES: dict[Copy, Callable[..., Page]] = {"evidence": compose_evidence, "reading": compose_reading}


def _compose_page(
    slots: Sequence[Slot],
    *,
    shreds: ShredSet,
    compose_copy: Callable[..., Page],
    options: CompositionOptions,
    missing: Sequence[MissingPaper],
) -> Page:
    chosen = [shreds[shreds.index_of(slot.shred_id)] for slot in slots]
    return compose_copy(slots, chosen, options=options, missing=missing)
