"""The nouns that the stages hand to each other: Scan, Shred, ShredSet, Edge, Pile, Compatibility,
Constraints, Arrangement, Page.

All are frozen and their arrays read-only. No shred knows its place in a page: the answer is
never a field of the question.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from deshred.errors import InputError, MismatchError, SettingsError

Image = NDArray[np.uint8]
Mask = NDArray[np.bool_]


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True)
class Source:
    """Where pixels came from: the file, its SHA-256, and its frame (a page of a TIFF or PDF)."""

    path: Path
    sha256: str
    frame: int = 0
    number: int | None = None  # of the shred on its sheet, from 1


@dataclass(frozen=True, eq=False)
class Scan:
    """An image as it came from the scanner."""

    image: Image  # (H, W, 3) RGB
    dpi: float
    source: Source
    mask: Mask | None = None  # (H, W): opaque pixels, when the file says so

    def __post_init__(self) -> None:
        object.__setattr__(self, "image", _frozen(self.image))
        if self.mask is not None:
            object.__setattr__(self, "mask", _frozen(self.mask))

    def __repr__(self) -> str:
        height, width = self.image.shape[:2]
        return f"Scan({self.source.path.name}, {width}x{height} px, {self.dpi:g} dpi)"


@dataclass(frozen=True)
class _Size:
    """How large the paper of a shred is."""

    width_mm: float
    height_mm: float


@dataclass(frozen=True, eq=False)
class Shred:
    """One upright strip of paper: its pixels, and the mask that follows its torn outline."""

    id: str
    image: Image  # (H, W, 3) RGB
    mask: Mask  # (H, W): True on paper
    dpi: float
    source: Source
    is_turned: bool = False  # by 180 degrees against the way it was scanned

    def __post_init__(self) -> None:
        if self.image.ndim != 3 or self.image.shape[:2] != self.mask.shape:
            raise InputError(
                f"{self.id}: the image is {self.image.shape[:2]} and its mask {self.mask.shape}; "
                "they must have the same height and width."
            )
        object.__setattr__(self, "image", _frozen(self.image))
        object.__setattr__(self, "mask", _frozen(self.mask))

    @property
    def width_mm(self) -> float:
        """The median width of the paper over its rows."""
        return self._size.width_mm

    @property
    def height_mm(self) -> float:
        """All rows with paper."""
        return self._size.height_mm

    @cached_property
    def _size(self) -> _Size:
        widths = self.mask.view(np.uint8).sum(axis=1, dtype=np.uint32)
        widths = widths[widths > 0]
        width = float(np.median(widths)) if widths.size else 0.0
        return _Size(width / self.dpi * 25.4, widths.size / self.dpi * 25.4)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over pixels and mask: the same paper under another name is the same."""
        digest = hashlib.sha256(f"{self.image.shape}{self.dpi:g}".encode())
        digest.update(np.ascontiguousarray(self.image).data)
        digest.update(np.packbits(self.mask).data)
        return digest.hexdigest()

    def __repr__(self) -> str:
        height, width = self.mask.shape
        return f"Shred({self.id}, {width}x{height} px, {self.dpi:g} dpi)"


def check_unique(ids: Sequence[str]) -> None:
    """Refuse ids that more than one shred has."""
    twice = sorted(id_ for id_, count in Counter(ids).items() if count > 1)
    if twice:
        raise InputError(f"shred ids must be unique; given more than once: {', '.join(twice[:5])}.")


def combine_fingerprints(parts: Iterable[str]) -> str:
    """One fingerprint for many, in their order."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "backslashreplace")).hexdigest()


class ShredSet(Sequence[Shred]):
    """Shreds with unique ids. Index i means `shreds[i]`, always, in every matrix made from them."""

    def __init__(self, shreds: Sequence[Shred]) -> None:
        self._shreds = tuple(shreds)
        self.ids = tuple(shred.id for shred in self._shreds)
        check_unique(self.ids)
        self._index = {id_: i for i, id_ in enumerate(self.ids)}

    @overload
    def __getitem__(self, index: int) -> Shred: ...
    @overload
    def __getitem__(self, index: slice) -> ShredSet: ...
    def __getitem__(self, index: int | slice) -> Shred | ShredSet:
        if isinstance(index, slice):
            return ShredSet(self._shreds[index])
        return self._shreds[index]

    def __len__(self) -> int:
        return len(self._shreds)

    def __iter__(self) -> Iterator[Shred]:
        return iter(self._shreds)

    def index_of(self, shred_id: str) -> int:
        """The index of the shred with this id."""
        try:
            return self._index[shred_id]
        except KeyError:
            raise MismatchError(f"there is no shred {shred_id!r} in this pile of {len(self)}.") from None

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over all shreds and their ids, in order."""
        return combine_fingerprints([*self.ids, *(shred.fingerprint for shred in self._shreds)])

    def __repr__(self) -> str:
        return f"ShredSet({len(self)} shreds)"


