from pathlib import Path

import numpy as np

from deshred.compatibility.classical.words.pieces import Piece, compose_row, cut_pieces, join_pieces
from deshred.elements import Shred, ShredSet, Source


def plain(value: int, width: int, rows: int = 100) -> Piece:
    return Piece(np.full((rows, width, 3), value, np.uint8), np.ones((rows, width), bool))


def test_rectangles_are_put_edge_to_edge() -> None:
    joined = join_pieces(plain(10, 5), plain(20, 7))
    assert joined.piece.image.shape == (100, 12, 3)
    assert (joined.seam, joined.entry) == (4, 0)
    assert (joined.piece.image[20:80, :5] == 10).all()
    assert (joined.piece.image[20:80, 5:] == 20).all()
    assert not joined.piece.mask[:20, 5:].any()  # the authors never copy the first rows


def test_torn_edges_meet_where_the_paper_ends() -> None:
    left, right = plain(10, 8), plain(20, 8)
    left.mask[:, 6:] = False
    right.mask[:, :3] = False
    joined = join_pieces(left, right)
    assert (joined.seam, joined.entry) == (5, 3)
    assert (joined.piece.image[20:80, 6:11] == 20).all()


def test_a_row_knows_where_its_pieces_begin() -> None:
    row = compose_row([plain(1, 5), plain(2, 5), plain(3, 5)])
    assert row.starts == (0, 4, 9)
    assert row.piece.image.shape[1] == 15


def test_pieces_have_equally_many_rows_and_are_black_outside_the_paper() -> None:
    shreds = []
    for name, rows in (("a", 50), ("b", 40)):
        mask = np.ones((rows, 6), bool)
        mask[:, 0] = False
        shreds.append(Shred(name, np.full((rows, 6, 3), 9, np.uint8), mask, 300, Source(Path(name), "")))
    pieces = cut_pieces(ShredSet(shreds))
    assert [piece.image.shape for piece in pieces] == [(40, 6, 3)] * 2
    assert (pieces[0].image[:, 0] == 0).all()
