"""What a scorer must do, and the arrays it hands over; a new scorer is one folder that keeps to this.

Describe every edge once, compare groups of edges, and bring what was compared into scores. What is compared
depends on the two groups alone, so it can be kept and used again when the pile grows; only the last step,
`reduce`, knows what the whole pile has taught.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, Literal, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from deshred.elements import Calibration, Compatibility, Edge, ShredSet
from deshred.executors import Executor, Progress
from deshred.imaging.edges import EdgeOptions

Unit = Literal["nats", "arbitrary"]
Rows = NDArray[np.intp]
Shape = tuple[int, ...]
Join = Callable[[Sequence[NDArray[Any]]], NDArray[Any]]  # arrays, one behind the other


@dataclass(frozen=True, eq=False)
class ArrayGroup:
    """Named arrays that belong together; a field is an array, or a group itself."""

    def map(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Self:
        """The group with every array changed alike."""
        changed = {}
        for entry in fields(self):
            value = getattr(self, entry.name)
            changed[entry.name] = value.map(change) if isinstance(value, ArrayGroup) else change(value)
        return type(self)(**changed)

    def to_arrays(self, prefix: str = "") -> dict[str, NDArray[Any]]:
        """All arrays by name, as a store keeps them."""
        arrays: dict[str, NDArray[Any]] = {}
        for entry in fields(self):
            value, name = getattr(self, entry.name), f"{prefix}{entry.name}"
            arrays |= value.to_arrays(f"{name}.") if isinstance(value, ArrayGroup) else {name: value}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: typing.Mapping[str, NDArray[Any]], prefix: str = "") -> Self:
        """The group that `to_arrays` took apart."""
        kinds = typing.get_type_hints(cls)
        parts: dict[str, Any] = {}
        for entry in fields(cls):
            kind, name = kinds[entry.name], f"{prefix}{entry.name}"
            is_group = isinstance(kind, type) and issubclass(kind, ArrayGroup)
            parts[entry.name] = kind.from_arrays(arrays, f"{name}.") if is_group else arrays[name]
        return cls(**parts)

    @classmethod
    def _recall(
        cls,
        arrays: typing.Mapping[str, NDArray[Any]],
        like: Self,
        shape: Callable[[Shape], Shape],
        prefix: str,
    ) -> Self | None:
        for name, array in like.to_arrays(prefix).items():
            kept = arrays.get(name)
            if kept is None or kept.dtype != array.dtype or kept.shape != shape(array.shape):
                return None
        return cls.from_arrays(arrays, prefix)

    @classmethod
    def concatenate(cls, parts: Sequence[Self], axis: int) -> Self:
        """Groups one behind the other along an axis of all their arrays."""
        return cls.combine(parts, partial(np.concatenate, axis=axis))

    @classmethod
    def combine(cls, parts: Sequence[Self], join: Join) -> Self:
        """Groups as one, whose arrays are joined one by one."""
        joined = {}
        for entry in fields(cls):
            column = [getattr(part, entry.name) for part in parts]
            first = column[0]
            is_group = isinstance(first, ArrayGroup)
            joined[entry.name] = type(first).combine(column, join) if is_group else join(column)
        return cls(**joined)


@dataclass(frozen=True, eq=False)
class Descriptions(ArrayGroup):
    """What a scorer sees in n edges: the first axis of every array is the edge."""

    @classmethod
    def recall(
        cls, arrays: typing.Mapping[str, NDArray[Any]], like: Self, count: int, prefix: str = ""
    ) -> Self | None:
        """Read back so many edges; None if it is not the likes of `like`, as a store may be a stranger's."""
        return cls._recall(arrays, like, lambda shape: (count, *shape[1:]), prefix)

    def __len__(self) -> int:
        first = getattr(self, fields(self)[0].name)
        return len(first)

    def __getitem__(self, index: slice | Rows) -> Self:
        return self.map(lambda array: array[index])


@dataclass(frozen=True, eq=False)
class Evidence(ArrayGroup):
    """What was compared: the last two axes of every array are the right-hand and the left-hand edges."""

    @classmethod
    def recall(
        cls, arrays: typing.Mapping[str, NDArray[Any]], like: Self, size: tuple[int, int], prefix: str = ""
    ) -> Self | None:
        """Read back joins of so many edges; None if it is not the likes of `like`."""
        return cls._recall(arrays, like, lambda shape: (*shape[:-2], *size), prefix)

    def take_rows(self, rows: Rows) -> Self:
        """The evidence of some right-hand edges."""
        return self.map(lambda array: np.ascontiguousarray(array[..., rows, :]))

    def take(self, rows: Rows, columns: Rows) -> Self:
        """The evidence of single joins: their list takes the place of the last two axes, as (1, m)."""
        return self.map(lambda array: np.ascontiguousarray(array[..., rows, columns])[..., None, :])


