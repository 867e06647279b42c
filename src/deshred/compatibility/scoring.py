"""A Pile and a scorer in, the Compatibility of all joins out, group by group; no torch here.

Edges are described once, groups of them compared, and what was compared is brought into scores when the whole
pile is known. A store keeps descriptions and evidence by content: a killed run goes on, a pile that grows
pays for its new joins only, and a pile of known documents for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from threadpoolctl import threadpool_limits

from deshred.cases.store import MemoryStore, SharedStore, Store
from deshred.compatibility.choosing import ComparingChosen
from deshred.compatibility.comparing import Block, Comparing, ComparingAll, ListingBest
from deshred.compatibility.contract import AnyScorer, EdgeScorer, LookingClosely, PileScorer
from deshred.compatibility.describing import DescribedGroup, Describing
from deshred.compatibility.faces import add_faces
from deshred.compatibility.groups import find_groups
from deshred.compatibility.origins import weigh_origins
from deshred.compatibility.sharing import compare_ahead, describe_ahead
from deshred.compatibility.sketches import Glancing, rank_joins
from deshred.compatibility.tears import are_torn
from deshred.elements import Compatibility, Pile
from deshred.errors import SettingsError
from deshred.executors import Executor, Progress, SerialExecutor, default_executor
from deshred.shelf import Shelf
from deshred.timing import Stopwatch


@dataclass(frozen=True)
class ScoringOptions:
    """Groups of at most `block` shreds; beyond `dense_limit` only `candidates` joins per edge are kept."""

    block: int = 256
    dense_limit: int = 1500
    candidates: int = 64

    def __post_init__(self) -> None:
        if self.block < 1 or self.candidates < 1 or self.dense_limit < 0:
            raise SettingsError(
                f"block and candidates must be at least 1 and dense_limit at least 0, got {self.block}, "
                f"{self.candidates} and {self.dense_limit}."
            )


def score(
    pile: Pile,
    scorer: AnyScorer,
    *,
    options: ScoringOptions | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    stopwatch: Stopwatch | None = None,
) -> Compatibility:
    """Score every join of a pile; `store` keeps results that depend on only a part of it.

    An executor on other machines needs a store that they reach.
    """
    options = options or ScoringOptions()
    store = MemoryStore() if store is None else store
    executor = executor or SerialExecutor()
    stopwatch = stopwatch or Stopwatch()
    if isinstance(scorer, PileScorer):
        with stopwatch.measure("score"):
            compatibility = scorer.score_pile(pile.shreds, executor=executor, progress=progress)
            return add_faces(compatibility, pile.faces)
    # who does not share our memory works on the store, or not at all
    shared = store if isinstance(store, SharedStore) and not executor.shares_memory else None
    near = executor if executor.shares_memory else default_executor()
    fingerprints = [shred.fingerprint for shred in pile.shreds]
    with stopwatch.measure("encode"):
        groups = find_groups(fingerprints, store, options.block)
        if shared is not None:
            describe_ahead(pile, groups, scorer, shared, executor=executor, progress=progress)
        shelf = Shelf()  # a large pile's descriptions may not fit into memory
        described = Describing(pile, scorer, store, near).describe_all(
            groups, None if shared else progress, keep=shelf.keep
        )
    # matrix products with threads of their own wait for each other, and the more so on a busy machine
    with stopwatch.measure("score"), threadpool_limits(1, "blas"):
        comparing = _choose_way(described, scorer, store, fingerprints, options, shelf)
        described.clear()  # the pile may be large, and one copy of its descriptions is enough
        if shared is not None:
            compare_ahead(comparing, scorer, shared, executor=executor, progress=progress)
        else:
            comparing.compare_all(near, progress)
        adapted = scorer.adapt(comparing.rights, comparing.find_rows)
        blocks = comparing.reduce_all(adapted, progress)
        if comparing.is_listed:
            compatibility = _gather_listed(pile, blocks, options.candidates)
        else:
            compatibility = _gather_dense(pile, blocks)
        margins = comparing.weigh_margins(adapted)
        compatibility = replace(compatibility, margins=margins, calibration=scorer.calibration)
        # an outline says more than a closer look at the ink
        if margins is not None and isinstance(scorer, LookingClosely) and not are_torn(pile.edges):
            compatibility = replace(
                compatibility, beliefs=comparing.look_closely(scorer, compatibility, near)
            )
        if scorer.unit == "nats":
            compatibility = weigh_origins(compatibility, pile.shreds)
        return add_faces(compatibility, pile.faces)


def _choose_way(
    described: list[DescribedGroup],
    scorer: EdgeScorer,
    store: Store,
    fingerprints: Sequence[str],
    options: ScoringOptions,
    shelf: Shelf,
) -> Comparing:
    if len(fingerprints) <= options.dense_limit:
        return ComparingAll(tuple(described), scorer, store)
    if isinstance(scorer, Glancing):
        return ComparingChosen(described, scorer, store, fingerprints, join=shelf.join)
    return ListingBest(tuple(described), scorer, store)


def _gather_dense(pile: Pile, blocks: Iterator[Block]) -> Compatibility:
    count = len(pile)
    scores = np.empty((count, count), np.float32)
    offsets = np.empty(scores.shape, np.int16)
    for block in blocks:
        scores[block.rows, block.columns] = block.scores
        offsets[block.rows, block.columns] = block.offsets
    return Compatibility(pile.shreds.ids, scores, offsets, pile.shreds.fingerprint)


def _gather_listed(pile: Pile, blocks: Iterator[Block], candidates: int) -> Compatibility:
    """Keep a join when it is among the best candidates of its row or of its column."""
    count = len(pile)
    parts = list(blocks)
    rows = np.concatenate([part.rows for part in parts]).astype(np.int64)
    columns = np.concatenate([part.columns for part in parts]).astype(np.int64)
    scores = np.concatenate([part.scores for part in parts])
    offsets = np.concatenate([part.offsets for part in parts])
    kept = rank_joins(rows, scores) < candidates
    kept |= rank_joins(columns, scores) < candidates
    kept &= np.isfinite(scores)
    order = np.flatnonzero(kept)[np.lexsort((columns[kept], rows[kept]))]
    return Compatibility(
        pile.shreds.ids,
        scores[order],
        offsets[order],
        pile.shreds.fingerprint,
        row_starts=np.searchsorted(rows[order], np.arange(count + 1)).astype(np.int64),
        columns=columns[order].astype(np.int32),
    )
