"""The best joins of every edge and the features of their rows in, how much they are to be believed out.

A score adds up the rows of two edges as if each were evidence of its own, and says who fits best. Whether
anybody fits is another question: a page of print beside a stranger has rows that fit and rows that do not,
and many lines that fit a little mean more than one that fits well. A small network looks at the rows of a
join together, and at what both edges show beside blank paper. It is asked about the few best joins of each
edge; its answers are weighed against each other and against "the neighbor is not in this pile".

What it says of a join depends on these joins alone, not on what else is looked at in the same run.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deshred.compatibility.contract import Descriptions, Rows
from deshred.compatibility.sketches import mark_best, rank_joins
from deshred.elements import Compatibility, Margins
from deshred.errors import ModelError
from deshred.executors import Executor

Floats = NDArray[np.float32]

BEST = 6  # joins of an edge that are looked at
MOST = 15.0  # log-odds: a close look tells no more
FACTS, CHANNELS, WIDTH, HIDDEN, REACH = 7, 3, 16, 32, 2
STRIDES = (2, 2, 1)
MEAN, VOICE, _LIMIT = 8.0, 5.0, 8.0
_PER_RUN = 64  # joins: their rows fit into the cache

SHAPES: Mapping[str, tuple[int, ...]] = {
    "first.weight": (WIDTH, CHANNELS, 2 * REACH + 1),
    "first.bias": (WIDTH,),
    "second.weight": (WIDTH, WIDTH, 2 * REACH + 1),
    "second.bias": (WIDTH,),
    "third.weight": (WIDTH, WIDTH, 2 * REACH + 1),
    "third.bias": (WIDTH,),
    "hidden.weight": (HIDDEN, 2 * WIDTH + FACTS),
    "hidden.bias": (HIDDEN,),
    "last.weight": (1, HIDDEN),
    "last.bias": (1,),
    "score": (),
    "nobody": (),
}


@dataclass(frozen=True, eq=False)
class LookedAt(Descriptions):
    """The m joins that are looked at."""

    pairs: NDArray[np.int32]  # (m, 2): the right-hand and the left-hand edge
    places: Rows  # (m,): of the joins, among the scores in one row
    scores: Floats  # (m,)
    drops: NDArray[np.int64]  # (m,): feature rows by which the left-hand edge begins further down


@dataclass(frozen=True, eq=False)
class Sides:
    """The features of all edges of a pile, and those of blank paper, in whole numbers."""

    rights: NDArray[Any]  # (n, rows, d)
    lefts: NDArray[Any]  # (n, rows, d)
    blank_right: NDArray[np.float64]  # (d,)
    blank_left: NDArray[np.float64]  # (d,)
    unit: float  # what a product of whole numbers has to be divided by to be nats
    row_step: int  # px of a feature row

    @property
    def blank(self) -> float:
        """What a row of blank paper scores beside blank paper, as a product of whole numbers."""
        return float(self.blank_right @ self.blank_left)

    def see(self, looked: LookedAt) -> Floats:  # (m, rows, channels)
        """Nats of each row: both edges together, and each beside blank paper; from blank paper on."""
        own = self.rights[looked.pairs[:, 0]].astype(np.float32)
        other = np.empty(own.shape, np.float32)
        for drop in np.unique(looked.drops):
            at = np.flatnonzero(looked.drops == drop)
            other[at] = _move(self.lefts[looked.pairs[at, 1]], int(drop), self.blank_left)
        together = np.einsum("mhd,mhd->mh", own, other)
        alone = own @ self.blank_left.astype(np.float32), other @ self.blank_right.astype(np.float32)
        products = np.stack([together, *alone], axis=2) - np.float32(self.blank)
        seen: Floats = products / np.float32(self.unit)
        return seen


def _move(lefts: NDArray[Any], drop: int, blank: NDArray[np.float64]) -> Floats:
    """Edges from another row on; blank paper comes in."""
    moved = np.empty(lefts.shape, np.float32)
    rows = lefts.shape[1]
    moved[:] = blank
    moved[:, max(0, -drop) : rows - max(0, drop)] = lefts[:, max(0, drop) : rows + min(0, drop)]
    return moved


def soften(seen: Floats) -> Floats:
    """Nats of rows on a scale on which one row never outweighs all others."""
    softened: Floats = np.sign(seen) * np.log1p(np.abs(seen))
    return softened


def gather_facts(seen: Floats, looked: LookedAt, margins: Margins) -> Floats:  # (m, FACTS)
    """What is known of joins as a whole: scores beside page ends, and the sums over their rows."""
    ends, starts = margins.ends[looked.pairs[:, 0]], margins.starts[looked.pairs[:, 1]]
    sums = seen.sum(axis=1) / np.float32(100)
    of_scores = np.stack([looked.scores - ends - starts, -ends, -starts, looked.scores], axis=1)
    facts = np.concatenate([of_scores / np.float32(20), sums], axis=1)
    known: Floats = np.clip(facts, -_LIMIT, _LIMIT).astype(np.float32)
    return known


@dataclass(frozen=True, eq=False)
class CloseLook:
    """The network; `closelook_training.py` fits it on simulated piles."""

    weights: Mapping[str, Floats]

    @classmethod
    def from_card(cls, text: Any, where: str) -> CloseLook:
        """Read what `to_card` wrote; the file may come from a stranger."""
        try:
            values = np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)
            sizes = [int(np.prod(shape)) for shape in SHAPES.values()]
            parts = np.split(values, np.cumsum(sizes)[:-1])
            weights = {
                name: part.reshape(shape) for (name, shape), part in zip(SHAPES.items(), parts, strict=True)
            }
        except (TypeError, ValueError, binascii.Error):
            raise ModelError(
                f"{where}: the weights of its close look are damaged. Train the model again."
            ) from None
        if not np.isfinite(values).all():
            raise ModelError(f"{where}: the weights of its close look are no numbers. Train the model again.")
        return cls(weights)

    def to_card(self) -> str:
        """All weights as text."""
        values = np.concatenate([np.ravel(self.weights[name]) for name in SHAPES])
        return base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")

    def judge(self, seen: Floats, facts: Floats, scores: Floats) -> NDArray[np.float64]:  # (m,)
        """What each join is worth, in log-odds against the others of its edges."""
        rows = soften(seen)
        rows = self._convolve(rows, "first", STRIDES[0])
        rows = self._convolve(rows, "second", STRIDES[1])
        rows = rows + self._convolve(rows, "third", STRIDES[2])
        told = np.concatenate([rows.mean(axis=1) * np.float32(MEAN), rows.max(axis=1), facts], axis=1)
        said = self._connect(np.maximum(self._connect(told, "hidden"), 0), "last")[:, 0]
        worth: NDArray[np.float64] = (self.weights["score"] * scores + VOICE * said).astype(np.float64)
        return worth

    def weigh_nobody(self, page_ends: Floats) -> NDArray[np.float64]:  # (n,)
        """What it is worth that the neighbor of each edge is not in the pile."""
        worth: NDArray[np.float64] = (self.weights["score"] * page_ends + self.weights["nobody"]).astype(
            np.float64
        )
        return worth

    def _convolve(self, rows: Floats, layer: str, stride: int) -> Floats:  # (m, rows, c) -> (m, rows', c')
        weight = self.weights[f"{layer}.weight"]
        padded = np.pad(rows, ((0, 0), (REACH, REACH), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2], axis=1)[:, ::stride]
        count, height = windows.shape[:2]
        flat = np.ascontiguousarray(windows).reshape(count, height, -1)
        # one product for each join: what is said of it must not depend on how many there are
        convolved = np.matmul(flat, weight.reshape(len(weight), -1).T) + self.weights[f"{layer}.bias"]
        clipped: Floats = np.maximum(convolved, 0, out=convolved)
        return clipped

    def _connect(self, told: Floats, layer: str) -> Floats:
        weight, bias = self.weights[f"{layer}.weight"], self.weights[f"{layer}.bias"]
        connected: Floats = np.matmul(told[:, None], weight.T)[:, 0] + bias
        return connected


def find_beliefs(
    compatibility: Compatibility,
    sides: Sides,
    tops: NDArray[np.int32],
    look: CloseLook,
    *,
    executor: Executor,
) -> Floats:
    """The log-odds that the shreds of the best joins touched; shaped like the scores, NaN elsewhere.

    `tops` are the rows of the shreds that are row 0 of their edges.
    """
    assert compatibility.margins is not None
    margins = compatibility.margins
    looked = list_best(compatibility, tops, sides.row_step)
    parts = executor.stream(partial(_judge_some, sides=sides, margins=margins, look=look), _split(looked))
    worth = np.concatenate([np.zeros(0), *parts])
    nobody = look.weigh_nobody(margins.ends), look.weigh_nobody(margins.starts)
    of_edges = [weigh_against(worth, looked.pairs[:, side], nobody[side]) for side in (0, 1)]
    beliefs = np.full(compatibility.scores.size, np.nan, np.float32)
    beliefs[looked.places] = np.minimum(*of_edges)
    return beliefs.reshape(compatibility.scores.shape)


def list_best(
    compatibility: Compatibility, tops: NDArray[np.int32], row_step: int, *, best: int = BEST
) -> LookedAt:
    """The best joins of every edge."""
    rows, columns = compatibility.list_joins()
    scores = compatibility.scores.reshape(-1)
    if compatibility.is_sparse:
        kept = (rank_joins(rows, scores) < best) | (rank_joins(columns, scores) < best)
    else:
        square = compatibility.scores
        kept = (mark_best(square, best) | mark_best(square.T, best).T).reshape(-1)
    places = np.flatnonzero(kept & np.isfinite(scores))
    i, j = rows[places], columns[places]
    # the right shred moved down brings its row 0 further down: its own rows begin earlier
    shifts = compatibility.offsets.reshape(-1)[places].astype(np.int64) - (tops[i] - tops[j])
    drops = np.rint(-shifts / row_step).astype(np.int64)
    return LookedAt(np.stack([i, j], axis=1).astype(np.int32), places, scores[places], drops)


def _split(looked: LookedAt) -> Iterator[LookedAt]:
    for first in range(0, len(looked), _PER_RUN):
        yield looked[first : first + _PER_RUN]


def _judge_some(looked: LookedAt, *, sides: Sides, margins: Margins, look: CloseLook) -> NDArray[np.float64]:
    seen = sides.see(looked)
    return look.judge(seen, gather_facts(seen, looked, margins), looked.scores)


def weigh_against(
    worth: NDArray[np.float64], edges: NDArray[np.int32], nobody: NDArray[np.float64]
) -> NDArray[np.float64]:  # (m,)
    """Log-odds of joins against the others of their edge and nobody."""
    others = np.array(nobody, np.float64)
    top = others.copy()
    np.maximum.at(top, edges, worth)
    others = np.exp(others - top)
    np.add.at(others, edges, np.exp(worth - top[edges]))
    share = np.exp(worth - top[edges]) / others[edges]
    least = np.exp(-MOST)
    share = np.clip(share, least, 1 - least)
    odds: NDArray[np.float64] = np.log(share) - np.log1p(-share)
    return odds
