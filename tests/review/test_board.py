import json
import threading
import time
from itertools import pairwise

import pytest

from deshred.cases import Case, Journal
from deshred.errors import InputError, MismatchError
from deshred.pipeline import Reconstruction
from deshred.review.board import Board, Clash
from deshred.review.pictures import Pictures
from deshred.review.session import EVENT, Event
from deshred.review.statements import Statement
from deshred.review.view import View


def pages_of(board: Board) -> set[tuple[str, ...]]:
    return {tuple(page) for page in board.pages()}


def wait_for_proof(board: Board) -> None:
    deadline = time.monotonic() + 60
    while board.proof.state == "solving" and time.monotonic() < deadline:
        board.wait(board.version, 0.2)
    assert board.proof.state == "proven"


def cut(board: Board, id_: str = "e1") -> tuple[str, str]:
    page = max(board.pages(), key=len)
    board.say(Event(id_, "forbid", (Statement("no-join", (page[2], page[3])),), actor="ann"))
    return page[2], page[3]


def test_what_is_said_is_in_the_journal_before_it_counts(board: Board, case: Case) -> None:
    cut(board)
    (entry,) = [entry for entry in case.journal.read() if entry.event == EVENT]
    assert entry.fields["actor"] == "ann"
    assert entry.digest == board.head
    assert case.journal.check(board.head).is_sound


def test_the_board_obeys_at_once(board: Board) -> None:
    left, right = cut(board)
    assert all(pair != (left, right) for page in board.pages() for pair in pairwise(page))


def test_the_same_event_twice_counts_once(board: Board, case: Case) -> None:
    cut(board)
    before = len(case.journal.read())
    event = board.say(board.events[0])
    assert event.number == board.events[0].number
    assert len(case.journal.read()) == before


def test_a_review_goes_on_where_it_stopped(board: Board, case: Case, reconstruction: Reconstruction) -> None:
    cut(board)
    board.undo("e2", "ann")
    again = Board(reconstruction, case.journal)
    assert again.standing.statements == board.standing.statements == ()
    assert [event.id for event in again.events] == ["e1", "e2"]


def test_undo_and_redo_follow_the_person(board: Board) -> None:
    cut(board)
    assert board.undo("u1", "bob") is None
    assert board.undo("u2", "ann") is not None
    assert not board.standing.statements
    assert board.redo("r1", "ann") is not None
    assert len(board.standing.statements) == 1


def test_a_contradiction_is_refused_named_and_noted(board: Board, case: Case) -> None:
    a, b, c = board.reconstruction.shreds.ids[:3]
    board.say(Event("1", "pin", (Statement("join", (a, b)), Statement("join", (b, c)))))
    with pytest.raises(Clash) as caught:
        board.say(Event("2", "pin", (Statement("join", (c, a)),)))
    assert len(caught.value.clash) == 3
    assert len(board.events) == 1
    assert case.journal.read()[-1].event == "review-refused"


@pytest.mark.parametrize("kind", ["join", "aside", "blank"])
def test_shreds_of_other_piles_are_refused(board: Board, kind: str) -> None:
    known = board.reconstruction.shreds.ids
    shreds = ("nobody",) if kind == "aside" else (known[1] if kind == "blank" else "nobody", known[0])
    with pytest.raises(MismatchError):
        board.say(Event("1", "pin", (Statement(kind, shreds),)))


def test_an_answer_says_what_was_shown(board: Board) -> None:
    question = board.questions()[0]
    choice = "whole" if question.side == "page" else "0"
    event = board.answer("a1", "ann", question.key, choice, 2500)
    assert event.cause["question"] == question.key
    assert event.cause["ms"] == 2500
    assert event.say
    assert question.key not in {one.key for one in board.questions()}


def test_an_answer_that_nobody_can_have_looked_at_is_not_taken(board: Board) -> None:
    question = board.questions()[0]
    with pytest.raises(InputError, match="too quick"):
        board.answer("a1", "ann", question.key, "none", 100)


def test_a_question_that_is_no_longer_open_is_refused(board: Board) -> None:
    with pytest.raises(MismatchError, match="no longer open"):
        board.answer("a1", "ann", "right of nobody", "0", 2000)


def test_offsets_move_what_is_drawn(board: Board) -> None:
    page = board.pages()[0]
    board.say(Event("1", "offset", (Statement("offset", (page[0], page[1]), "120"),)))
    sheet = board.sheets()[0]
    assert sheet.placements[1].y - sheet.placements[0].y == 120


def test_the_solver_proves_what_was_said_and_undo_returns_to_the_start(board: Board) -> None:
    before = pages_of(board)
    board.start()
    try:
        left, right = cut(board)
        wait_for_proof(board)
        assert all((left, right) not in pairwise(page) for page in board.pages())
        board.undo("u1", "ann")
        wait_for_proof(board)
        assert pages_of(board) == before
    finally:
        board.stop()


def test_an_answer_against_the_evidence_asks_for_a_second_look(board: Board) -> None:
    board.start()
    try:
        page = max(board.pages(), key=len)
        wrong = (Statement("join", (page[0], page[-1])),)
        board.say(Event("a1", "answer", wrong, actor="ann"))
        wait_for_proof(board)
        assert board.protests["a1"].rise > 4
        board.keep("a1")
        assert not board.protests
    finally:
        board.stop()


def test_many_people_at_once_lose_nothing(board: Board, case: Case) -> None:
    ids = board.reconstruction.shreds.ids

    def note(who: int) -> None:
        for k in range(10):
            board.say(Event(f"{who}-{k}", "note", (Statement("note", (ids[k],), str(who)),), actor=str(who)))

    threads = [threading.Thread(target=note, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(board.events) == 40
    journal: Journal = case.journal
    assert journal.check().is_sound
    assert sum(entry.event == EVENT for entry in journal.read()) == 40


def test_what_is_sent_to_the_browser_is_json_after_every_kind_of_change(board: Board) -> None:
    done = board.reconstruction
    view = View(board, Pictures(done.shreds, done.blank, done.settings.composition), "case")
    json.dumps(view.case(), allow_nan=False)
    board.start()
    try:
        page = max(board.pages(), key=len)
        moved = (Statement("join", (page[2], page[0])), Statement("join", (page[0], page[3])))
        board.say(Event("1", "move", moved))
        wait_for_proof(board)
        json.dumps(view.state(), allow_nan=False)
        board.say(Event("2", "done", (Statement("done", tuple(board.pages()[0])),)))
        wait_for_proof(board)
        json.dumps(view.state(), allow_nan=False)
        json.dumps(view.history(), allow_nan=False)
    finally:
        board.stop()
