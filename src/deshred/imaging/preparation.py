"""Loose shreds in, a Pile ready to be scored out: at 300 dpi, blank ones set aside, both edges cut once."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial

from deshred.elements import EdgePair, Pile, Shred, ShredSet
from deshred.errors import InputError
from deshred.executors import Executor, Progress, SerialExecutor
from deshred.imaging.binarization import BlankOptions, is_blank
from deshred.imaging.decoding import WORKING_DPI, resize
from deshred.imaging.edges import EdgeOptions, extract_edges


def prepare(
    shreds: Iterable[Shred],
    *,
    blank: BlankOptions | None = None,
    edges: EdgeOptions | None = None,
    keep: Collection[str] = (),
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Pile:
    """Make shreds ready to be matched; those in `keep` are not set aside, even if they are blank.

    `edges` is what the scorer asks for: `scorer.edge_options`.
    """
    look = partial(
        _prepare_shred, blank=blank or BlankOptions(), edges=edges or EdgeOptions(), keep=frozenset(keep)
    )
    prepared = (executor or SerialExecutor()).map(look, list(shreds), stage="preparing", progress=progress)
    inked = [one for one in prepared if one.edges is not None]
    aside = [one.shred for one in prepared if one.edges is None]
    if len(inked) < 2:
        count = "1 shred" if len(prepared) == 1 else f"{len(prepared)} shreds"
        raise InputError(
            f"found {count}, {len(aside)} of them blank; at least two shreds with ink are needed to join "
            "anything. Give more files or folders, or scan with more contrast if the shreds are not blank."
        )
    return Pile(
        ShredSet([one.shred for one in inked]),
        [one.edges for one in inked if one.edges is not None],
        ShredSet(aside),
    )


@dataclass(frozen=True, eq=False)
class _Prepared:
    shred: Shred
    edges: EdgePair | None  # None: blank


def _prepare_shred(
    shred: Shred, *, blank: BlankOptions, edges: EdgeOptions, keep: Collection[str]
) -> _Prepared:
    shred = to_working_resolution(shred)
    _ = shred.fingerprint  # read while its pixels are at hand, and on all processors
    if shred.id not in keep and is_blank(shred, options=blank):
        return _Prepared(shred, None)
    return _Prepared(shred, extract_edges(shred, options=edges))


def to_working_resolution(shred: Shred) -> Shred:
    """The shred at 300 dpi; one that is within 1 % of it keeps its pixels."""
    scale = WORKING_DPI / shred.dpi
    if abs(scale - 1) <= 0.01:
        return shred
    image, mask = resize(shred.image, shred.mask, scale, scale)
    assert mask is not None
    return replace(shred, image=image, mask=mask, dpi=WORKING_DPI)
