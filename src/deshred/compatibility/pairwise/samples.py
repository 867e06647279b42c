"""The ink of intact pages in, labeled windows around simulated cuts out: what the pairwise network sees.

Simulated shredding and sampling as in Paixão et al., "Self-supervised deep reconstruction of mixed
strip-shredded text documents", Pattern Recognition 107 (2020). Samples are kept as packed bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deshred.errors import SettingsError
from deshred.options import option

Ink = NDArray[np.uint8]
_BLANK = 15  # one in so many faint windows is blank: they all look the same


@dataclass(frozen=True)
class SampleOptions:
    """How pages are shredded and sampled; the defaults are the paper's."""

    rows: int = option(32, "Height of a window: 32 or 64 px.")
    columns: int = option(32, "Width of a window: 32 or 64 px.")
    shreds: int = 30
    noise_columns: int = 2  # on each side of a shred, random black or white
    step: int = 2  # px between windows of the same cut
    # rho_black: below it a window says nothing
    min_ink: float = option(0.2, "Smallest share of ink in a window.")
    max_positives: int = option(1000, "At most this many windows of true joins per page and epoch.")
    faint_share: float = option(0.0, "Share of windows drawn with any ink or none.")  # see `_draw_faint`

    def __post_init__(self) -> None:
        if self.rows not in (32, 64) or self.columns not in (32, 64):
            raise SettingsError(
                f"samples must be 32 or 64 px high and wide, got {self.rows} x {self.columns}."
            )
        if not 0 <= self.min_ink < 1:
            raise SettingsError(f"min_ink must be a share from 0 to 1, got {self.min_ink:g}.")
        if not 0 <= self.faint_share <= 1:
            raise SettingsError(f"faint_share must lie in 0..1, got {self.faint_share:g}.")
        if self.shreds < 3 or self.step < 1 or self.max_positives < 1:
            raise SettingsError(
                "sampling needs at least 3 shreds, a step of 1 px and 1 positive sample per page, got "
                f"{self.shreds}, {self.step} and {self.max_positives}."
            )
        if not 0 <= self.noise_columns <= self.columns // 2:
            raise SettingsError(
                f"noise_columns must lie in 0..{self.columns // 2}, got {self.noise_columns}."
            )


@dataclass(frozen=True, eq=False)
class Samples:
    """Windows of joins and whether the two sides belong together."""

    bits: NDArray[np.uint8]  # (n, rows * columns / 8)
    labels: NDArray[np.uint8]  # (n,): 1 fits
    rows: int
    columns: int

    def __len__(self) -> int:
        return len(self.labels)

    def windows(self, index: NDArray[np.int64] | slice) -> Ink:  # (m, 1, rows, columns)
        """The chosen windows, unpacked."""
        return np.unpackbits(self.bits[index], axis=1).reshape(-1, 1, self.rows, self.columns)


@dataclass(frozen=True, eq=False)
class CutEdges:
    """Both sides of every simulated shred, in the order of the page, as they look in the page."""

    rights: Ink  # (shreds, H, columns / 2): the right border is the last column
    lefts: Ink  # (shreds, H, columns / 2): the left border is the first column


def cut_page(ink: Ink, rng: np.random.Generator, *, options: SampleOptions) -> CutEdges:
    """Slice a page into equal shreds and damage their outermost columns; keep what a window can see."""
    noise = options.noise_columns
    shape = (options.shreds, len(ink), noise)
    edges = _slice(ink, options)
    if noise:
        edges.lefts[:, :, :noise] = rng.integers(0, 2, shape, np.uint8)
        edges.rights[:, :, -noise:] = rng.integers(0, 2, shape, np.uint8)
    return edges


def sample_page(ink: Ink, rng: np.random.Generator, *, options: SampleOptions) -> Samples:
    """Balanced windows of true joins and of all others, from everywhere on a page cut at random."""
    ink = ink[:, _random_start(ink.shape[1], rng, options) :]
    faint = round(options.faint_share * options.max_positives)
    windows = _Windows(cut_page(ink, rng, options=options), options)
    parts = [windows.draw(options.max_positives - faint, rng, least=options.min_ink)]
    if faint:
        parts += _draw_faint(ink, faint, rng, options)
    return join_samples(parts)


