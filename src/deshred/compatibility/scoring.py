"""Shreds and a scorer in, the Compatibility of all joins out, block by block; no torch here.

A scorer describes every edge once (`encode_*`) and then compares blocks of descriptions. A pairwise
network, towers, the outline, a pixel distance and a sum of several all fit this face.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.calibration import Calibration
from deshred.compatibility.margins import Borders, Facing, observe_borders, weigh_margins
from deshred.elements import (
    Compatibility,
    Edge,
    Margins,
    Shred,
    ShredSet,
    check_unique,
    combine_fingerprints,
)
from deshred.errors import InputError, SettingsError
from deshred.executors import Executor, SerialExecutor
from deshred.imaging.edges import EdgeOptions, EdgePair, extract_edges

Progress = Callable[[str, int, int], None]  # (stage, done, total)


@dataclass(frozen=True, eq=False)
class ScoreBlock:
    """Scores and offsets of every right-hand edge (rows) with every left-hand edge (columns)."""

    scores: NDArray[np.float32]  # (a, b): log-odds, up is good
    offsets: NDArray[np.int16]  # (a, b): px to move the right shred down, in rows of the edges


class Scorer(Protocol):
    """What turns edges into scores. It owns its edge options: training and scoring cannot differ."""

    @property
    def name(self) -> str:
        """One word, as `--scorer` takes it."""

    @property
    def edge_options(self) -> EdgeOptions: ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever scores may: name, options, and the SHA-256 of the model."""

    @property
    def calibration(self) -> Calibration | None:
        """How margins become probabilities; None where scores are not log-odds."""

    def encode_rights(self, edges: Sequence[Edge]) -> Any:
        """Describe right-hand edges (of the shreds that stand left); sliceable along the first axis."""

    def encode_lefts(self, edges: Sequence[Edge]) -> Any:
        """Describe left-hand edges (of the shreds that stand right); sliceable along the first axis."""

    def adapt(self, rights: Any, lefts: Any, /) -> Scorer:
        """The scorer for the pile with these descriptions; itself, where a pile teaches it nothing."""

    def score_block(self, rights: Any, lefts: Any) -> ScoreBlock:
        """Compare every description in `rights` with every one in `lefts`."""


@dataclass(frozen=True)
class ScoringOptions:
    """Blocks of `block` x `block` joins; beyond `dense_limit` shreds only `candidates` per edge are kept."""

    block: int = 256
    dense_limit: int = 4000
    candidates: int = 64

    def __post_init__(self) -> None:
        if self.block < 1 or self.candidates < 1 or self.dense_limit < 0:
            raise SettingsError(
                f"block and candidates must be at least 1 and dense_limit at least 0, got {self.block}, "
                f"{self.candidates} and {self.dense_limit}."
            )


@dataclass(frozen=True, eq=False)
class Descriptions:
    """All edges of a pile as a scorer sees them, ready to be compared; no pixels any more."""

    ids: tuple[str, ...]
    fingerprint: str  # of the ShredSet
    rights: Any
    lefts: Any
    tops: NDArray[np.int32]  # (n,): the shred's row that is row 0 of its edges
    borders: Borders


