"""For large piles: find the evidence of only those joins that stand out at a first look.

What is kept of a group are its chosen joins, each by the paper it leads to. A pile that grows never chooses a
join among its old shreds that was not chosen before, so it pays for joins with new ones only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from deshred.cases.store import Store
from deshred.compatibility.comparing import Comparing, Listed, Pair
from deshred.compatibility.contract import Descriptions, EdgeScorer, Evidence, Join, Rows
from deshred.compatibility.describing import DescribedGroup
from deshred.compatibility.groups import Group
from deshred.compatibility.sketches import Candidates, Glancing, Look, Sketch, find_candidates
from deshred.executors import Executor, Progress

_CHOSEN = "chosen evidence 2"  # part of keys
_NAME = np.dtype("S40")  # of a join: the row in its group, and the paper it leads to


@dataclass(frozen=True, eq=False)
class _Known:
    """Joins of a group that were compared, in the order of their names."""

    names: NDArray[np.bytes_]  # (m,)
    evidence: Evidence  # (..., 1, m)

    def find(self, names: NDArray[np.bytes_]) -> Rows:
        """Where joins are, -1 where they are not."""
        if not len(self.names):
            return np.full(len(names), -1)
        places = np.minimum(np.searchsorted(self.names, names), len(self.names) - 1)
        return np.where(self.names[places] == names, places, -1)


@dataclass(frozen=True, eq=False)
class Sketched:
    """All edges of a pile in its order, once for each way to look."""

    looks: Sequence[Look]
    rights: Sequence[Sketch]
    lefts: Sequence[Sketch]


class ComparingChosen(Comparing):
    """The joins that stand out; `docs/arrangement.md` says what is proven then."""

    def __init__(
        self,
        described: list[DescribedGroup],
        scorer: EdgeScorer,
        store: Store,
        fingerprints: Sequence[str],
        *,
        join: Join = np.concatenate,
    ) -> None:
        """The list is changed: its groups become views of one array, so that nothing lies in memory twice."""
        self._whole = _put_together(described, join)
        super().__init__(tuple(described), scorer, store)
        self.papers = [fingerprint[:32] for fingerprint in fingerprints]
        self.candidates = Candidates(np.zeros(len(fingerprints) + 1, np.int64), np.zeros(0, np.int32))

    @property
    def rights(self) -> Descriptions:
        """All right-hand edges in the order of the pile."""
        sorted_: Descriptions = self._sort(self._whole.rights)
        return sorted_

    @property
    def lefts(self) -> Descriptions:
        """All left-hand edges in the order of the pile."""
        sorted_: Descriptions = self._sort(self._whole.lefts)
        return sorted_

    @property
    def pairs(self) -> Sequence[Pair]:
        """What is compared with what."""
        return [(one, self._whole) for one in self._described]

    def compare_all(self, executor: Executor, progress: Progress | None) -> None:
        """Look at all joins, and compare those that stand out and were not compared before."""
        self.choose(self._look(executor, progress))
        super().compare_all(executor, progress)

    def _look(self, executor: Executor, progress: Progress | None) -> Candidates:
        sketched = self.sketch_all()  # of a large pile gigabytes, which nobody needs afterwards
        return find_candidates(
            sketched.looks, sketched.rights, sketched.lefts, executor=executor, progress=progress
        )

    def sketch_all(self) -> Sketched:
        """What is seen at the first look."""
        assert isinstance(self._scorer, Glancing)
        return Sketched(
            self._scorer.looks,
            self._sketch(self._scorer, [one.rights for one in self._described]),
            self._sketch(self._scorer, [one.lefts for one in self._described]),
        )

    def choose(self, candidates: Candidates) -> None:
        """Say which joins stand out."""
        self.candidates = candidates

    def _sketch(self, scorer: Glancing, sides: Sequence[Descriptions]) -> list[Sketch]:
        looks = zip(*(scorer.sketch(side) for side in sides), strict=True)
        return [self._join(parts) for parts in looks]

    def compare(self, pair: Pair) -> Listed:
        group = pair[0]
        chosen = [self.candidates.of_row(member) for member in group.group.members.tolist()]
        rows = np.repeat(np.arange(len(chosen)), [len(own) for own in chosen])
        columns = np.concatenate(chosen)
        names = self._name(rows, columns)
        known = self._recall(group)
        is_missing = np.ones(len(names), np.bool_) if known is None else known.find(names) < 0
        if known is None or is_missing.any():
            known = self._learn(group, known, rows[is_missing], columns[is_missing], names[is_missing])
        places = known.find(names)
        evidence = known.evidence.map(lambda array: np.ascontiguousarray(array[..., places]))
        return Listed(rows, self._order[columns], evidence)

    def _name(self, rows: Rows, columns: Rows) -> NDArray[np.bytes_]:
        pairs = zip(rows.tolist(), columns.tolist(), strict=True)
        return np.array([f"{row:x} {self.papers[column]}" for row, column in pairs], _NAME)

    def _recall(self, group: DescribedGroup) -> _Known | None:
        kept = self._store.load(self._key(_CHOSEN, group))
        names = None if kept is None else kept.get("names")
        if names is None or names.dtype.kind != "S" or names.ndim != 1:
            return None
        evidence = self._recall_evidence(kept, (1, len(names)), "evidence.")
        return None if evidence is None else _Known(names, evidence)

    def _learn(
        self,
        group: DescribedGroup,
        known: _Known | None,
        rows: Rows,
        columns: Rows,
        names: NDArray[np.bytes_],
    ) -> _Known:
        """Compare what is missing, row by row, and keep it with what is known."""
        evidence = [] if known is None else [known.evidence]
        for row in np.unique(rows).tolist():
            lefts = self._whole.lefts[self._order[columns[rows == row]]]
            evidence.append(self._scorer.compare(group.rights[slice(row, row + 1)], lefts))
        if not evidence:  # no edge of the group has anything to see
            evidence.append(self._scorer.compare(group.rights[:1], self._whole.lefts[:0]))
        all_names = names if known is None else np.concatenate([known.names, names])
        learned = _sort(all_names, self._scorer.evidence_type.concatenate(evidence, -1))
        arrays = {"names": learned.names, **learned.evidence.to_arrays("evidence.")}
        self._store.save(self._key(_CHOSEN, group), arrays)
        return learned


def _sort(names: NDArray[np.bytes_], evidence: Evidence) -> _Known:
    # two files of the same paper have one name, and the same evidence
    sorted_names, first = np.unique(names, return_index=True)
    return _Known(sorted_names, evidence.map(lambda array: np.ascontiguousarray(array[..., first])))


def _put_together(described: list[DescribedGroup], join: Join) -> DescribedGroup:
    """All groups as one, one behind the other; they become its parts, first one side, then the other."""
    stops = np.cumsum([len(one.group) for one in described]).tolist()
    parts = [slice(start, stop) for start, stop in zip([0, *stops[:-1]], stops, strict=True)]
    rights = type(described[0].rights).combine([one.rights for one in described], join)
    described[:] = [replace(one, rights=rights[part]) for one, part in zip(described, parts, strict=True)]
    lefts = type(described[0].lefts).combine([one.lefts for one in described], join)
    described[:] = [replace(one, lefts=lefts[part]) for one, part in zip(described, parts, strict=True)]
    return DescribedGroup(
        Group(np.concatenate([one.group.members for one in described]), ""),
        rights,
        lefts,
        np.concatenate([one.tops for one in described]),
        type(described[0].borders).concatenate([one.borders for one in described], 0),
    )
