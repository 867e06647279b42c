"""Documents in a row and a scorer in; the scores of any window of consecutive documents out.

Every edge is described once. The unit of scoring is a block: the shreds of one document before those of
another, computed when a window first needs it. So a slow scorer only sees the pairs that are needed, and
with a folder each block is kept on disk: a killed evaluation goes on where it stopped. A scorer that adapts
to its pile sees each window as a pile of its own, and its blocks are not kept.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deshred import __version__
from deshred.compatibility.margins import Borders
from deshred.compatibility.scoring import ScoreBlock, Scorer, join_arrays, weigh_ends
from deshred.elements import Compatibility
from deshred.executors import Progress
from deshred.imaging.edges import EdgePair
from deshred.pipeline import Stopwatch
from deshred.store import DAMAGED, write_atomically

FORMAT = "block 1"  # in the name of every file: files of other formats are not found


@dataclass(frozen=True, eq=False)
class EdgedDocument:
    """A document without its pixels: ids, edges and borders of the shreds that carry ink."""

    name: str
    ids: tuple[str, ...]
    edges: tuple[EdgePair, ...]
    borders: Borders
    blank: int  # shreds dropped
    fingerprint: str = ""  # of its ShredSet; only needed to keep blocks on disk


@dataclass(frozen=True)
class Window:
    """Consecutive documents, `start` to `stop` - 1, of the sequence."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


class ScoreBlocks:
    """The scores of documents in sequence, block by block."""

    def __init__(
        self,
        documents: Sequence[EdgedDocument],
        scorer: Scorer,
        *,
        folder: Path | None = None,
        stopwatch: Stopwatch | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._documents = documents
        self._scorer = scorer
        self._folder = folder
        self._stopwatch = stopwatch or Stopwatch()
        self._progress = progress
        self._blocks: dict[tuple[int, int], ScoreBlock] = {}
        self._adapted: dict[Window, Scorer] = {}
        self._ids = tuple(id_ for document in documents for id_ in document.ids)
        self._starts = np.cumsum([0, *(len(document.ids) for document in documents)])
        edges = [pair for document in documents for pair in document.edges]
        self._tops = np.array([pair.left.top for pair in edges], np.int64)
        with self._stopwatch.measure("encode"):
            self._rights = scorer.encode_rights([pair.right for pair in edges])
            self._lefts = scorer.encode_lefts([pair.left for pair in edges])
        self._borders: Borders = join_arrays([document.borders for document in documents])

    def count_shreds(self, window: Window) -> int:
        """The number of shreds in a window."""
        return int(self._starts[window.stop] - self._starts[window.start])

    def assemble(self, window: Window, order: NDArray[np.int64]) -> Compatibility:
        """The scores within a window, its shreds brought into the given order."""
        documents = range(window.start, window.stop)
        scorer = self._adapt(window)
        rows = [[self._block(left, right, scorer) for right in documents] for left in documents]
        scores = np.block([[block.scores for block in row] for row in rows])[np.ix_(order, order)]
        offsets = np.block([[block.offsets for block in row] for row in rows])[np.ix_(order, order)]
        np.fill_diagonal(scores, -np.inf)
        ids = self._ids[self._starts[window.start] : self._starts[window.stop]]
        pile = self._starts[window.start] + order
        margins = weigh_ends(self._rights[pile], self._lefts[pile], self._borders[pile], scorer)
        return Compatibility(tuple(ids[i] for i in order.tolist()), scores, offsets, margins=margins)

    def score_all(self, windows: Sequence[Window]) -> None:
        """Compute every block that these windows share, with progress."""
        needed = {
            (left, right)
            for window in windows
            if self._adapt(window) is self._scorer
            for left in range(window.start, window.stop)
            for right in range(window.start, window.stop)
        }
        for done, (left, right) in enumerate(sorted(needed), 1):
            self._block(left, right, self._scorer)
            if self._progress is not None:
                self._progress("scoring", done, len(needed))

    def _adapt(self, window: Window) -> Scorer:
        if window not in self._adapted:
            pile = slice(self._starts[window.start], self._starts[window.stop])
            with self._stopwatch.measure("score"):
                self._adapted[window] = self._scorer.adapt(self._rights[pile], self._lefts[pile])
        return self._adapted[window]

    def _block(self, left: int, right: int, scorer: Scorer) -> ScoreBlock:
        if scorer is not self._scorer:
            return self._score(left, right, scorer)
        if (left, right) not in self._blocks:
            self._blocks[left, right] = self._recall(left, right)
        return self._blocks[left, right]

    def _recall(self, left: int, right: int) -> ScoreBlock:
        if self._folder is None:
            return self._score(left, right, self._scorer)
        file = self._folder / f"{self._key(left, right)}.npz"
        kept = _load(file)
        if kept is None:
            kept = self._score(left, right, self._scorer)
            _save(file, kept)
        return kept

    def _score(self, left: int, right: int, scorer: Scorer) -> ScoreBlock:
        rows = slice(self._starts[left], self._starts[left + 1])
        columns = slice(self._starts[right], self._starts[right + 1])
        with self._stopwatch.measure("score"):
            block = scorer.score_block(self._rights[rows], self._lefts[columns])
        # From rows of the edges to rows of the images: edges are centered, images differ in height.
        tops = self._tops[rows, None] - self._tops[None, columns]
        return ScoreBlock(block.scores, (block.offsets + tops).astype(np.int16))

    def _key(self, left: int, right: int) -> str:
        """Everything that a block depends on."""
        documents = (self._documents[left].fingerprint, self._documents[right].fingerprint)
        parts = (FORMAT, __version__, self._scorer.fingerprint, *documents)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _save(file: Path, block: ScoreBlock) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, scores=block.scores, offsets=block.offsets)
    write_atomically(file, buffer.getvalue())


def _load(file: Path) -> ScoreBlock | None:
    """The block in this file; None when there is none or it is damaged, to be computed again."""
    try:
        with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as arrays:
            return ScoreBlock(arrays["scores"], arrays["offsets"])
    except DAMAGED:
        return None