def score(
    shreds: Iterable[Shred],
    scorer: Scorer,
    *,
    options: ScoringOptions | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Compatibility:
    """Score every join of a pile.

    Shreds are looked at once, some at a time, and not kept: a pile that does not fit into memory can come
    from a generator.
    """
    options = options or ScoringOptions()
    coming = iter(shreds)
    parts: list[Descriptions] = []
    fingerprints: list[str] = []
    while part := list(islice(coming, options.block)):
        some = ShredSet(part)
        parts.append(describe(some, cut_edges(some, scorer, executor=executor), scorer))
        fingerprints += [shred.fingerprint for shred in some]
        if progress:
            progress("encoding", len(fingerprints), len(fingerprints))
    if not parts:
        raise InputError("there are no shreds to score. Give at least two.")
    descriptions = _join_descriptions(parts, fingerprints)
    parts.clear()
    return compare(descriptions, scorer, options=options, progress=progress)


def _join_descriptions(parts: Sequence[Descriptions], fingerprints: Sequence[str]) -> Descriptions:
    ids = tuple(id_ for part in parts for id_ in part.ids)
    check_unique(ids)
    return Descriptions(
        ids,
        combine_fingerprints(fingerprints),
        join_arrays([part.rights for part in parts]),
        join_arrays([part.lefts for part in parts]),
        join_arrays([part.tops for part in parts]),
        join_arrays([part.borders for part in parts]),
    )


def join_arrays(parts: Sequence[Any]) -> Any:
    """Arrays one behind the other, also inside dataclasses."""
    first = parts[0]
    if is_dataclass(first) and not isinstance(first, type):
        columns = {f.name: [getattr(part, f.name) for part in parts] for f in fields(first)}
        return replace(first, **{name: join_arrays(column) for name, column in columns.items()})
    return None if first is None else np.concatenate(parts)


def cut_edges(
    shreds: ShredSet,
    scorer: Scorer,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[EdgePair]:
    """Both edges of every shred, in the form that the scorer asks for."""
    cut = partial(extract_edges, options=scorer.edge_options)
    return (executor or SerialExecutor()).map(cut, list(shreds), stage="edges", progress=progress)


def describe(
    shreds: ShredSet, edges: Sequence[EdgePair], scorer: Scorer, *, progress: Progress | None = None
) -> Descriptions:
    """Let the scorer look at every edge once."""
    if progress:
        progress("encoding", 0, 2)
    rights = scorer.encode_rights([pair.right for pair in edges])
    if progress:
        progress("encoding", 1, 2)
    lefts = scorer.encode_lefts([pair.left for pair in edges])
    if progress:
        progress("encoding", 2, 2)
    tops = np.array([pair.left.top for pair in edges], np.int32)
    return Descriptions(shreds.ids, shreds.fingerprint, rights, lefts, tops, observe_borders(shreds, edges))


def compare(
    descriptions: Descriptions,
    scorer: Scorer,
    *,
    options: ScoringOptions | None = None,
    progress: Progress | None = None,
) -> Compatibility:
    """Score all joins; dense up to `dense_limit` shreds, the best candidates of each edge beyond."""
    options = options or ScoringOptions()
    scorer = scorer.adapt(descriptions.rights, descriptions.lefts)
    blocks = _blocks(descriptions, scorer, options.block, progress)
    if len(descriptions.ids) <= options.dense_limit:
        compatibility = _gather_dense(descriptions, blocks)
    else:
        compatibility = _gather_sparse(descriptions, blocks, options.candidates)
    margins = weigh_ends(descriptions.rights, descriptions.lefts, descriptions.borders, scorer)
    return replace(compatibility, margins=margins)


def weigh_ends(rights: Any, lefts: Any, borders: Borders, scorer: Scorer) -> Margins | None:
    """Where pages may begin and end; None where scores are not log-odds: nothing is weighed with them."""
    if scorer.calibration is None:
        return None
    return weigh_margins(borders, face_blank(rights, lefts, scorer))


def face_blank(rights: Any, lefts: Any, scorer: Scorer) -> Facing:
    """What every edge scores beside blank paper.

    Half of what blank paper scores beside itself is taken off on either side: a page break is two such joins
    where one was, and the constants of the blank edges must not count.
    """
    rows, width = scorer.edge_options.rows, scorer.edge_options.width
    white = np.full((rows, 3), 255, np.uint8)
    paper = Edge(np.zeros((rows, width), np.uint8), np.zeros(rows, np.float32), white, 0)
    before, behind = scorer.encode_rights([paper]), scorer.encode_lefts([paper])
    half = scorer.score_block(before, behind).scores[0, 0] / 2
    size = ScoringOptions().block  # a large pile must not be unpacked all at once
    parts = [slice(start, start + size) for start in range(0, len(lefts), size)]
    starts = [scorer.score_block(before, lefts[part]).scores[0] for part in parts]
    ends = [scorer.score_block(rights[part], behind).scores[:, 0] for part in parts]
    return Facing(np.concatenate(starts) - half, np.concatenate(ends) - half)


@dataclass(frozen=True, eq=False)
class _PlacedBlock:
    rows: slice
    columns: slice
    block: ScoreBlock


def _blocks(
    descriptions: Descriptions, scorer: Scorer, size: int, progress: Progress | None
) -> Iterator[_PlacedBlock]:
    """Blocks from left to right, then down; joins of a shred with itself cannot be."""
    count = len(descriptions.ids)
    starts = range(0, count, size)
    tops = descriptions.tops
    for done, (row, column) in enumerate(((r, c) for r in starts for c in starts), 1):
        rows, columns = slice(row, min(row + size, count)), slice(column, min(column + size, count))
        block = scorer.score_block(descriptions.rights[rows], descriptions.lefts[columns])
        # scorers count in rows of the edges; shreds of different heights are cut around their own middle
        offsets = (block.offsets + (tops[rows, None] - tops[columns])).astype(np.int16)
        scores = block.scores.astype(np.float32)
        if row == column:
            np.fill_diagonal(scores, -np.inf)
        yield _PlacedBlock(rows, columns, ScoreBlock(scores, offsets))
        if progress:
            progress("scoring", done, len(starts) ** 2)


def _gather_dense(descriptions: Descriptions, blocks: Iterator[_PlacedBlock]) -> Compatibility:
    count = len(descriptions.ids)
    scores = np.empty((count, count), np.float32)
    offsets = np.empty(scores.shape, np.int16)
    for placed in blocks:
        scores[placed.rows, placed.columns] = placed.block.scores
        offsets[placed.rows, placed.columns] = placed.block.offsets
    return Compatibility(descriptions.ids, scores, offsets, descriptions.fingerprint)


def _gather_sparse(
    descriptions: Descriptions, blocks: Iterator[_PlacedBlock], candidates: int
) -> Compatibility:
    """Keep a join when it is among the best candidates of its row or of its column."""
    count = len(descriptions.ids)
    best_of_row = _Best(count, candidates)
    best_of_column = _Best(count, candidates)
    for placed in blocks:
        block, rows, columns = placed.block, placed.rows, placed.columns
        best_of_row.add(rows, np.arange(columns.start, columns.stop), block.scores, block.offsets)
        best_of_column.add(columns, np.arange(rows.start, rows.stop), block.scores.T, block.offsets.T)
    by_row, by_column = best_of_row.joins(), best_of_column.joins()
    rights = np.concatenate([by_row.edges, by_column.partners]).astype(np.int64)
    lefts = np.concatenate([by_row.partners, by_column.edges])
    keys, first = np.unique(rights * count + lefts, return_index=True)
    scores = np.concatenate([by_row.scores, by_column.scores])[first]
    offsets = np.concatenate([by_row.offsets, by_column.offsets])[first]
    row_starts = np.searchsorted(keys, np.arange(count + 1, dtype=np.int64) * count)
    return Compatibility(
        descriptions.ids,
        scores,
        offsets,
        descriptions.fingerprint,
        row_starts=row_starts,
        columns=(keys % count).astype(np.int32),
    )


class _Best:
    """The best candidates of each of n edges seen so far."""

    def __init__(self, count: int, keep: int) -> None:
        self.partners = np.full((count, keep), -1, np.int32)
        self.scores = np.full((count, keep), -np.inf, np.float32)
        self.offsets = np.zeros((count, keep), np.int16)

    def add(
        self,
        edges: slice,
        partners: NDArray[np.intp],
        scores: NDArray[np.float32],
        offsets: NDArray[np.int16],
    ) -> None:
        keep = self.scores.shape[1]
        all_scores = np.hstack([self.scores[edges], scores])
        all_partners = np.hstack(
            [self.partners[edges], np.broadcast_to(partners.astype(np.int32), scores.shape)]
        )
        all_offsets = np.hstack([self.offsets[edges], offsets])
        best = np.argpartition(-all_scores, keep - 1, axis=1)[:, :keep]
        self.scores[edges] = np.take_along_axis(all_scores, best, 1)
        self.partners[edges] = np.take_along_axis(all_partners, best, 1)
        self.offsets[edges] = np.take_along_axis(all_offsets, best, 1)

    def joins(self) -> _Candidates:
        """Every candidate that can be."""
        at = np.nonzero(np.isfinite(self.scores))
        return _Candidates(at[0], self.partners[at], self.scores[at], self.offsets[at])


@dataclass(frozen=True, eq=False)
class _Candidates:
    """Joins in a list: the edge, who stands at it, score and offset."""

    edges: NDArray[np.intp]
    partners: NDArray[np.int32]
    scores: NDArray[np.float32]
    offsets: NDArray[np.int16]