def join_samples(parts: Sequence[Samples]) -> Samples:
    """All samples of several pages."""
    bits = np.concatenate([part.bits for part in parts])
    labels = np.concatenate([part.labels for part in parts])
    return Samples(bits, labels, parts[0].rows, parts[0].columns)


def _slice(ink: Ink, options: SampleOptions) -> CutEdges:
    width = ink.shape[1] // options.shreds
    half = options.columns // 2
    if width < half:
        raise SettingsError(
            f"a page {ink.shape[1]} px wide in {options.shreds} shreds leaves {width} px per shred, "
            f"less than the {half} px of a sample. Give wider pages or fewer shreds."
        )
    shreds = ink[:, : width * options.shreds].reshape(len(ink), options.shreds, width).transpose(1, 0, 2)
    return CutEdges(shreds[:, :, -half:].copy(), shreds[:, :, :half].copy())


def _draw_faint(ink: Ink, count: int, rng: np.random.Generator, options: SampleOptions) -> list[Samples]:
    """Windows as most of a real join has them: any ink, or none, and nothing but paper lost at the cut.

    The paper's samples always have ink, if only that of their noise, so a network that has seen no others
    scores blank paper at random. Blank windows are drawn apart: as many true as false ones make them worth 0.
    """
    edges, lost = _slice(ink, options), options.noise_columns
    edges.lefts[:, :, :lost] = 0
    edges.rights[:, :, options.columns // 2 - lost :] = 0
    windows = _Windows(edges, options)
    blank = -(-count // _BLANK)
    pixel = 1 / (options.rows * options.columns)
    return [
        windows.draw(count - blank, rng, least=pixel),
        windows.draw(blank, rng, least=0, below=pixel),
    ]


class _Windows:
    """All windows of all joins of a page."""

    def __init__(self, edges: CutEdges, options: SampleOptions) -> None:
        self._edges = edges
        self._options = options
        ours = _sum_runs(edges.rights, options.rows)[:, :: options.step]
        theirs = _sum_runs(edges.lefts, options.rows)[:, :: options.step]
        self._ink = ours[:, None] + theirs[None]  # (left shred, right shred, place)

    def draw(self, count: int, rng: np.random.Generator, *, least: float, below: float = np.inf) -> Samples:
        """Up to so many windows of true joins, and as many of others, with this share of ink."""
        rows, columns = self._options.rows, self._options.columns
        fits = (self._ink >= least * rows * columns) & (self._ink < below * rows * columns)
        shred = np.arange(len(fits))
        is_true = np.zeros_like(fits)
        is_true[shred[:-1], shred[1:]] = fits[shred[:-1], shred[1:]]
        fits[shred, shred] = False
        fits[shred[:-1], shred[1:]] = False
        true, false = np.flatnonzero(is_true), np.flatnonzero(fits)
        count = min(len(true), len(false), count)
        bits = [self._pack(some[rng.choice(len(some), count, replace=False)]) for some in (true, false)]
        labels = np.repeat(np.array([1, 0], np.uint8), count)
        return Samples(np.concatenate(bits), labels, rows, columns)

    def _pack(self, chosen: NDArray[np.int64]) -> NDArray[np.uint8]:
        """These windows as packed bits."""
        left, right, place = (axis[:, None] for axis in np.unravel_index(chosen, self._ink.shape))
        y = place * self._options.step + np.arange(self._options.rows)
        halves = [self._edges.rights[left, y], self._edges.lefts[right, y]]  # (n, rows, columns / 2)
        pixels = self._options.rows * self._options.columns
        return np.packbits(np.concatenate(halves, axis=2).reshape(len(chosen), pixels), axis=1)


def _random_start(width: int, rng: np.random.Generator, options: SampleOptions) -> int:
    """The column where the first shred begins: no two epochs cut at the same places."""
    spare = width - options.shreds * (options.columns // 2)
    return int(rng.integers(max(1, min(width // options.shreds, spare + 1))))


def _sum_runs(ink: Ink, rows: int) -> NDArray[np.int16]:  # (n, H, w) -> (n, H - rows + 1)
    """The ink in every run of so many rows."""
    above = np.zeros((len(ink), ink.shape[1] + 1), np.int32)
    np.cumsum(ink.sum(axis=2, dtype=np.uint8), axis=1, out=above[:, 1:])
    return (above[:, rows:] - above[:, :-rows]).astype(np.int16)
