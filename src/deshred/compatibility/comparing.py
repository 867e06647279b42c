"""Compare described groups, in one of three ways: the evidence of their joins, and the scores that follow.

A small pile is compared in full. Of a large one, a scorer that can takes a first look at all joins and
compares those that stand out (`choosing.py`); with any other scorer all are compared and the best of every
two groups kept. The evidence of a join is the same to the last bit in all three.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.cases.store import Arrays, Store, make_key
from deshred.compatibility.contract import (
    Descriptions,
    EdgeScorer,
    Evidence,
    LookingClosely,
    Rows,
    ScoreBlock,
)
from deshred.compatibility.describing import DescribedGroup, describe_paper
from deshred.compatibility.margins import Borders, Facing, weigh_margins
from deshred.compatibility.sketches import mark_best
from deshred.elements import Compatibility, Margins
from deshred.executors import Executor, Progress
from deshred.versions import VERSION

# formats: part of keys
_EVIDENCE, _LISTED = "evidence 3", "listed evidence 3"
_LISTED_PER_BLOCK = 8  # joins of an edge with another group that are kept of a large pile
_ROOM = 200 << 20  # bytes of evidence at hand: of some 700 shreds
_LANES = 64  # numbers that a processor works on side by side, at most

Pair = tuple[DescribedGroup, DescribedGroup]


@dataclass(frozen=True, eq=False)
class Block:
    """Scores of one group before another: of all its joins, or of those that are listed."""

    rows: Rows  # indices in the pile; (a, 1), or one per listed join
    columns: Rows  # (b,), or one per listed join
    scores: NDArray[np.float32]
    offsets: NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class Listed:
    """The evidence of single joins of two groups."""

    rows: Rows  # within the group
    columns: Rows
    evidence: Evidence


class Comparing(ABC):
    """The evidence between all groups of a pile, kept in a store."""

    is_listed = True

    def __init__(self, described: Sequence[DescribedGroup], scorer: EdgeScorer, store: Store) -> None:
        self._described = described
        self._scorer = scorer
        self._store = store
        self._held: dict[str, Evidence] = {}
        self._room = _ROOM
        members = np.concatenate([one.group.members for one in described])
        self._order = np.argsort(members, kind="stable")
        self._is_in_order = bool((members[:-1] < members[1:]).all())

    @property
    def rights(self) -> Descriptions:
        """All right-hand edges in the order of the pile."""
        joined: Descriptions = self._join([one.rights for one in self._described])
        return joined

    @property
    def lefts(self) -> Descriptions:
        """All left-hand edges in the order of the pile."""
        joined: Descriptions = self._join([one.lefts for one in self._described])
        return joined

    def compare_all(self, executor: Executor, progress: Progress | None) -> None:
        """Compare what was not compared before, several groups side by side."""
        pairs = self.pairs
        for done, _ in enumerate(executor.stream(self.compare, pairs), 1):  # what is kept is in the store
            if progress:
                progress("scoring", done, len(pairs))

    def find_rows(self, rows: Rows) -> Evidence:
        """The evidence of some right-hand edges with all left-hand ones, in the order of the pile.

        Most of it is not kept, so it is made now: some edges at once take hardly longer than one.
        """
        rights = self._take_rights(rows)
        across: list[Evidence] = [self._scorer.compare(rights, one.lefts) for one in self._described]
        return type(across[0]).concatenate(across, -1).map(lambda array: array[..., self._order])

    def _take_rights(self, rows: Rows) -> Descriptions:
        stops = np.cumsum([len(one.group) for one in self._described])
        places = self._order[rows]
        groups = np.searchsorted(stops, places, "right")
        taken: list[Descriptions] = []
        for group, place in zip(groups.tolist(), places.tolist(), strict=True):
            first = place - int(stops[group]) + len(self._described[group].group)
            taken.append(self._described[group].rights[slice(first, first + 1)])
        return type(taken[0]).concatenate(taken, 0)

    def reduce_all(self, scorer: EdgeScorer, progress: Progress | None) -> Iterator[Block]:
        """The scores of all groups, when the scorer knows the pile."""
        for done, (a, b) in enumerate(self.pairs, 1):
            yield self._reduce(scorer, a, b)
            if progress:
                progress("weighing", done, len(self.pairs))

    def weigh_margins(self, scorer: EdgeScorer) -> Margins | None:
        """Where pages may begin and end; None where scores are not log-odds: nothing is weighed with them."""
        if scorer.unit != "nats":
            return None
        borders: Borders = self._join([one.borders for one in self._described])
        return weigh_margins(
            borders, self._join([face_paper(one, scorer, self._find) for one in self._described])
        )

    def look_closely(
        self, scorer: LookingClosely, compatibility: Compatibility, executor: Executor
    ) -> NDArray[np.float32] | None:
        """What a close look at the best joins says, shaped like the scores."""
        tops = self._sort(np.concatenate([one.tops for one in self._described]))
        return scorer.look_closely(compatibility, self.rights, self.lefts, tops, executor)

    @property
    def pairs(self) -> Sequence[Pair]:
        """What is compared with what."""
        return [(a, b) for a in self._described for b in self._described]

    @abstractmethod
    def compare(self, pair: Pair) -> Any:
        """Compare two groups, unless the store has it."""

    def _reduce(self, scorer: EdgeScorer, a: DescribedGroup, b: DescribedGroup) -> Block:
        listed: Listed = self.compare((a, b))
        reduced = reduce_evidence(scorer, listed.evidence).map(np.ravel)
        tops = a.tops[listed.rows] - b.tops[listed.columns]
        return _to_block(reduced, a.group.members[listed.rows], b.group.members[listed.columns], tops)

    def _find(self, a: DescribedGroup, b: DescribedGroup) -> Evidence:
        """The evidence between two groups, from the store or made now."""
        key = self._key(_EVIDENCE, a, b)
        if key in self._held:
            return self._held[key]
        evidence = self._recall_evidence(self._store.load(key), (len(a.group), len(b.group)))
        if evidence is None:
            evidence = self._scorer.compare(a.rights, b.lefts)
            self._store.save(key, evidence.to_arrays())
        self._hold(key, evidence)
        return evidence

    def _hold(self, key: str, evidence: Evidence) -> None:
        """Keep what will be asked for again at hand, while there is room."""
        size = sum(array.nbytes for array in evidence.to_arrays().values())
        if size <= self._room:
            self._room -= size
            self._held[key] = evidence

    def _recall_evidence(
        self, kept: Arrays | None, size: tuple[int, int], prefix: str = ""
    ) -> Evidence | None:
        """What a store has kept, if that can be: it may come from a stranger."""
        if kept is None:
            return None
        recalled: Evidence | None = self._scorer.evidence_type.recall(kept, self._like, size, prefix)
        return recalled

    @cached_property
    def _like(self) -> Evidence:
        first = self._described[0]
        evidence: Evidence = self._scorer.compare(first.rights[:1], first.lefts[:0])
        return evidence

    def _key(self, kind: str, *groups: DescribedGroup) -> str:
        return make_key(kind, VERSION, self._scorer.card.fingerprint, *(one.group.key for one in groups))

    def _join(self, parts: Sequence[Any]) -> Any:
        """Descriptions of the groups as those of the pile, in its order."""
        return self._sort(type(parts[0]).concatenate(parts, 0))

    def _sort(self, joined: Any) -> Any:
        """Descriptions of all groups, one behind the other, in the order of the pile: mostly they are."""
        return joined if self._is_in_order else joined[self._order]


class ComparingAll(Comparing):
    """All joins, and all are kept."""

    is_listed = False

    def compare(self, pair: Pair) -> None:
        self._find(*pair)

    def find_rows(self, rows: Rows) -> Evidence:
        """As the store has it."""
        order = np.empty(0, np.intp)
        found: list[Evidence] = []
        for a in self._described:
            _, own, asked = np.intersect1d(a.group.members, rows, return_indices=True)
            if len(own):
                across = [self._find(a, b).take_rows(own) for b in self._described]
                found.append(type(across[0]).concatenate(across, -1).map(lambda e: e[..., self._order]))
                order = np.concatenate([order, asked])
        return type(found[0]).concatenate(found, -2).take_rows(np.argsort(order))

    def _reduce(self, scorer: EdgeScorer, a: DescribedGroup, b: DescribedGroup) -> Block:
        reduced = reduce_evidence(scorer, self._find(a, b))
        return _to_block(reduced, a.group.members[:, None], b.group.members, a.tops[:, None] - b.tops)


class ListingBest(Comparing):
    """All joins, and the best of every two groups are kept, judged before the pile is known."""

    def compare(self, pair: Pair) -> Listed:
        key = self._key(_LISTED, *pair)
        recalled = self._recall_listed(self._store.load(key), pair)
        if recalled is not None:
            return recalled
        compared = self._scorer.compare(pair[0].rights, pair[1].lefts)
        scores = self._scorer.reduce(compared).scores
        best = mark_best(scores, _LISTED_PER_BLOCK) | mark_best(scores.T, _LISTED_PER_BLOCK).T
        rows, columns = np.nonzero(best)
        listed = Listed(rows, columns, compared.take(rows, columns))
        arrays = {"rows": rows, "columns": columns, **listed.evidence.to_arrays("evidence.")}
        self._store.save(key, arrays)
        return listed

    def _recall_listed(self, kept: Arrays | None, pair: Pair) -> Listed | None:
        if kept is None or not {"rows", "columns"} <= kept.keys():
            return None
        places = kept["rows"], kept["columns"]
        for place, side in zip(places, pair, strict=True):
            if (
                place.dtype != np.intp
                or place.ndim != 1
                or not ((place >= 0) & (place < len(side.group))).all()
            ):
                return None
        evidence = self._recall_evidence(kept, (1, len(places[0])), "evidence.")
        return None if evidence is None or len(places[0]) != len(places[1]) else Listed(*places, evidence)


def _to_block(reduced: ScoreBlock, rows: Rows, columns: Rows, tops: NDArray[np.int32]) -> Block:
    # scorers count in rows of the edges; shreds of different heights are cut around their own middle
    offsets = (reduced.offsets + tops).astype(np.int16)
    scores = np.where(rows == columns, np.float32(-np.inf), reduced.scores).astype(np.float32)
    return Block(rows, columns, scores, offsets)


def face_paper(
    group: DescribedGroup, scorer: EdgeScorer, find: Callable[[DescribedGroup, DescribedGroup], Evidence]
) -> Facing:
    """What every edge of a group scores beside blank paper; `find` compares two groups.

    Half of what blank paper scores beside itself is taken off on either side: a page break is two such joins
    where one was, and the constants of the blank edges must not count.
    """
    paper = describe_paper(scorer)
    half = reduce_evidence(scorer, find(paper, paper)).scores[0, 0] / 2
    starts = reduce_evidence(scorer, find(paper, group)).scores[0]
    ends = reduce_evidence(scorer, find(group, paper)).scores[:, 0]
    return Facing(starts - half, ends - half)


def reduce_evidence(scorer: EdgeScorer, evidence: Evidence) -> ScoreBlock:
    """Scores that do not depend on the group: NumPy rounds the last few numbers of a row differently."""
    count = _count_columns(evidence)
    missing = -count % _LANES
    if not missing:
        return scorer.reduce(evidence)
    padded = evidence.map(lambda array: np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)]))
    return scorer.reduce(padded).map(lambda array: array[..., :count])


def _count_columns(evidence: Evidence) -> int:
    return int(next(iter(evidence.to_arrays().values())).shape[-1])
