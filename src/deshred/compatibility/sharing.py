"""Let other machines describe, look and compare: they fill a store that all reach, where scoring finds it.

A task is a few names. It reads what it needs from the store by key, and keeps there by key what it makes. So
nothing depends on who did it, and whatever is missing in the end is made here. Workers hold on to what their
next task needs as well.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from deshred.cases.store import Arrays, SharedStore, make_key
from deshred.compatibility.choosing import ComparingChosen
from deshred.compatibility.comparing import Comparing
from deshred.compatibility.contract import Descriptions, EdgeScorer
from deshred.compatibility.describing import DescribedGroup, Describing, SeenGroup
from deshred.compatibility.groups import Group
from deshred.compatibility.margins import Borders
from deshred.compatibility.sketches import (
    BLOCK,
    Best,
    Candidates,
    Look,
    Looked,
    Sketch,
    gather_looks,
    list_candidates,
    look_at_part,
)
from deshred.elements import Edge, Pile, ShredSet, combine_fingerprints
from deshred.errors import OutputError
from deshred.executors import Executor, Progress, SerialExecutor
from deshred.imaging.edges import EdgeOptions
from deshred.versions import VERSION

Thing = TypeVar("Thing")

# formats: part of keys
_EDGES, _SKETCH, _LOOKED, _CHOICE = "edges 1", "sketch 1", "looked 1", "choice 1"
_MOST_LOOKS = 128  # tasks: each gives back the best of every column, so more of them are more to send
_HELD_GROUPS = 8  # that a worker holds on to: some 25 MB each
_one_at_a_time = threading.Lock()  # threads of a worker share what one of them has read


@dataclass(frozen=True)
class Common:
    """What every task of a pile needs; two are equal where they lead to the same artefacts."""

    store: SharedStore
    fingerprint: str  # of the scorer
    scorer: EdgeScorer = field(compare=False, repr=False)

    @classmethod
    def of(cls, scorer: EdgeScorer, store: SharedStore) -> Common:
        return cls(store, scorer.card.fingerprint, scorer)

    @property
    def describing(self) -> Describing:
        """For who has no pile, only the store."""
        nothing = Pile(ShredSet([]), [], ShredSet([]))
        return Describing(nothing, self.scorer, self.store, SerialExecutor())

    def key(self, kind: str, *parts: str) -> str:
        """The key of what is only needed on the way."""
        return make_key(kind, VERSION, self.fingerprint, *parts)

    def load(self, key: str) -> Arrays:
        """What was put into the store for a task."""
        kept = self.store.load(key)
        if kept is None:
            raise self.explain_missing()
        return kept

    def explain_missing(self) -> OutputError:
        return OutputError(
            f"{self.store.address}: a worker does not find what was put into the store, or not as it was. "
            "Check that every machine reaches it and that nothing else writes there; then run the same "
            "command: it continues."
        )


@dataclass(frozen=True)
class _Name:
    """A group, for who has only the store."""

    key: str
    length: int

    @classmethod
    def of(cls, group: Group) -> _Name:
        return cls(group.key, len(group))

    @property
    def group(self) -> Group:
        return Group(np.arange(self.length), self.key)


# --- describing


def describe_ahead(
    pile: Pile,
    groups: Sequence[Group],
    scorer: EdgeScorer,
    store: SharedStore,
    *,
    executor: Executor,
    progress: Progress | None = None,
) -> None:
    """Let others describe those groups of a pile that the store does not know."""
    common, describing = Common.of(scorer, store), Describing(pile, scorer, store, executor)
    missing = [group for group in groups if describing.recall(group) is None]

    def name_edges() -> Iterator[_Name]:
        for group in missing:
            store.save(common.key(_EDGES, group.key), _pack_edges(describing.see(group)))
            yield _Name.of(group)

    _send(partial(_describe, common=common), name_edges(), "encoding", len(missing), executor, progress)


def _describe(name: _Name, *, common: Common) -> None:
    seen = _unpack_edges(common.load(common.key(_EDGES, name.key)), name.group, common.scorer.edge_options)
    if seen is None:
        raise common.explain_missing()
    common.describing.describe(seen)


@dataclass(frozen=True, eq=False)
class _PackedEdges(Descriptions):
    """n edges in an eighth of their memory."""

    bits: NDArray[np.uint8]  # (n, rows, width / 8): ink
    outline: NDArray[np.float32]  # (n, rows)
    tone: NDArray[np.uint8]  # (n, rows, 3)

    @classmethod
    def of(cls, edges: Sequence[Edge]) -> _PackedEdges:
        return cls(
            np.stack([np.packbits(edge.ink, axis=1) for edge in edges]),
            np.stack([edge.outline for edge in edges]),
            np.stack([edge.tone for edge in edges]),
        )

    def unpack(self, width: int, tops: Sequence[int]) -> list[Edge]:
        ink = np.unpackbits(self.bits, axis=2, count=width)
        parts = zip(ink, self.outline, self.tone, tops, strict=True)
        return [Edge(own, outline, tone, top) for own, outline, tone, top in parts]


def _pack_edges(seen: SeenGroup) -> Arrays:
    return {
        **_PackedEdges.of(seen.rights).to_arrays("rights."),
        **_PackedEdges.of(seen.lefts).to_arrays("lefts."),
        **seen.borders.to_arrays("borders."),
        "tops": seen.tops,
    }


def _unpack_edges(kept: Arrays, group: Group, options: EdgeOptions) -> SeenGroup | None:
    none = np.zeros((0, options.rows, options.width), np.uint8)
    outline, tone = np.zeros((0, options.rows), np.float32), np.zeros((0, options.rows, 3), np.uint8)
    like = _PackedEdges(np.packbits(none, axis=2), outline, tone)
    rights = _PackedEdges.recall(kept, like, len(group), "rights.")
    lefts = _PackedEdges.recall(kept, like, len(group), "lefts.")
    number = np.zeros(0, np.float32)
    borders = Borders.recall(kept, Borders(number, number, number, number), len(group), "borders.")
    tops = kept.get("tops")
    if rights is None or lefts is None or borders is None or tops is None:
        return None
    if tops.dtype != np.int32 or tops.shape != (len(group),):
        return None
    width, rows = options.width, tops.tolist()
    return SeenGroup(group, rights.unpack(width, rows), lefts.unpack(width, rows), tops, borders)


# --- comparing


def compare_ahead(
    comparing: Comparing,
    scorer: EdgeScorer,
    store: SharedStore,
    *,
    executor: Executor,
    progress: Progress | None = None,
) -> None:
    """Let others take the first look, where one is taken, and compare; the store has it then."""
    common = Common.of(scorer, store)
    if isinstance(comparing, ComparingChosen):
        comparing.choose(_look_ahead(comparing, common, executor, progress))
        key = _keep_choice(comparing, common)
        compare = partial(_compare_chosen, common=common, key=key)
        _send(compare, range(len(comparing.pairs)), "scoring", len(comparing.pairs), executor, progress)
    else:
        pairs = [(_Name.of(a.group), _Name.of(b.group)) for a, b in comparing.pairs]
        compare_pair = partial(_compare_pair, common=common, kind=type(comparing))
        _send(compare_pair, pairs, "scoring", len(pairs), executor, progress)


def _compare_pair(names: tuple[_Name, _Name], *, common: Common, kind: type[Comparing]) -> None:
    a, b = (_hold_group(common, name) for name in names)
    with threadpool_limits(1, "blas"):
        kind((a, b), common.scorer, common.store).compare((a, b))


@lru_cache(maxsize=_HELD_GROUPS)
def _hold_group(common: Common, name: _Name) -> DescribedGroup:
    described = common.describing.recall(name.group)
    if described is None:
        raise common.explain_missing()
    return described


# --- the first look


@dataclass(frozen=True)
class _Part:
    """Some right-hand edges of a pile."""

    start: int
    stop: int


def _look_ahead(
    comparing: ComparingChosen, common: Common, executor: Executor, progress: Progress | None
) -> Candidates:
    sketched = comparing.sketch_all()
    pile = combine_fingerprints(comparing.papers)
    count = len(comparing.papers)
    size = BLOCK * -(-count // (BLOCK * _MOST_LOOKS))
    parts = [_Part(start, start + size) for start in range(0, count, size)]
    found = []
    for number, both in enumerate(zip(sketched.looks, sketched.rights, sketched.lefts, strict=True)):
        look, rights, lefts = both
        key = common.key(_SKETCH, str(number), pile)
        common.store.save(key, {**rights.to_arrays("rights."), **lefts.to_arrays("lefts.")})
        see = partial(_look, common=common, key=key, look=look)
        _send(see, parts, f"looking {number + 1}" if number else "looking", len(parts), executor, progress)
        looked = (
            _recall_looked(common, key, part, count, look)
            or look_at_part(part.start, part.stop, look=look, rights=rights, lefts=lefts)
            for part in parts
        )
        found.append(gather_looks(look, count, looked))
    return list_candidates(found, count)


def _look(part: _Part, *, common: Common, key: str, look: Look) -> None:
    both = _hold(_hold_sketches, common, key)
    count = len(both.lefts)
    if _recall_looked(common, key, part, count, look) is not None:
        return
    with threadpool_limits(1, "blas"):
        looked = look_at_part(part.start, part.stop, look=look, rights=both.rights, lefts=both.lefts)
    best = looked.best
    arrays: Arrays = {"joins": looked.joins, "scores": best.scores, "rows": best.rows.astype(np.int32)}
    common.store.save(_key_looked(common, key, part), arrays)


@dataclass(frozen=True, eq=False)
class _BothSides:
    rights: Sketch
    lefts: Sketch


@lru_cache(maxsize=1)
def _hold_sketches(common: Common, key: str) -> _BothSides:
    kept = common.load(key)
    values = kept.get("lefts.values", np.zeros((0, 0, 0)))
    like = Sketch(np.zeros((0, *values.shape[1:]), np.int16), np.zeros(0, np.float32))
    rights = Sketch.recall(kept, like, len(values), "rights.")
    lefts = Sketch.recall(kept, like, len(values), "lefts.")
    if rights is None or lefts is None or values.ndim != 3:
        raise common.explain_missing()
    return _BothSides(rights, lefts)


def _key_looked(common: Common, key: str, part: _Part) -> str:
    return common.key(_LOOKED, key, str(part.start), str(part.stop))


def _recall_looked(common: Common, key: str, part: _Part, count: int, look: Look) -> Looked | None:
    """What was seen of a part; None when nothing was, or what cannot be."""
    kept = common.store.load(_key_looked(common, key, part)) or {}
    if not {"joins", "scores", "rows"} <= kept.keys():
        return None
    joins, scores, rows = kept["joins"], kept["scores"], kept["rows"]
    stop = min(part.stop, count)
    shape = count, min(look.candidates, stop - part.start)
    if joins.dtype != np.int64 or scores.dtype != np.float32 or rows.dtype != np.int32:
        return None
    if joins.ndim != 1 or scores.shape != shape or rows.shape != shape:
        return None
    lowest, highest = part.start * count, stop * count
    if not ((joins >= lowest) & (joins < highest)).all() or not ((rows >= part.start) & (rows < stop)).all():
        return None
    return Looked(joins, Best(scores, rows.astype(np.int64)))


# --- the joins that stood out


def _keep_choice(comparing: ComparingChosen, common: Common) -> str:
    """Put into the store what comparing the chosen joins needs besides descriptions."""
    groups = [pair[0].group for pair in comparing.pairs]
    papers = comparing.papers
    key = common.key(_CHOICE, combine_fingerprints(papers), *(group.key for group in groups))
    arrays = {
        "keys": np.array([group.key.encode() for group in groups], np.bytes_),
        "lengths": np.array([len(group) for group in groups], np.int64),
        "members": np.concatenate([group.members for group in groups]).astype(np.int64),
        "papers": np.array([paper.encode() for paper in papers], np.bytes_),
        "row_starts": comparing.candidates.row_starts,
        "columns": comparing.candidates.columns,
    }
    common.store.save(key, arrays)
    return key


def _compare_chosen(number: int, *, common: Common, key: str) -> None:
    comparing = _hold(_hold_chosen, common, key)
    group, whole = comparing.pairs[number]
    rights = _hold_group(common, _Name.of(group.group)).rights
    with threadpool_limits(1, "blas"):
        comparing.compare((replace(group, rights=rights), whole))


@lru_cache(maxsize=1)
def _hold_chosen(common: Common, key: str) -> ComparingChosen:
    """The pile as the one who asks has it, but with the right-hand edges of its first group only: a task
    needs those of one group, which it reads."""
    kept = common.load(key)
    if not {"keys", "lengths", "members", "papers", "row_starts", "columns"} <= kept.keys():
        raise common.explain_missing()
    stops = np.cumsum(kept["lengths"]).tolist()
    members = np.split(kept["members"].astype(np.intp), stops[:-1])
    describing = common.describing
    described: list[DescribedGroup] = []
    for group_key, own in zip(kept["keys"].tolist(), members, strict=True):
        found = describing.recall(Group(own, group_key.decode()))
        if found is None:
            raise common.explain_missing()
        if described:
            found = replace(
                found, rights=found.rights[np.zeros(0, np.intp)]
            )  # no view: it would stay in memory
        described.append(found)
    papers = [paper.decode() for paper in kept["papers"].tolist()]
    comparing = ComparingChosen(described, common.scorer, common.store, papers)
    comparing.choose(Candidates(kept["row_starts"], kept["columns"]))
    return comparing


def _hold(read: Callable[[Common, str], Thing], common: Common, key: str) -> Thing:
    with _one_at_a_time:
        return read(common, key)


def _send(
    function: Callable[[Any], None],
    items: Any,
    stage: str,
    total: int,
    executor: Executor,
    progress: Progress | None,
) -> None:
    for done, _ in enumerate(executor.stream(function, items), 1):
        if progress:
            progress(executor.tell(stage), done, total)
