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

Ink = NDArray[np.uint8]


@dataclass(frozen=True)
class SampleOptions:
    """How pages are shredded and sampled; the defaults are the paper's."""

    rows: int = 32
    columns: int = 32
    shreds: int = 30
    noise_columns: int = 2  # on each side of a shred, random black or white
    step: int = 2  # px between windows of the same cut
    min_ink: float = 0.2  # rho_black: share of black pixels below which a window says nothing
    max_positives: int = 1000  # per page

    def __post_init__(self) -> None:
        if self.rows not in (32, 64) or self.columns not in (32, 64):
            raise SettingsError(f"samples are 32 or 64 px high and wide, got {self.rows} x {self.columns}.")
        if not 0 <= self.min_ink < 1:
            raise SettingsError(f"min_ink is a share from 0 to 1, got {self.min_ink:g}.")
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
    width = ink.shape[1] // options.shreds
    half, noise = options.columns // 2, options.noise_columns
    shreds = ink[:, : width * options.shreds].reshape(len(ink), options.shreds, width).transpose(1, 0, 2)
    if width < half:
        raise SettingsError(
            f"a page {ink.shape[1]} px wide in {options.shreds} shreds leaves {width} px per shred, "
            f"less than the {half} px of a sample. Give wider pages or fewer shreds."
        )
    shreds = shreds.copy()
    shape = (options.shreds, len(ink), noise)
    if noise:
        shreds[:, :, :noise] = rng.integers(0, 2, shape, np.uint8)
        shreds[:, :, -noise:] = rng.integers(0, 2, shape, np.uint8)
    return CutEdges(shreds[:, :, -half:], shreds[:, :, :half])


def sample_page(ink: Ink, rng: np.random.Generator, *, options: SampleOptions) -> Samples:
    """Balanced windows of true joins and of all others, from everywhere on a page cut at random."""
    edges = cut_page(ink[:, _random_start(ink.shape[1], rng, options) :], rng, options=options)
    lefts, rights = np.divmod(np.arange(options.shreds**2), options.shreds)
    windows = _Windows(edges, options)
    is_true = rights == lefts + 1
    is_false = ~is_true & (rights != lefts)
    true, false = (windows.told(lefts[chosen], rights[chosen]) for chosen in (is_true, is_false))
    count = min(len(true), len(false), options.max_positives)
    bits = [windows.pack(places[rng.choice(len(places), count, replace=False)]) for places in (true, false)]
    labels = np.repeat(np.array([1, 0], np.uint8), count)
    return Samples(np.concatenate(bits), labels, options.rows, options.columns)


def join_samples(parts: Sequence[Samples]) -> Samples:
    """All samples of several pages."""
    bits = np.concatenate([part.bits for part in parts])
    labels = np.concatenate([part.labels for part in parts])
    return Samples(bits, labels, parts[0].rows, parts[0].columns)


class _Windows:
    """All windows of the joins of a page."""

    def __init__(self, edges: CutEdges, options: SampleOptions) -> None:
        self._edges = edges
        self._options = options

    def told(self, lefts: NDArray[np.int64], rights: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where joins of these shreds have enough ink. (n, 3): left shred, right shred, top row"""
        rows, step = self._options.rows, self._options.step
        parts = [_sum_runs(edge, rows)[:, ::step] for edge in (self._edges.rights, self._edges.lefts)]
        least = self._options.min_ink * rows * self._options.columns
        join, place = np.nonzero(parts[0][lefts] + parts[1][rights] >= least)
        return np.stack([lefts[join], rights[join], place * step], axis=1)

    def pack(self, places: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The windows at these places, as packed bits."""
        left, right, top = places.T[:, :, None]
        y = top + np.arange(self._options.rows)
        pixels = self._options.rows * self._options.columns
        halves = [self._edges.rights[left, y], self._edges.lefts[right, y]]  # (n, rows, columns / 2)
        return np.packbits(np.concatenate(halves, axis=2).reshape(len(places), pixels), axis=1)


def _random_start(width: int, rng: np.random.Generator, options: SampleOptions) -> int:
    """The column where the first shred begins: no two epochs cut at the same places."""
    spare = width - options.shreds * (options.columns // 2)
    return int(rng.integers(max(1, min(width // options.shreds, spare + 1))))


def _sum_runs(ink: Ink, rows: int) -> NDArray[np.int32]:  # (n, H, w) -> (n, H - rows + 1)
    """The ink in every run of so many rows."""
    above = np.zeros((len(ink), ink.shape[1] + 1), np.int32)
    np.cumsum(ink.sum(axis=2, dtype=np.int32), axis=1, out=above[:, 1:])
    return above[:, rows:] - above[:, :-rows]
