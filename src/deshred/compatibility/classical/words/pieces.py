"""Shreds in, pieces side by side out, as the authors put them: edge to edge, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deshred.elements import Image, Mask, ShredSet

_ROWS = 3000  # from the top, as in the run of the 2020 paper
_BLOCK = 20  # rows that are moved together
_INERTIA = 0.8


@dataclass(frozen=True, eq=False)
class Piece:
    """A shred, or several side by side; black outside of the paper."""

    image: Image  # (H, W, 3)
    mask: Mask  # (H, W)


@dataclass(frozen=True, eq=False)
class JoinedPieces:
    """Two pieces side by side, and where they meet."""

    piece: Piece
    seam: int  # the last column of the left piece, on average
    entry: int  # the first column of the right piece, on average, in its own picture


def cut_pieces(shreds: ShredSet) -> list[Piece]:
    """The upper rows of all shreds, equally many."""
    rows = min(_ROWS, *(len(shred.mask) for shred in shreds))
    return [
        Piece(np.where(shred.mask[:rows, :, None], shred.image[:rows], 0), shred.mask[:rows])
        for shred in shreds
    ]


def join_pieces(left: Piece, right: Piece) -> JoinedPieces:
    """Put `right` to the right of `left`; the meeting point follows both tears from block to block."""
    height, left_width = left.mask.shape
    right_width = right.mask.shape[1]
    image = np.zeros((height, left_width + right_width, 3), np.uint8)
    mask = np.zeros(image.shape[:2], bool)
    image[:, :left_width], mask[:, :left_width] = left.image, left.mask
    ends: list[float] = []
    starts: list[float] = []
    width = left_width
    for y in range(_BLOCK, height - _BLOCK, _BLOCK):
        end, start = _last_end(left.mask[y]), _first_start(right.mask[y])
        if ends:
            end, start = _ease(ends[-1], end), _ease(starts[-1], start)
        rows = slice(y, y + _BLOCK)
        columns = slice(end, end + right_width - start)
        image[rows, columns], mask[rows, columns] = right.image[rows, start:], right.mask[rows, start:]
        ends.append(end)
        starts.append(start)
        width = max(width, columns.stop)
    seam = int(np.mean(ends)) - 1 if ends else left_width - 1
    entry = int(np.mean(starts)) if starts else 0
    return JoinedPieces(Piece(image[:, :width], mask[:, :width]), seam, entry)


def _last_end(row: Mask) -> int:
    columns = np.flatnonzero(row)
    return int(columns[-1]) + 1 if len(columns) else 0


def _first_start(row: Mask) -> int:
    columns = np.flatnonzero(row)
    return int(columns[0]) if len(columns) else len(row)


def _ease(before: float, now: float) -> int:
    return int(np.floor(_INERTIA * before + (1 - _INERTIA) * now + 0.5))


@dataclass(frozen=True, eq=False)
class Row:
    """Several pieces in a row, and the column where each begins."""

    piece: Piece
    starts: tuple[int, ...]


def compose_row(pieces: Sequence[Piece]) -> Row:
    """Pieces from left to right."""
    row, starts = pieces[0], [0]
    for piece in pieces[1:]:
        joined = join_pieces(row, piece)
        row = joined.piece
        starts.append(joined.seam)
    return Row(row, tuple(starts))
