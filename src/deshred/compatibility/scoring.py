"""A Pile and a scorer in, the Compatibility of all joins out, group by group; no torch here.

Edges are described once, groups of them compared, and what was compared is brought into scores when the whole
pile is known. A store keeps descriptions and evidence by content: a killed run goes on, a pile that grows
pays for its new joins only, and a pile of known documents for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from deshred.cases.store import MemoryStore, Store, make_key
from deshred.compatibility.contract import (
    AnyScorer,
    Descriptions,
    EdgeScorer,
    Evidence,
    PileScorer,
    Rows,
    ScoreBlock,
)
from deshred.compatibility.groups import Group, find_groups
from deshred.compatibility.margins import Borders, Facing, observe_borders, weigh_margins
from deshred.elements import Compatibility, Edge, Margins, Pile
from deshred.errors import SettingsError
from deshred.executors import Executor, Progress, SerialExecutor
from deshred.imaging.edges import crop_edge
from deshred.timing import Stopwatch
from deshred.versions import VERSION

_DESCRIPTION, _EVIDENCE, _LISTED = "description 1", "evidence 1", "listed evidence 1"  # formats: part of keys
_LISTED_PER_BLOCK = 8  # joins of an edge with another group that are kept of a large pile
_LANES = 64  # numbers that a processor works on side by side, at most
_PAPER = "blank paper"  # the key of a group of one: an edge with nothing on it


@dataclass(frozen=True)
class ScoringOptions:
    """Groups of at most `block` shreds; beyond `dense_limit` only `candidates` joins per edge are kept."""

    block: int = 256
    dense_limit: int = 4000
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
    """Score every join of a pile; `store` keeps what depends on a part of it alone."""
    options = options or ScoringOptions()
    store = MemoryStore() if store is None else store
    executor = executor or SerialExecutor()
    stopwatch = stopwatch or Stopwatch()
    if isinstance(scorer, PileScorer):
        with stopwatch.measure("score"):
            return scorer.score_pile(pile.shreds, executor=executor, progress=progress)
    with stopwatch.measure("encode"):
        groups = find_groups([shred.fingerprint for shred in pile.shreds], store, options.block)
        describing = _Describing(pile, scorer, store, executor)
        described = describing.describe_all(groups, progress)
    with stopwatch.measure("score"):
        comparing = _Comparing(described, scorer, store, is_listed=len(pile) > options.dense_limit)
        comparing.compare_all(executor, progress)
        adapted = scorer.adapt(comparing.rights, comparing.find_rows)
        blocks = comparing.reduce_all(adapted, progress)
        if comparing.is_listed:
            compatibility = _gather_listed(pile, blocks, options.candidates)
        else:
            compatibility = _gather_dense(pile, blocks)
        margins = comparing.weigh_margins(adapted)
    return replace(compatibility, margins=margins, calibration=scorer.calibration)


@dataclass(frozen=True, eq=False)
class DescribedGroup:
    """A group of shreds as a scorer sees it; no pixels any more."""

    group: Group
    rights: Any  # Descriptions of the scorer's own type
    lefts: Any
    tops: NDArray[np.int32]  # (n,): the shred's row that is row 0 of its edges
    borders: Borders


@dataclass(frozen=True, eq=False)
class _Describing:
    """All that describing edges needs."""

    pile: Pile
    scorer: EdgeScorer
    store: Store
    executor: Executor

    def describe_all(self, groups: list[Group], progress: Progress | None) -> list[DescribedGroup]:
        described = []
        for done, group in enumerate(groups, 1):
            described.append(self._recall(group) or self._describe(group))
            if progress:
                progress("encoding", done, len(groups))
        return described

    def _key(self, group: Group) -> str:
        return make_key(_DESCRIPTION, VERSION, self.scorer.card.fingerprint, group.key)

    def _recall(self, group: Group) -> DescribedGroup | None:
        kept = self.store.load(self._key(group))
        if kept is None:
            return None
        kind = self.scorer.description_type
        return DescribedGroup(
            group,
            kind.from_arrays(kept, "rights."),
            kind.from_arrays(kept, "lefts."),
            kept["tops"],
            Borders.from_arrays(kept, "borders."),
        )

    def _describe(self, group: Group) -> DescribedGroup:
        wanted = self.scorer.edge_options
        pairs = [self.pile.edges[i] for i in group.members.tolist()]
        lefts = [crop_edge(pair.left, wanted) for pair in pairs]
        rights = [crop_edge(pair.right, wanted) for pair in pairs]
        described = DescribedGroup(
            group,
            self.scorer.describe_rights(rights, self.executor),
            self.scorer.describe_lefts(lefts, self.executor),
            np.array([left.top for left in lefts], np.int32),
            observe_borders([self.pile.shreds[i] for i in group.members.tolist()], pairs),
        )
        arrays = {
            **described.rights.to_arrays("rights."),
            **described.lefts.to_arrays("lefts."),
            "tops": described.tops,
            **described.borders.to_arrays("borders."),
        }
        self.store.save(self._key(group), arrays)
        return described


@dataclass(frozen=True, eq=False)
class _Block:
    """Scores of one group before another: of all its joins, or of those that are listed."""

    rows: Rows  # indices in the pile; (a, 1), or one per listed join
    columns: Rows  # (b,), or one per listed join
    scores: NDArray[np.float32]
    offsets: NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class _Listed:
    """The evidence of single joins of two groups."""

    rows: Rows  # within the group
    columns: Rows
    evidence: Evidence


class _Comparing:
    """The evidence between all groups of a pile, kept in a store."""

    def __init__(
        self, described: list[DescribedGroup], scorer: EdgeScorer, store: Store, *, is_listed: bool
    ) -> None:
        self.is_listed = is_listed
        self._described = described
        self._scorer = scorer
        self._store = store
        self._pairs = [(a, b) for a in described for b in described]
        self._order = np.argsort(np.concatenate([one.group.members for one in described]), kind="stable")

    @property
    def rights(self) -> Descriptions:
        """All right-hand edges in the order of the pile."""
        parts = [one.rights for one in self._described]
        joined: Descriptions = type(parts[0]).concatenate(parts, 0)[self._order]
        return joined

    def compare_all(self, executor: Executor, progress: Progress | None) -> None:
        """Compare what was not compared before, several groups side by side."""
        # matrix products with threads of their own wait for each other, and the more so on a busy machine
        with threadpool_limits(1, "blas"):
            executor.map(self._compare, self._pairs, stage="scoring", progress=progress)

    def _compare(self, pair: tuple[DescribedGroup, DescribedGroup]) -> None:
        if self.is_listed:
            self._find_listed(*pair)
        else:
            self._find(*pair)

    def find_rows(self, rows: Rows) -> Evidence:
        """The evidence of some right-hand edges with all left-hand ones, in the order of the pile."""
        order = np.empty(0, np.intp)
        found: list[Evidence] = []
        for a in self._described:
            _, own, asked = np.intersect1d(a.group.members, rows, return_indices=True)
            if len(own):
                across = [self._find_some(a, own, b) for b in self._described]
                found.append(type(across[0]).concatenate(across, -1).map(lambda e: e[..., self._order]))
                order = np.concatenate([order, asked])
        return type(found[0]).concatenate(found, -2).take_rows(np.argsort(order))

    def _find_some(self, a: DescribedGroup, rows: Rows, b: DescribedGroup) -> Evidence:
        if self.is_listed:  # most of them are not kept
            compared: Evidence = self._scorer.compare(a.rights[rows], b.lefts)
            return compared
        return self._find(a, b).take_rows(rows)

    def reduce_all(self, scorer: EdgeScorer, progress: Progress | None) -> Iterator[_Block]:
        """The scores of all groups, when the scorer knows the pile."""
        for done, (a, b) in enumerate(self._pairs, 1):
            rows, columns = a.group.members, b.group.members
            if self.is_listed:
                listed = self._find_listed(a, b)
                reduced = _reduce(scorer, listed.evidence).map(np.ravel)
                own, other = listed.rows, listed.columns
                tops = a.tops[own] - b.tops[other]
                rows, columns = rows[own], columns[other]
            else:
                reduced = _reduce(scorer, self._find(a, b))
                tops = a.tops[:, None] - b.tops
                rows = rows[:, None]
            # scorers count in rows of the edges; shreds of different heights are cut around their own middle
            offsets = (reduced.offsets + tops).astype(np.int16)
            scores = np.where(rows == columns, np.float32(-np.inf), reduced.scores).astype(np.float32)
            yield _Block(rows, columns, scores, offsets)
            if progress:
                progress("weighing", done, len(self._pairs))

    def weigh_margins(self, scorer: EdgeScorer) -> Margins | None:
        """Where pages may begin and end; None where scores are not log-odds: nothing is weighed with them."""
        if scorer.unit != "nats":
            return None
        borders = Borders.concatenate([one.borders for one in self._described], 0)[self._order]
        parts = [face_paper(one, scorer, self._find) for one in self._described]
        return weigh_margins(borders, Facing.concatenate(parts, 0)[self._order])

    def _find(self, a: DescribedGroup, b: DescribedGroup) -> Evidence:
        """The evidence between two groups, from the store or made now."""
        key = make_key(_EVIDENCE, VERSION, self._scorer.card.fingerprint, a.group.key, b.group.key)
        kept = self._store.load(key)
        if kept is not None:
            recalled: Evidence = self._scorer.evidence_type.from_arrays(kept)
            return recalled
        evidence: Evidence = self._scorer.compare(a.rights, b.lefts)
        self._store.save(key, evidence.to_arrays())
        return evidence

    def _find_listed(self, a: DescribedGroup, b: DescribedGroup) -> _Listed:
        """The same, of the joins of two groups that may count, judged before the pile is known."""
        key = make_key(_LISTED, VERSION, self._scorer.card.fingerprint, a.group.key, b.group.key)
        kept = self._store.load(key)
        if kept is not None:
            evidence = self._scorer.evidence_type.from_arrays(kept, "evidence.")
            return _Listed(kept["rows"], kept["columns"], evidence)
        compared = self._scorer.compare(a.rights, b.lefts)
        rows, columns = np.nonzero(_among_best(self._scorer.reduce(compared).scores))
        listed = _Listed(rows, columns, compared.take(rows, columns))
        arrays = {"rows": rows, "columns": columns, **listed.evidence.to_arrays("evidence.")}
        self._store.save(key, arrays)
        return listed


def face_paper(
    group: DescribedGroup, scorer: EdgeScorer, find: Callable[[DescribedGroup, DescribedGroup], Evidence]
) -> Facing:
    """What every edge of a group scores beside blank paper; `find` compares two groups.

    Half of what blank paper scores beside itself is taken off on either side: a page break is two such joins
    where one was, and the constants of the blank edges must not count.
    """
    paper = describe_paper(scorer)
    half = _reduce(scorer, find(paper, paper)).scores[0, 0] / 2
    starts = _reduce(scorer, find(paper, group)).scores[0]
    ends = _reduce(scorer, find(group, paper)).scores[:, 0]
    return Facing(starts - half, ends - half)


def describe_paper(scorer: EdgeScorer) -> DescribedGroup:
    """An edge of blank paper, as a group of its own."""
    rows, width = scorer.edge_options.rows, scorer.edge_options.width
    white = np.full((rows, 3), 255, np.uint8)
    paper = Edge(np.zeros((rows, width), np.uint8), np.zeros(rows, np.float32), white, 0)
    nothing = np.zeros(1, np.float32)
    return DescribedGroup(
        Group(np.zeros(1, np.intp), _PAPER),
        scorer.describe_rights([paper], SerialExecutor()),
        scorer.describe_lefts([paper], SerialExecutor()),
        np.zeros(1, np.int32),
        Borders(nothing, nothing, nothing, nothing),
    )


def _among_best(scores: NDArray[np.float32]) -> NDArray[np.bool_]:
    """The joins that are among the best of their row or of their column."""
    return _best_of_rows(scores) | _best_of_rows(scores.T).T


def _best_of_rows(scores: NDArray[np.float32]) -> NDArray[np.bool_]:
    if scores.shape[1] <= _LISTED_PER_BLOCK:
        return np.ones(scores.shape, np.bool_)
    best = np.argpartition(-scores, _LISTED_PER_BLOCK - 1, axis=1)[:, :_LISTED_PER_BLOCK]
    chosen = np.zeros(scores.shape, np.bool_)
    np.put_along_axis(chosen, best, True, axis=1)
    return chosen


def _reduce(scorer: EdgeScorer, evidence: Evidence) -> ScoreBlock:
    """Scores that do not depend on the group: NumPy rounds the last few numbers of a row differently."""
    count = _count_columns(evidence)
    missing = -count % _LANES
    padded = evidence.map(lambda array: np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)]))
    return scorer.reduce(padded).map(lambda array: array[..., :count])


def _count_columns(evidence: Evidence) -> int:
    return int(next(iter(evidence.to_arrays().values())).shape[-1])


def _gather_dense(pile: Pile, blocks: Iterator[_Block]) -> Compatibility:
    count = len(pile)
    scores = np.empty((count, count), np.float32)
    offsets = np.empty(scores.shape, np.int16)
    for block in blocks:
        scores[block.rows, block.columns] = block.scores
        offsets[block.rows, block.columns] = block.offsets
    return Compatibility(pile.shreds.ids, scores, offsets, pile.shreds.fingerprint)


def _gather_listed(pile: Pile, blocks: Iterator[_Block], candidates: int) -> Compatibility:
    """Keep a join when it is among the best candidates of its row or of its column."""
    count = len(pile)
    parts = list(blocks)
    rows = np.concatenate([part.rows for part in parts]).astype(np.int64)
    columns = np.concatenate([part.columns for part in parts]).astype(np.int64)
    scores = np.concatenate([part.scores for part in parts])
    offsets = np.concatenate([part.offsets for part in parts])
    kept = _rank(rows, scores) < candidates
    kept |= _rank(columns, scores) < candidates
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


def _rank(edges: NDArray[np.int64], scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """The place of every join among those of its edge, the best first."""
    order = np.lexsort((-scores, edges))
    starts = np.searchsorted(edges[order], edges[order], "left")
    ranks = np.empty(len(edges), np.int64)
    ranks[order] = np.arange(len(edges)) - starts
    return ranks
