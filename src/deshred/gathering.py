"""Bring parts of pages back to their pages, where the rows of their print say which page that is.

A margin shred may be left over as a page of its own: its neighbor was blank and not scanned, or hardly
anything is written at the tear. But lines of print lie where those of its page lie, and rules that reach the
tear go on at the same height. What that is worth was fitted on simulated piles (`benchmarks/gathering.py`).
A part goes to a page only if that page is clearly the most likely one; the join is shown as open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, pairwise, permutations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_closing, binary_opening, gaussian_filter1d

from deshred.arrangement import ArrangementOptions, WarmStart, arrange, paper_width
from deshred.compatibility.calibration import rate
from deshred.compatibility.tears import are_torn
from deshred.elements import Arrangement, Compatibility, Pile
from deshred.executors import Progress
from deshred.missing import PART, cut_pages

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MOST_SHREDS = 5000  # in larger piles, finding the parts would take longer than it is worth
_PARTS_PER_PAGE = 1.5  # where there are more, holes are everywhere, and most parts stand inside their page
# the least probability with which a part goes to a page: a wrong place spoils a page, a right one mends one.
# Where there are as many parts as pages, shreds are missing, and most pages have holes anyway
_LIKELY, _LIKELY_IN_PIECES = 0.3, 0.7
# nats by which a join that was found so beats a page break: enough to be made, too little to be believed
_AS_GOOD = -2.0
_UNDONE = -20.0
_ROUNDS = 3  # of looking whether parts stand where they were put
_ORDERED = 5  # parts on one side of a page whose orders are all tried
_OUTER = 4  # shreds of a page whose lines are looked at
_FAR = 500  # rows up to which lines are moved to see how well they lie by chance
_BLUR = 1.5  # rows by which the tops and bottoms of lines may be off
_GAP, _LEAST_LINE, _LEAST_RULE = 4, 3, 2  # rows: gaps in a line, lines and rules that count
_WIDEST_REACH = 24  # rows that neighbors may be shifted against each other
_WIDEST = 1.05  # of the width of the paper: no page is wider
_ROOM = 300  # rows above and below the highest shred


@dataclass(frozen=True)
class GatheringWeights:
    """What the signs that a part belongs to a page are worth, in nats; fitted on simulated piles."""

    advantage: float = 0.20  # per nat by which the join beats a page break
    lines: float = 0.91  # per nat by which lines of print lie alike better than by chance
    rules: float = 2.50  # times the likeness of what reaches the tears and the log of its rows
    one_sided: float = -0.37  # ink reaches one of the two tears only
    crowded: float = -0.95  # per tenth of the paper's width above `FILLED`


FILLED = 0.85  # of the width of the paper: fuller pages than this have less room for a part


@dataclass(frozen=True, eq=False)
class Piece:
    """Shreds that stand side by side for sure, and how far down each lies."""

    shreds: tuple[int, ...]
    tops: tuple[int, ...]
    width_mm: float

    def end(self, side: int) -> int:
        """The shred at the left (0) or at the right (-1) end."""
        return self.shreds[side]

    @property
    def joins(self) -> tuple[tuple[int, int], ...]:
        """What stands side by side in it."""
        return tuple(pairwise(self.shreds))


@dataclass(frozen=True, eq=False)
class Place:
    """A part may stand at this side of a page: left of it (0) or right of it (-1)."""

    part: Piece
    page: Piece
    side: int
    join: tuple[int, int]
    signs: Floats  # one for each of the weights


def gather(
    pile: Pile,
    compatibility: Compatibility,
    *,
    options: ArrangementOptions = ArrangementOptions(),  # noqa: B008 - frozen
    weights: GatheringWeights = GatheringWeights(),  # noqa: B008 - frozen
    progress: Progress | None = None,
    warm_start: WarmStart | None = None,
) -> Compatibility:
    """The scores, with the joins that bring parts of pages back to their pages counted as good ones.

    The very same scores where there is nothing to gather, or nothing to tell by.
    """
    margins = compatibility.margins
    paper_mm = options.page_width_mm or paper_width(margins)
    can_tell = compatibility.calibration is not None and leaves_parts(options)
    if margins is None or paper_mm is None or not can_tell or pile.faces.pairs:
        return compatibility
    if len(pile) > MOST_SHREDS or not are_torn(pile.edges):
        return compatibility
    arrangement = arrange(compatibility, options=options, progress=progress, warm_start=warm_start)
    arrangement = rate(arrangement, compatibility)
    gathering = Gathering(pile, compatibility, arrangement, paper_mm)
    if gathering.is_in_pieces:
        return compatibility
    gathered = change_joins(compatibility, gathering.place_parts(weights))
    if gathered is compatibility or not gathering.has_few_parts:
        return gathered
    for _ in range(_ROUNDS):
        answer = arrange(gathered, options=options, progress=progress, warm_start=warm_start)
        intruders = gathering.find_intruders(answer)
        if not intruders:
            break
        gathered = change_joins(gathered, intruders)
    return gathered


def leaves_parts(options: ArrangementOptions) -> bool:
    """Whether joins that are not believed are left open: only then parts of pages are pages of their own."""
    return options.solver == "exact" and options.pages == "auto" and not options.free_ends


class Gathering:
    """The pieces of a pile, and where those that are too narrow to be a page may belong."""

    def __init__(
        self, pile: Pile, compatibility: Compatibility, arrangement: Arrangement, paper_mm: float
    ) -> None:
        assert compatibility.margins is not None
        self._compatibility, self._margins = compatibility, compatibility.margins
        self._paper_mm = paper_mm
        self._made = _list_made(arrangement, compatibility)
        self._moved: set[int] = set()  # ends of parts that stood somewhere else
        # each page that got parts: itself and what stands left of it, itself and what stands right of it
        self._gathered: dict[Piece, tuple[list[Piece], list[Piece]]] = {}
        self._seen: dict[tuple[Piece, Piece, int], Place] = {}
        self._pieces = list(cut_pieces(arrangement, compatibility))
        self.has_few_parts = 2 * len(self.parts) < len(self._pieces)
        self.least = _LIKELY if self.has_few_parts else _LIKELY_IN_PIECES
        self._look = partial(Lines, pile, self._find_looked_at(), find_reach(arrangement))

    @cached_property
    def _lines(self) -> Lines:
        return self._look()

    @property
    def parts(self) -> list[Piece]:
        """The pieces that are too narrow to be a page."""
        return [piece for piece in self._pieces if self._is_part(piece)]

    @property
    def is_in_pieces(self) -> bool:
        """Whether there are many more parts than pages: they are no longer just margins."""
        parts = len(self.parts)
        return parts > _PARTS_PER_PAGE * (len(self._pieces) - parts)

    def _is_part(self, piece: Piece) -> bool:
        return piece.width_mm < PART * self._paper_mm

    def _find_looked_at(self) -> list[int]:
        """All shreds of parts and the outer ones of pages; none where there are no parts."""
        pages = [piece for piece in self._pieces if not self._is_part(piece)]
        outer = {i for page in pages for i in (*page.shreds[:_OUTER], *page.shreds[-_OUTER:])}
        return sorted(outer.union(*(part.shreds for part in self.parts))) if self.parts else []

    def place_parts(self, weights: GatheringWeights) -> dict[tuple[int, int], float]:
        """Joins and their new scores: part after part, the most probable first."""
        while (best := self._find_best(weights)) is not None:
            self._settle(best)
        return self._change()

    def _find_best(self, weights: GatheringWeights) -> Place | None:
        """The most probable place of any part, if it is likely enough."""
        best, most = None, self.least
        for part in self.parts:
            places = self.find_places(part)
            chances = weigh(places, weights)
            if len(places) and chances.max() >= most:
                best, most = places[int(chances.argmax())], float(chances.max())
        return best

    def find_places(self, part: Piece) -> list[Place]:
        """Both sides of all pages with room for a part, also where a doubted join holds something else."""
        places = []
        for page in self._pieces:
            total = (page.width_mm + part.width_mm) / self._paper_mm
            if not self._is_part(page) and total <= _WIDEST:
                places.append(self._see_place(part, page, 0, (part.end(-1), page.end(0)), total))
                places.append(self._see_place(part, page, -1, (page.end(-1), part.end(0)), total))
        return places

    def _see_place(self, part: Piece, page: Piece, side: int, join: tuple[int, int], total: float) -> Place:
        """Look at a place once: settling a part changes one page only."""
        key = part, page, side
        if key not in self._seen:
            lines = self._lines.compare_lines(part, page, side)
            rules, one_sided = self._lines.compare_rules(part, page, side)
            crowded = max(total - FILLED, 0.0) * 10
            signs = np.array([self._find_advantage(*join), lines, rules, one_sided, crowded])
            self._seen[key] = Place(part, page, side, join, signs)
        return self._seen[key]

    def _settle(self, place: Place) -> None:
        """Make one piece of a part and its page."""
        part, page = place.part, place.page
        first, second = (part, page) if place.side == 0 else (page, part)
        down = first.tops[-1] + self._compatibility.offset(*place.join) - second.tops[0]
        whole = Piece(
            first.shreds + second.shreds,
            first.tops + tuple(top + down for top in second.tops),
            part.width_mm + page.width_mm,
        )
        self._pieces = [piece for piece in self._pieces if piece not in (part, page)] + [whole]
        sides = self._gathered.pop(page, ([page], [page]))
        sides[place.side].append(part)
        self._gathered[whole] = sides
        if place.join not in self._made:
            self._moved |= {part.end(0), part.end(-1)}

    def find_intruders(self, arrangement: Arrangement) -> dict[tuple[int, int], float]:
        """Joins of an answer that take the place of those between gathered parts, and their new scores."""
        wanted = self._find_wanted()
        lefts, rights = ({join[end] for join in wanted} for end in (0, 1))
        others = sorted(_list_made(arrangement, self._compatibility) - wanted)
        intruders = (join for join in others if join[0] in lefts or join[1] in rights)
        return {(i, j): self._find_break(i, j) + _UNDONE for i, j in intruders}

    def _find_wanted(self) -> set[tuple[int, int]]:
        """The joins between gathered parts and their pages."""
        wanted: set[tuple[int, int]] = set()
        for before, after in self._gathered.values():
            rows = [[*self._order(before[1:], before[0], 0), before[0]]]
            rows.append([after[0], *self._order(after[1:], after[0], -1)])
            wanted.update((a.end(-1), b.end(0)) for row in rows for a, b in pairwise(row))
        return wanted

    def _change(self) -> dict[tuple[int, int], float]:
        """What gathered parts change: the joins between them count as good ones, those they had do not."""
        wanted = self._find_wanted()
        inside = {join for parts in self._gathered.values() for part in chain(*parts) for join in part.joins}
        lefts, rights = ({join[end] for join in wanted} for end in (0, 1))
        changed = {join: _AS_GOOD for join in sorted(wanted) if self._find_advantage(*join) < _AS_GOOD}
        for left, right in sorted(self._made - wanted - inside):
            if left in self._moved | lefts or right in self._moved | rights:
                changed[left, right] = _UNDONE
        return {(i, j): self._find_break(i, j) + nats for (i, j), nats in changed.items()}

    def _order(self, parts: Sequence[Piece], page: Piece, side: int) -> tuple[Piece, ...]:
        """Parts on one side of a page, in the order in which their tears fit best."""

        def fit(order: Sequence[Piece]) -> float:
            row = (*order, page) if side == 0 else (page, *order)
            return sum(self._find_advantage(a.end(-1), b.end(0)) for a, b in pairwise(row))

        as_found = tuple(parts) if side else tuple(parts)[::-1]
        return max(permutations(as_found), key=fit) if len(parts) <= _ORDERED else as_found

    def _find_break(self, i: int, j: int) -> float:
        """What a page break between two shreds scores."""
        return float(self._margins.ends[i]) + float(self._margins.starts[j])

    def _find_advantage(self, i: int, j: int) -> float:
        """By how many nats a join beats a page break there."""
        return float(np.clip(self._compatibility.score(i, j) - self._find_break(i, j), -8, 8))


def _list_made(arrangement: Arrangement, compatibility: Compatibility) -> set[tuple[int, int]]:
    index = {name: i for i, name in enumerate(compatibility.ids)}
    return {(index[join.left], index[join.right]) for join in arrangement.joins}


def weigh(places: Sequence[Place], weights: GatheringWeights) -> Floats:
    """How probable each of the places of a part is, if it belongs to one of them."""
    if not places:
        return np.zeros(0)
    nats = np.array([place.signs for place in places]) @ np.array(
        [weights.advantage, weights.lines, weights.rules, weights.one_sided, weights.crowded]
    )
    odds = np.exp(nats - nats.max())
    chances: Floats = odds / odds.sum()
    return chances


def cut_pieces(arrangement: Arrangement, compatibility: Compatibility) -> Iterator[Piece]:
    """Pages, taken apart where a join is not believed."""
    assert compatibility.margins is not None
    index = {name: i for i, name in enumerate(compatibility.ids)}
    for slots in cut_pages(arrangement):
        shreds = tuple(index[slot.shred_id] for slot in slots)
        width_mm = float(np.nansum(compatibility.margins.widths_mm[list(shreds)]))
        yield Piece(shreds, tuple(slot.offset for slot in slots), width_mm)


def find_reach(arrangement: Arrangement) -> int:
    """Rows by which neighbors are shifted against each other in this pile, nearly all of them."""
    steps = [join.offset for join in arrangement.joins if join.verdict == "sure"]
    return int(np.clip(2.5 * np.std(steps), 2, _WIDEST_REACH)) if steps else _WIDEST_REACH


class Lines:
    """Where lines of print lie on the pieces of a pile, as spectra: moved against each other in one go."""

    def __init__(self, pile: Pile, looked_at: Sequence[int], reach: int) -> None:
        self._rows = {i: pile.edges[i].rows for i in looked_at}
        highest = max((rows.height for rows in self._rows.values()), default=0)
        self._height = highest + 2 * _ROOM
        self._size = 1 << (2 * self._height - 1).bit_length()
        self._reach = reach
        self._kept: dict[tuple[tuple[int, ...], int, bool], _Sight] = {}

    def compare_lines(self, part: Piece, page: Piece, side: int) -> float:
        """Nats by which the lines of a part lie on those of a page better than if it were moved up or down.

        The share of other shifts at which the lines fit as well is the chance that they fit by accident.
        """
        inner = self._see(part, -1 - side, rules=False)
        found = self._slide(inner, self._see(page, side, rules=False))
        window = 2 * self._reach + 1
        best = np.lib.stride_tricks.sliding_window_view(found, window).max(axis=-1)
        middle = _FAR - self._reach
        shifts = np.abs(np.arange(len(best)) - middle)
        far = best[shifts > 2 * self._reach + 20]
        as_good = float((far >= best[middle] - 1e-6 * inner.energy).sum())
        return float(-np.log((window + as_good) / (window + len(far))))

    def compare_rules(self, part: Piece, page: Piece, side: int) -> tuple[float, float]:
        """How alike what reaches both tears is, times the log of its rows; whether only one is reached."""
        inner, outer = self._see(part, -1 - side, rules=True), self._see(page, side, rules=True)
        if not inner.rows or not outer.rows:
            return 0.0, float(inner.rows != outer.rows)
        near = self._slide(inner, outer)[_FAR - self._reach : _FAR + self._reach + 1].max()
        alike = float(np.clip(2 * near / (inner.energy + outer.energy), 0, 1))
        return alike * float(np.log1p(min(inner.rows, outer.rows))), 0.0

    def _slide(self, inner: _Sight, outer: _Sight) -> Floats:
        """What the tops and bottoms of both have in common at every shift up to `_FAR` rows."""
        found = np.fft.irfft(np.conj(inner.spectrum) * outer.spectrum, self._size)
        return np.concatenate([found[-_FAR:], found[: _FAR + 1]])

    def _see(self, piece: Piece, side: int, *, rules: bool) -> _Sight:
        """The lines at one side of a piece, or what reaches its tear there, as its outermost shred lies."""
        outer = slice(0, 1 if rules else _OUTER) if side == 0 else slice(-1 if rules else -_OUTER, None)
        key = (piece.shreds[outer], side, rules)
        if key not in self._kept:
            shown = np.zeros(self._height, np.bool_)
            for shred, top in zip(piece.shreds[outer], piece.tops[outer], strict=True):
                self._add(shown, self._choose(shred, side, rules), _ROOM + top - piece.tops[side])
            shown = binary_closing(shown, np.ones(3 if rules else _GAP))
            shown = binary_opening(shown, np.ones(_LEAST_RULE if rules else _LEAST_LINE))
            self._kept[key] = self._look(shown)
        return self._kept[key]

    def _choose(self, shred: int, side: int, rules: bool) -> Mask:
        rows = self._rows[shred]
        return rows.printed if not rules else rows.at_left if side == 0 else rows.at_right

    def _add(self, shown: Mask, rows: Mask, top: int) -> None:
        rows = rows[max(-top, 0) :]
        part = shown[max(top, 0) : max(top, 0) + len(rows)]
        part |= rows[: len(part)]

    def _look(self, shown: Mask) -> _Sight:
        steps = np.diff(shown.astype(np.float64), prepend=0.0)
        borders = gaussian_filter1d(steps, _BLUR) * (_BLUR * np.sqrt(2 * np.pi))
        return _Sight(np.fft.rfft(borders, self._size), float((borders**2).sum()), int(shown.sum()))


@dataclass(frozen=True, eq=False)
class _Sight:
    """Tops (up) and bottoms (down) of the lines of a piece."""

    spectrum: NDArray[np.complex128]
    energy: float
    rows: int  # with ink


def change_joins(compatibility: Compatibility, joins: Mapping[tuple[int, int], float]) -> Compatibility:
    """The same scores but for some joins; those that were not listed are."""
    if not joins:
        return compatibility
    rows, columns = np.array(list(joins), np.intp).reshape(-1, 2).T
    values = np.array(list(joins.values()), np.float32)
    if not compatibility.is_sparse:
        scores = compatibility.scores.copy()
        scores[rows, columns] = values
        return replace(compatibility, scores=scores)
    old_rows, old_columns = compatibility.list_joins()
    count = len(compatibility)
    kept = ~np.isin(old_rows * count + old_columns, rows * count + columns)
    steps = np.array([compatibility.offset(i, j) for i, j in joins], np.int16)
    all_rows, all_columns = np.append(old_rows[kept], rows), np.append(old_columns[kept], columns)
    order = np.lexsort((all_columns, all_rows))
    return replace(
        compatibility,
        scores=np.append(compatibility.scores[kept], values)[order],
        offsets=np.append(compatibility.offsets[kept], steps)[order],
        row_starts=np.searchsorted(all_rows[order], np.arange(count + 1)).astype(np.int64),
        columns=all_columns[order].astype(np.int32),
    )