@dataclass(frozen=True, eq=False)
class Edge:
    """One side of a shred as a scorer sees it: column 0 is the tear, further columns lie inwards."""

    ink: NDArray[np.uint8]  # (rows, width): 1 is ink
    outline: NDArray[np.float32]  # (rows,): x of the tear in px, positive is outwards; NaN where no paper
    tone: Image  # (rows, 3) RGB of the outermost paper pixel, white where no paper
    top: int  # row of the shred's image that is row 0 of the edge; negative above the image

    def __post_init__(self) -> None:
        for name in ("ink", "outline", "tone"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class RowInk:
    """The rows of a shred with ink: anywhere, at its left tear and at its right tear."""

    bits: NDArray[np.uint8]  # (3, H / 8): few enough to be kept of every shred
    height: int

    @classmethod
    def of(cls, printed: Mask, at_left: Mask, at_right: Mask) -> RowInk:
        return cls(np.packbits([printed, at_left, at_right], axis=1), len(printed))

    @property
    def printed(self) -> Mask:  # (H,)
        return self._unpack(0)

    @property
    def at_left(self) -> Mask:  # (H,)
        return self._unpack(1)

    @property
    def at_right(self) -> Mask:  # (H,)
        return self._unpack(2)

    def _unpack(self, which: int) -> Mask:
        return np.unpackbits(self.bits[which], count=self.height).view(np.bool_)


@dataclass(frozen=True, eq=False)
class EdgePair:
    """The two sides of one shred, and which rows of it are printed."""

    left: Edge
    right: Edge
    rows: RowInk


@dataclass(frozen=True)
class Faces:
    """Pictures that show one shred from both sides: front, back. Where names do not say, any of the two."""

    pairs: tuple[tuple[str, str], ...] = ()

    @cached_property
    def other(self) -> dict[str, str]:
        """The other side of every picture that has one."""
        return {one: two for pair in self.pairs for one, two in (pair, pair[::-1])}


@dataclass(frozen=True, eq=False)
class Pile:
    """Shreds ready to be matched: at the working resolution, blank ones set aside, both edges cut."""

    shreds: ShredSet  # those with ink: index i means `shreds[i]` everywhere
    edges: Sequence[EdgePair]
    blank: ShredSet  # set aside: without ink there is nothing to match
    faces: Faces = Faces()  # where both sides of shreds were scanned

    def __post_init__(self) -> None:
        if len(self.shreds) != len(self.edges):
            raise MismatchError(f"{len(self.shreds)} shreds have {len(self.edges)} pairs of edges.")

    def __len__(self) -> int:
        return len(self.shreds)

    def take(self, places: Sequence[int]) -> Pile:
        """The shreds at these places, in their order; the blank ones stay."""
        shreds = ShredSet([self.shreds[i] for i in places])
        return Pile(shreds, [self.edges[i] for i in places], self.blank, self.faces)

    def __repr__(self) -> str:
        return f"Pile({len(self)} shreds, {len(self.blank)} blank)"


def join_piles(piles: Sequence[Pile]) -> Pile:
    """One pile of several, one behind the other."""
    return Pile(
        ShredSet([shred for pile in piles for shred in pile.shreds]),
        [pair for pile in piles for pair in pile.edges],
        ShredSet([shred for pile in piles for shred in pile.blank]),
    )


@dataclass(frozen=True)
class Calibration:
    """probability = logistic(slope * lead + intercept); fitted on simulated piles, kept with the model.

    Joins that others beat stand where those have better places. That is a case of its own, not the end of the
    curve: `beaten` is how probable such a join is, where that was counted.
    """

    slope: float
    intercept: float
    asks_for_fit: bool = False  # a join must also fit as well as its ink lets expect: its partner may be gone
    beaten: float | None = None

    def probability(self, leads: NDArray[np.floating]) -> NDArray[np.float64]:
        """Leads in nats to probabilities."""
        log_odds = np.clip(self.slope * np.asarray(leads, np.float64) + self.intercept, -50, 50)
        return 1 / (1 + np.exp(-log_odds))


@dataclass(frozen=True, eq=False)
class Margins:
    """What each shred says about where pages begin and end; log-odds like the scores of joins."""

    starts: NDArray[np.float32]  # (n,): shred is the first of its page
    ends: NDArray[np.float32]  # (n,): shred is the last of its page
    widths_mm: NDArray[np.float32]  # (n,)
    heights_mm: NDArray[np.float32] | None = None  # (n,); they tell the format of the paper

    def __post_init__(self) -> None:
        for name in ("starts", "ends", "widths_mm", "heights_mm"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _frozen(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class Compatibility:
    """How well every shred continues every other: row i, column j is "j stands right of i".

    Scores are log-odds: higher is better, and `-inf` rules a join out. Dense: `columns` is None and
    `scores` is (n, n). Sparse: CSR, the entries of row i are `row_starts[i]:row_starts[i + 1]` of `columns`,
    `scores` and `offsets`; a join that is not listed was not among the best candidates of either edge.
    """

    ids: tuple[str, ...]
    scores: NDArray[np.float32]
    offsets: NDArray[np.int16]  # px at 300 dpi to move j down
    fingerprint: str = ""  # of the ShredSet
    row_starts: NDArray[np.int64] | None = None
    columns: NDArray[np.int32] | None = None
    margins: Margins | None = None
    calibration: Calibration | None = None  # how scores become probabilities, where the scorer can say
    # log-odds that the shreds of a join touched, after a close look; NaN where none was taken
    beliefs: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        n = len(self.ids)
        if self.columns is None and self.scores.shape != (n, n):
            raise MismatchError(f"{n} shreds need a {n} x {n} matrix of scores, got {self.scores.shape}.")
        if self.scores.shape != self.offsets.shape:
            raise MismatchError(f"scores are {self.scores.shape} and offsets {self.offsets.shape}.")
        if self.beliefs is not None and self.beliefs.shape != self.scores.shape:
            raise MismatchError(f"scores are {self.scores.shape} and beliefs {self.beliefs.shape}.")
        check_unique(self.ids)
        for name in ("scores", "offsets", "row_starts", "columns", "beliefs"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _frozen(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_sparse(self) -> bool:
        return self.columns is not None

    def list_joins(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The left and the right shred of every join that is held, in the order of `scores.ravel()`."""
        count = len(self)
        if self.columns is None or self.row_starts is None:
            rows, columns = np.divmod(np.arange(count * count), max(count, 1))
            return rows, columns
        return np.repeat(np.arange(count), np.diff(self.row_starts)), self.columns.astype(np.intp)

    def score(self, i: int, j: int) -> float:
        """The score of the join i -> j; `-inf` when a sparse matrix does not hold it."""
        at = self.find_join(i, j)
        return float("-inf") if at is None else float(self.scores[at])

    def offset(self, i: int, j: int) -> int:
        """Pixels to move j down beside i; 0 when a sparse matrix does not hold the join."""
        at = self.find_join(i, j)
        return 0 if at is None else int(self.offsets[at])

    def take_beliefs(self, joins: Sequence[tuple[int, int]]) -> NDArray[np.float64]:  # (len(joins),)
        """The beliefs in some joins; NaN where no close look was taken."""
        if self.beliefs is None:
            return np.full(len(joins), np.nan)
        places = [self.find_join(i, j) for i, j in joins]
        return np.array([np.nan if at is None else self.beliefs[at] for at in places], np.float64)

    def find_join(self, i: int, j: int) -> Any:
        """Where the scores hold the join i -> j; None when they do not."""
        if self.columns is None or self.row_starts is None:
            return (i, j)
        start, stop = self.row_starts[i], self.row_starts[i + 1]
        hits = np.flatnonzero(self.columns[start:stop] == j)
        return int(start + hits[0]) if hits.size else None

    def __repr__(self) -> str:
        kind = f"sparse, {self.scores.size} candidates" if self.is_sparse else "dense"
        return f"Compatibility({len(self)} shreds, {kind})"


def _listed(name: str, given: Any) -> Any:
    """Any collection; a single id would be taken for a list of letters."""
    if isinstance(given, str):
        raise SettingsError(f"{name} holds several, got the single id {given!r}. Put it into a set.")
    return given


@dataclass(frozen=True)
class Constraints:
    """What is known for sure: the solver obeys. Joins are (left id, right id)."""

    required: frozenset[tuple[str, str]] = frozenset()
    forbidden: frozenset[tuple[str, str]] = frozenset()
    first: frozenset[str] = frozenset()  # begin a page
    last: frozenset[str] = frozenset()  # end a page
    not_first: frozenset[str] = frozenset()  # something stands left of these, whatever it is
    not_last: frozenset[str] = frozenset()  # and right of these
    together: frozenset[frozenset[str]] = frozenset()  # each group lies on one page
    apart: frozenset[frozenset[str]] = frozenset()  # no two of a group lie on one page
    turned: frozenset[str] = frozenset()  # upside down; turned before anything is scored

    def __post_init__(self) -> None:
        for name in ("required", "forbidden"):
            joins = frozenset(tuple(join) for join in _listed(name, getattr(self, name)))
            if any(len(join) != 2 for join in joins):
                raise SettingsError(f"{name} holds joins, each a left id and a right id; got {set(joins)}.")
            object.__setattr__(self, name, joins)
        for name in ("first", "last", "not_first", "not_last", "turned"):
            object.__setattr__(self, name, frozenset(_listed(name, getattr(self, name))))
        for name in ("together", "apart"):
            groups = frozenset(
                frozenset(_listed(name, group)) for group in _listed(name, getattr(self, name))
            )
            object.__setattr__(self, name, groups)

    def __bool__(self) -> bool:
        return any(getattr(self, one.name) for one in fields(self))

    @property
    def ids(self) -> frozenset[str]:
        """Every shred that something is known about."""
        groups = (*self.required, *self.forbidden, *self.together, *self.apart)
        single = self.first | self.last | self.not_first | self.not_last | self.turned
        return single | {shred_id for group in groups for shred_id in group}


@dataclass(frozen=True)
class Slot:
    """A place in a page: the shred, and how far it moved down against the page's first shred."""

    shred_id: str
    offset: int


@dataclass(frozen=True)
class Join:
    """Two shreds that stand side by side in the answer."""

    left: str
    right: str
    score: float
    offset: int  # px at 300 dpi to move right down
    probability: float | None = None  # calibrated, where the scorer is
    price: float | None = None  # any order without this join costs at least this much more
    share: float | None = None  # of the likely orders make this join
    is_required: bool = False  # a person said so

    @property
    def verdict(self) -> str:
        """sure, likely or open; what a person said is not asked again."""
        if self.is_required:
            return "sure"
        if self.probability is None:
            return "open"
        return "sure" if self.probability >= 0.99 else "likely" if self.probability >= 0.8 else "open"


@dataclass(frozen=True)
class PageBreak:
    """The end of one page and the start of the next: what joining them would cost the best order."""

    after: str
    before: str
    price: float | None = None
    probability: float | None = None


class Certified:
    """What a solver gives: something of a cost, and a bound below which nothing is."""

    cost: float
    bound: float
    tolerance: float

    @property
    def gap(self) -> float:
        return max(0.0, self.cost - self.bound)

    @property
    def is_optimal(self) -> bool:
        return self.gap <= self.tolerance


@dataclass(frozen=True)
class Arrangement(Certified):
    """The order found: one left-to-right sequence of slots per page, and what is proven about it."""

    pages: tuple[tuple[Slot, ...], ...]
    joins: tuple[Join, ...]  # inside pages, in reading order
    breaks: tuple[PageBreak, ...]  # between consecutive pages
    cost: float
    bound: float  # no order is cheaper than this
    tolerance: float = field(default=1e-6, repr=False)

    @property
    def order(self) -> tuple[str, ...]:
        """All shreds, page after page."""
        return tuple(slot.shred_id for page in self.pages for slot in page)

    def __repr__(self) -> str:
        proof = "proven optimal" if self.is_optimal else f"gap {self.gap:.4g}"
        size = f"{len(self.order)} shreds, {len(self.pages)} pages"
        return f"Arrangement({size}, cost {self.cost:.6g}, {proof})"


@dataclass(frozen=True)
class Placement:
    """Where the top left corner of a shred lies in its page."""

    shred_id: str
    x: int
    y: int


Copy = Literal["evidence", "reading"]  # unchanged pixels, or straight and mended


@dataclass(frozen=True, eq=False)
class Seam:
    """Where two neighbors meet in a page: lost paper lies between them, or they overlap."""

    NOWHERE: ClassVar[int] = -1

    left: str
    right: str
    stops: NDArray[
        np.int32
    ]  # (H,): one past the last column of the left shred; NOWHERE where one has no paper
    starts: NDArray[np.int32]  # (H,): first column of the right shred; NOWHERE likewise

    def __post_init__(self) -> None:
        object.__setattr__(self, "stops", _frozen(self.stops))
        object.__setattr__(self, "starts", _frozen(self.starts))


@dataclass(frozen=True, eq=False)
class Page:
    """A composed page, with the place of every shred, so that review and metrics never need pixels."""

    image: Image  # (H, W, 3) RGB, white where no paper is
    mask: Mask  # (H, W)
    placements: tuple[Placement, ...]
    dpi: float
    copy: Copy = "evidence"
    seams: tuple[Seam, ...] = ()  # between consecutive shreds

    def __post_init__(self) -> None:
        object.__setattr__(self, "image", _frozen(self.image))
        object.__setattr__(self, "mask", _frozen(self.mask))

    def __repr__(self) -> str:
        height, width = self.mask.shape
        return f"Page({len(self.placements)} shreds, {width}x{height} px, {self.copy} copy)"

    def _repr_png_(self) -> bytes:
        """The picture that a notebook shows."""
        import io

        import PIL.Image

        png = io.BytesIO()
        PIL.Image.fromarray(self.image).save(png, "PNG", dpi=(self.dpi, self.dpi))
        return png.getvalue()