@dataclass(frozen=True, eq=False)
class ScoreBlock(Evidence):
    """Scores and offsets of joins; where a pile teaches nothing, they are the evidence itself."""

    scores: NDArray[np.float32]  # (a, b): up is good
    offsets: NDArray[np.int16]  # (a, b): px to move the right shred down, in rows of the edges


@dataclass(frozen=True)
class ScorerCard:
    """Which scorer it was: its name, its model where it learned, and what identifies it exactly."""

    name: str
    fingerprint: str  # changes whenever scores may: name, options, and the SHA-256 of the model
    model: str | None = None
    model_sha256: str | None = None
    sees_outlines: bool = False  # then even blank shreds can be told apart


D = TypeVar("D", bound=Descriptions)
E = TypeVar("E", bound=Evidence)


class Scorer(Protocol[D, E]):
    """What turns edges into scores. It owns its edge options: training and scoring cannot differ."""

    @property
    def card(self) -> ScorerCard:
        """Name, as `--scorer` takes it, fingerprint and model."""

    @property
    def unit(self) -> Unit:
        """Scores in nats are log-odds: page ends can be weighed against them. Others only give an order."""

    @property
    def edge_options(self) -> EdgeOptions: ...

    @property
    def calibration(self) -> Calibration | None:
        """How scores become probabilities; None where nobody has found out."""

    @property
    def evidence_type(self) -> type[E]:
        """What `compare` returns, to read it back from a store."""

    @property
    def description_type(self) -> type[D]:
        """What `describe_*` returns, to read it back from a store."""

    def describe_rights(self, edges: Sequence[Edge], executor: Executor, /) -> D:
        """Look at right-hand edges (of the shreds that stand left)."""

    def describe_lefts(self, edges: Sequence[Edge], executor: Executor, /) -> D:
        """Look at left-hand edges (of the shreds that stand right)."""

    def compare(self, rights: D, lefts: D, /) -> E:
        """Compare every edge in `rights` with every one in `lefts`; the rest of the pile does not count.

        The evidence of a join must be the same to the last bit in whatever group its edges come.
        """

    def adapt(self, rights: D, evidence: Callable[[Rows], E], /) -> Scorer[D, E]:
        """The scorer for a pile: its right-hand edges, and the evidence of some of them with all left-hand
        ones. Itself, where a pile teaches it nothing."""

    def reduce(self, evidence: E, /) -> ScoreBlock:
        """Bring evidence into scores; works on whatever axes follow the evidence's own."""


EdgeScorer = Scorer[Any, Any]


@runtime_checkable
class PileScorer(Protocol):
    """What looks at whole shreds and at a whole pile at once: nothing can be kept when the pile grows.

    Scores are in no known unit, and nobody has found out how they become probabilities.
    """

    @property
    def card(self) -> ScorerCard:
        """Name, as `--scorer` takes it, and fingerprint."""

    @property
    def edge_options(self) -> EdgeOptions:
        """What later stages see of the edges; the scorer does not look at them."""

    def score_pile(
        self, shreds: ShredSet, *, executor: Executor | None = None, progress: Progress | None = None
    ) -> Compatibility:
        """Score every join."""


@runtime_checkable
class LookingClosely(Protocol):
    """A scorer that can look closely at the best joins of a pile, when all are scored."""

    def look_closely(
        self,
        compatibility: Compatibility,
        rights: Any,
        lefts: Any,
        tops: NDArray[np.int32],
        executor: Executor,
        /,
    ) -> NDArray[np.float32] | None:
        """The log-odds that the shreds of a join touched, shaped like the scores; NaN where it did not look.

        `tops` are the rows of the shreds that are row 0 of their edges.
        """


AnyScorer = EdgeScorer | PileScorer


class PlainScorer:
    """A base for scorers that a pile teaches nothing: what they compare are the scores, in no known unit."""

    unit: ClassVar[Unit] = "arbitrary"
    calibration: ClassVar[Calibration | None] = None
    evidence_type: ClassVar[type[ScoreBlock]] = ScoreBlock

    def adapt(self, _rights: Any, _evidence: Any, /) -> Self:
        """Itself."""
        return self

    def reduce(self, evidence: ScoreBlock, /) -> ScoreBlock:
        """The scores as they are."""
        return evidence
