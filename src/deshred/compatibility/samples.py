"""The ink of intact pages in, labeled windows around simulated cuts out: what the pairwise network sees.

Simulated shredding and sampling as in Paixão et al., "Self-supervised deep reconstruction of mixed
strip-shredded text documents", Pattern Recognition 107 (2020). Samples are kept as packed bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    """Balanced windows of true joins and of all others, from shuffled pairs of shreds."""
    edges = cut_page(ink, rng, options=options)
    true = [(i, i + 1) for i in range(options.shreds - 1)]
    false = [(i, j) for i in range(options.shreds) for j in range(options.shreds) if j not in (i, i + 1)]
    positives = _collect(edges, rng.permutation(true), options.max_positives, options)
    negatives = _collect(edges, rng.permutation(false), len(positives), options)
    bits = np.concatenate([positives, negatives])
    labels = np.repeat(np.array([1, 0], np.uint8), [len(positives), len(negatives)])
    return Samples(bits, labels, options.rows, options.columns)


def join_samples(parts: Sequence[Samples]) -> Samples:
    """All samples of several pages."""
    bits = np.concatenate([part.bits for part in parts])
    labels = np.concatenate([part.labels for part in parts])
    return Samples(bits, labels, parts[0].rows, parts[0].columns)


def _collect(
    edges: CutEdges, pairs: Iterable[NDArray[np.int64]], limit: int, options: SampleOptions
) -> NDArray[np.uint8]:
    """Windows with enough ink, pair after pair until the limit; packed."""
    packed = [np.empty((0, options.rows * options.columns // 8), np.uint8)]
    missing = limit
    for i, j in pairs:
        joined = np.concatenate([edges.rights[i], edges.lefts[j]], axis=1)  # (H, columns)
        if len(joined) < options.rows or missing == 0:
            break
        windows = np.lib.stride_tricks.sliding_window_view(joined, options.rows, axis=0)[:: options.step]
        ink = np.cumsum(np.concatenate([[0], joined.sum(axis=1, dtype=np.int64)]))
        ink = (ink[options.rows :] - ink[: -options.rows])[:: options.step]
        told = np.flatnonzero(ink >= options.min_ink * options.rows * options.columns)[:missing]
        chosen = windows[told].transpose(0, 2, 1)  # (m, rows, columns)
        packed.append(np.packbits(chosen.reshape(-1, options.rows * options.columns), axis=1))
        missing -= len(told)
    return np.concatenate(packed)
