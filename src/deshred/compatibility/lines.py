"""Weigh the compatibility of a pile by where lines of print lie, for joins whose ink at the cut is silent.

Down the gutter between two columns, strangers fit as well as neighbors. But the lines of one page have one
pitch, begin and end at the same heights, and often lie side by side. So shreds that stand together for sure
are taken together, and the lines at the ends of two such chains are compared: those of one page are alike.
Where all chains of a pile are alike, as in a book, that says nothing, and nothing is said. Lines tell the
page, not the order in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_closing, binary_opening, gaussian_filter1d

from deshred.compatibility.calibration import find_leads
from deshred.compatibility.contract import ScorerCard
from deshred.compatibility.origins import find_mutual
from deshred.compatibility.tears import are_torn
from deshred.elements import Compatibility, EdgePair, Pile, RowInk

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_SILENT = 30  # rows whose ink reaches the tear: less than a line of print
_SURE, _SURE_IF_SILENT = 1.6, 6.0  # log-odds by which the joins inside a chain lead
_OUTER = 5  # shreds at the end of a chain whose lines are looked at
_STEP = 2  # px: lines are compared in rows of this height
_REACH = 24  # px by which neighbors may be shifted against each other
_BLUR = 1.5  # px by which the tops and bottoms of lines may be off
_ENDS_BLUR = 10.0  # px by which the first and the last line may be off
_GAP, _LEAST_LINE = 4, 3  # px: gaps in a line, and lines that count
_SLOW = 40.0  # px over which print is averaged, to see its lines around that
_NEAREST, _FARTHEST = 15, 350  # px: repeats of lines that are looked at
_FEW, _MANY = 100, 600  # rows with print on both sides: how much lines tell grows from none to all
_AGAINST, _FOR = -4.0, 2.0  # log-odds: lines tell no more


@dataclass(frozen=True)
class LineWeights:
    """What signs of one page are worth, in log-odds; fitted on simulated piles (`benchmarks/lines.py`)."""

    pitch: float = 3.7  # times the correlation of how lines repeat
    ends: float = 1.2  # for the first line, and for the last one, at the same height
    beside: float = 8.6  # times the correlation of the tops and bottoms of lines
    neither: float = -3.5  # if none of these is there


def weigh_lines(
    compatibility: Compatibility,
    pile: Pile,
    *,
    scorer: ScorerCard,
    pages: int | Literal["auto"] = "auto",
    weights: LineWeights = LineWeights(),  # noqa: B008 - frozen
) -> Compatibility:
    """Add to joins what lines of print say about them, where ink does not reach the cut on both sides.

    The very same scores where there is nothing to tell, or where tears tell it: lines would add nothing then.
    So they are where one path goes through everything (`pages=1`): if that is several pages, most neighbors
    beside a silent cut are strangers, and lines would keep them apart.
    """
    calibration = compatibility.calibration
    if calibration is None or scorer.model is None or pile.faces.pairs or pages == 1:
        return compatibility
    if scorer.sees_outlines and are_torn(pile.edges):
        return compatibility
    looked = look_at_lines(compatibility, pile.edges)
    if looked is None:
        return compatibility
    scores = compatibility.scores.copy()
    scores.reshape(-1)[looked.places] += (looked.weigh(weights) / calibration.slope).astype(np.float32)
    return replace(compatibility, scores=scores)


@dataclass(frozen=True, eq=False)
class LookedAt:
    """Joins between the ends of chains that lines may tell something about."""

    places: Indices  # (m,): of the scores, in one row
    signs: Floats  # (m, 4): one for each of the weights

    def weigh(self, weights: LineWeights) -> Floats:
        """Log-odds of each; what nearly all of them show is no sign of one page."""
        bounded = np.clip(self.signs @ np.array(astuple(weights)), _AGAINST, _FOR)
        usual: Floats = bounded - max(float(np.log(np.exp(bounded).mean())), 0.0)
        return usual


def look_at_lines(compatibility: Compatibility, edges: Sequence[EdgePair]) -> LookedAt | None:
    """Find the joins of a pile that are not sure, with a silent side; None where there are none."""
    rows = [pair.rows for pair in edges]
    silent_left = np.array([int(row.at_left.sum()) < _SILENT for row in rows])
    silent_right = np.array([int(row.at_right.sum()) < _SILENT for row in rows])
    chains = find_chains(compatibility, silent_right, silent_left)
    firsts, lasts = (np.array([chain[end] for chain in chains], np.intp) for end in (0, -1))
    of_first, of_last = np.full((2, len(compatibility)), -1)
    of_first[firsts] = of_last[lasts] = np.arange(len(chains))
    left, right = compatibility.list_joins()
    is_open = (of_last[left] >= 0) & (of_first[right] >= 0) & (silent_right[left] | silent_left[right])
    is_open &= (of_last[left] != of_first[right]) & np.isfinite(compatibility.scores.reshape(-1))
    places = np.flatnonzero(is_open)
    a, b = of_last[left[places]], of_first[right[places]]
    before = PrintedEnds([_join_rows(compatibility, rows, chain[-_OUTER:], -1) for chain in chains])
    after = PrintedEnds([_join_rows(compatibility, rows, chain[:_OUTER], 0) for chain in chains])
    telling = np.minimum(before.telling[a], after.telling[b])
    a, b, places, telling = (array[telling > 0] for array in (a, b, places, telling))
    return LookedAt(places, compare_ends(before, after, a, b) * telling[:, None]) if len(places) else None


def find_chains(
    compatibility: Compatibility, silent_right: NDArray[np.bool_], silent_left: NDArray[np.bool_]
) -> list[list[int]]:
    """Shreds that stand side by side for sure, from left to right; every shred is in one chain."""
    assert compatibility.calibration is not None
    pairs = find_mutual(compatibility)
    odds = compatibility.calibration.slope * find_leads(compatibility, pairs)
    follows = {
        i: j
        for (i, j), lead in zip(pairs, odds.tolist(), strict=True)
        if lead >= (_SURE_IF_SILENT if silent_right[i] or silent_left[j] else _SURE)
    }
    inside = set(follows.values())
    starts = [i for i in range(len(compatibility)) if i not in inside]
    chains = [list(_follow(start, follows)) for start in starts]
    circled = set(range(len(compatibility))).difference(*chains)
    while circled:  # each its own successor after some steps: cut at its first shred
        chains.append(list(_follow(min(circled), follows)))
        circled.difference_update(chains[-1])
    return chains


def _follow(start: int, follows: dict[int, int]) -> Iterator[int]:
    yield start
    at = follows.get(start)
    while at is not None and at != start:
        yield at
        at = follows.get(at)


@dataclass(frozen=True, eq=False)
class Printed:
    """The rows of some shreds that stand side by side, as the outermost of them lies."""

    counts: Floats  # (H,): shreds with print in each row
    top: int  # row of the outermost shred that is row 0


def _join_rows(
    compatibility: Compatibility, rows: Sequence[RowInk], shreds: Sequence[int], outermost: int
) -> Printed:
    steps = [compatibility.offset(i, j) for i, j in pairwise(shreds)]
    tops = np.concatenate([[0], np.cumsum(steps)]).astype(int)
    highest = int(tops.min())
    height = max(int(top) - highest + rows[i].height for i, top in zip(shreds, tops, strict=True))
    counts = np.zeros(height)
    for i, top in zip(shreds, (tops - highest).tolist(), strict=True):
        counts[top : top + rows[i].height] += rows[i].printed
    return Printed(counts, highest - int(tops[outermost]))


class PrintedEnds:
    """The lines at the ends of chains, ready to be compared."""

    def __init__(self, ends: Sequence[Printed]) -> None:
        self._ends = ends
        self._shown = [_find_lines(end) for end in ends]
        self.top = min(end.top for end in ends)
        self.bottom = max(end.top + len(end.counts) for end in ends)

    @cached_property
    def telling(self) -> Floats:  # (n,)
        """From 0 to 1: how much print there is to tell by."""
        rows = np.array([shown.sum() for shown in self._shown])
        grown = np.log((rows + 1) / _FEW) / np.log(_MANY / _FEW)
        told: Floats = np.clip(grown, 0, 1)
        return told

    @cached_property
    def repeats(self) -> Floats:  # (n, lags)
        """How alike the print of each end is to itself some rows further down, of length 1."""
        return np.array([_find_repeats(end) for end in self._ends])

    @cached_property
    def borders(self) -> Floats:  # (2, n)
        """The rows of the first and of the last print."""
        found = [np.flatnonzero(shown) if shown.any() else np.zeros(1) for shown in self._shown]
        return np.array(
            [[end.top + at[side] for end, at in zip(self._ends, found, strict=True)] for side in (0, -1)]
        )

    def draw_steps(self, top: int, bottom: int) -> NDArray[np.float32]:  # (n, rows)
        """Tops (up) and bottoms (down) of lines from one row to another, of length 1."""
        drawn = np.zeros((len(self._ends), bottom - top))
        for row, end, shown in zip(drawn, self._ends, self._shown, strict=True):
            row[end.top - top : end.top - top + len(shown)] = shown
        steps = gaussian_filter1d(np.diff(drawn, axis=1, prepend=0.0), _BLUR, axis=1)[:, ::_STEP]
        unit: Floats = steps / np.maximum(np.linalg.norm(steps, axis=1, keepdims=True), 1e-9)
        return unit.astype(np.float32)


def _find_lines(end: Printed) -> NDArray[np.bool_]:
    whole = np.pad(end.counts > 0, _GAP)
    lines = binary_opening(binary_closing(whole, np.ones(_GAP)), np.ones(_LEAST_LINE))
    found: NDArray[np.bool_] = lines[_GAP:-_GAP]
    return found


def _find_repeats(end: Printed) -> Floats:
    print_ = gaussian_filter1d(end.counts, 1.0)
    print_ -= gaussian_filter1d(print_, _SLOW)
    size = 1 << (len(print_) + _FARTHEST).bit_length()
    repeats = np.fft.irfft(np.abs(np.fft.rfft(print_, size)) ** 2, size)[_NEAREST:_FARTHEST]
    unit: Floats = repeats / max(float(np.linalg.norm(repeats)), 1e-9)
    return unit


def compare_ends(before: PrintedEnds, after: PrintedEnds, a: Indices, b: Indices) -> Floats:  # (m, 4)
    """The signs that the ends `a` of chains belong to the page of the ends `b`, which stand right of them."""
    apart = np.abs(after.borders[:, b] - before.borders[:, a])
    ends = np.exp(-np.maximum(apart - _REACH, 0) / _ENDS_BLUR).sum(axis=0)
    top, bottom = min(before.top, after.top), max(before.bottom, after.bottom)
    margin = _REACH + _STEP
    upper = before.draw_steps(top - margin, bottom + margin)
    lower = after.draw_steps(top - margin, bottom + margin)
    pitch, beside = np.zeros((2, len(a)))
    for pairs in np.split(np.arange(len(a)), np.flatnonzero(np.diff(a)) + 1):  # a few: one end against others
        end, others = a[pairs[0]], b[pairs]
        moved = [np.roll(upper[end], shift) for shift in range(-_REACH // _STEP, _REACH // _STEP + 1)]
        pitch[pairs] = after.repeats[others] @ before.repeats[end]
        beside[pairs] = (lower[others] @ np.array(moved).T).max(axis=1)
    return np.stack([pitch, ends, beside, np.ones(len(a))], axis=1)
