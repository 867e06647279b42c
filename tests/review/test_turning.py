from __future__ import annotations

import time

import numpy as np

from deshred.cases import Case, load_constraints
from deshred.export.results import reopen
from deshred.orientation import turn
from deshred.pipeline import Reconstruction, reconstruct
from deshred.review.board import Board
from deshred.review.outcome import finish, save_review
from deshred.review.session import Event
from deshred.review.statements import Statement
from deshred.review.turning import Turner


def wait(board: Board) -> None:
    deadline = time.monotonic() + 60
    while board.proof.state == "solving" and time.monotonic() < deadline:
        board.wait(board.version, 0.2)
    assert board.proof.state == "proven"


def flip(board: Board, shred: str, id_: str = "1") -> None:
    board.say(Event(id_, "flip", (Statement("flipped", (shred,)),), actor="ann"))


def test_turned_twice_is_as_it_was(reconstruction: Reconstruction) -> None:
    pile, ids = reconstruction.pile, reconstruction.shreds.ids[:2]
    again = turn(turn(pile, ids), ids)
    for before, after in zip(pile.shreds, again.shreds, strict=True):
        np.testing.assert_array_equal(before.image, after.image)
        assert before.is_turned == after.is_turned
    np.testing.assert_array_equal(pile.edges[0].left.ink, again.edges[0].left.ink)


def test_pixels_are_turned_at_once_and_scores_follow(reconstruction: Reconstruction) -> None:
    shred = reconstruction.shreds.ids[0]
    turner = Turner(reconstruction, None)
    assert turner.recall(frozenset({shred})) is None
    shown = turner.show(frozenset({shred}), reconstruction)
    np.testing.assert_array_equal(shown.shreds[0].image[::-1, ::-1], reconstruction.shreds[0].image)
    assert shown.compatibility is reconstruction.compatibility
    scored = turner.score(frozenset({shred}))
    assert not np.array_equal(scored.compatibility.scores[0], reconstruction.compatibility.scores[0])
    assert turner.recall(frozenset({shred})) is scored
    assert turner.recall(frozenset()) is reconstruction


def test_the_solver_hears_what_turned_edges_say_and_forgets_it_again(board: Board) -> None:
    board.start()
    try:
        before = sorted(map(tuple, board.pages()))
        page = max(board.pages(), key=len)
        shred = page[len(page) // 2]
        flip(board, shred)
        wait(board)
        assert board.reconstruction.compatibility is not board.opened.compatibility
        assert board.reconstruction.constraints.turned == {shred}
        board.undo("2", "ann")
        wait(board)
        assert sorted(map(tuple, board.pages())) == before
        assert board.reconstruction.compatibility is board.opened.compatibility
    finally:
        board.stop()


def test_a_turned_shred_is_repeated_without_the_board(board: Board, case: Case) -> None:
    page = max(board.pages(), key=len)
    flip(board, page[3])
    folder = save_review(case, board)
    known = load_constraints(case.path / folder / "constraints.toml")
    assert known.turned == {page[3]}
    settings = board.opened.settings
    again = reconstruct([case.path.parent / "shreds"], constraints=known, settings=settings)
    assert again.arrangement.order == finish(board).arrangement.order
    assert [shred.id for shred in again.shreds if shred.is_turned] == [page[3]]
    again.save(case.path.parent / "again")
    assert reopen(case.path.parent / "again").constraints.turned == {page[3]}


def test_a_board_that_was_closed_opens_with_its_shreds_turned(board: Board, case: Case) -> None:
    shred = max(board.pages(), key=len)[3]
    flip(board, shred)
    again = Board(board.opened, case.journal)
    again.start()
    try:
        wait(again)
        assert again.reconstruction.constraints.turned == {shred}
        assert again.scored().compatibility is again.reconstruction.compatibility
    finally:
        again.stop()
