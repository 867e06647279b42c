import json
import threading
import time
from dataclasses import replace
from itertools import pairwise

import pytest

from deshred.cases import Case, Journal
from deshred.elements import Slot
from deshred.errors import InputError, MismatchError
from deshred.pipeline import Reconstruction
from deshred.review.board import Board, Clash
from deshred.review.pictures import Pictures
from deshred.review.session import EVENT, Event
from deshred.review.solving import Price, Solved
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
        board.keep("k1", "ann", "a1")
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


def test_together_and_apart_reach_the_solver(board: Board) -> None:
    board.start()
    try:
        pages = sorted(board.pages(), key=len)
        one, other = pages[-1][0], pages[-1][-1]
        board.say(Event("1", "apart", (Statement("apart", (one, other)),)))
        wait_for_proof(board)
        assert not any({one, other} <= set(page) for page in board.pages())
        board.undo("2", "")
        board.say(Event("3", "together", (Statement("together", (one, other)),)))
        wait_for_proof(board)
        assert any({one, other} <= set(page) for page in board.pages())
    finally:
        board.stop()


def test_an_unproven_order_that_touches_other_pages_waits_for_a_word(board: Board) -> None:
    shown = board.pages()
    halves = [(*(Slot(id_, 0) for id_ in page[:4]),) for page in shown]
    halves += [(*(Slot(id_, 0) for id_ in page[4:]),) for page in shown if page[4:]]
    unproven = replace(board.opened.arrangement, pages=tuple(halves), bound=-1e9)
    found = Solved(board._ticket, unproven, 0.1, over_chains=False, is_final=False)
    board.receive(found)
    assert board.offer is None, "a better one may come any moment"
    board.receive(replace(found, is_final=True))
    assert board.pages() == shown
    assert board.offer is not None
    assert board.offer.pages == sum(len(page) > 4 for page in shown)
    board.take_offer()
    assert len(board.pages()) == len(halves)
    assert board.offer is None


def test_an_unproven_order_of_what_was_spoken_of_is_shown_at_once(board: Board) -> None:
    cut(board)
    pages = [tuple(Slot(id_, 0) for id_ in page) for page in reversed(board.pages())]
    unproven = replace(board.opened.arrangement, pages=tuple(pages), bound=-1e9)
    board.receive(Solved(board._ticket, unproven, 0.1, over_chains=False, is_final=False))
    assert board.offer is None


def test_another_answer_to_the_same_question_asks_for_a_second_look(board: Board) -> None:
    cut(board)
    question = next(one for one in board.questions() if one.side != "page")
    board.answer("a1", "ann", question.key, "none", 2000)
    assert float(board.events[-1].cause["belief"]) < 1
    board.answer("c1", "ann", "again a1", "0", 2000)
    assert set(board.protests) == {"a1"}
    with pytest.raises(MismatchError, match="no longer open"):
        board.answer("c2", "ann", "again a1", "0", 2000)


def test_nobody_waits_for_new_questions_while_the_order_is_solved(board: Board) -> None:
    before = board.questions()
    page = max(board.pages(), key=len)
    board.say(Event("1", "end", (Statement("last", (page[3],)),)))
    assert board.proof.state == "solving"
    assert board.questions_known() == before
    board.receive(Solved(board._ticket, board.opened.arrangement, 0.1, over_chains=False, is_final=True))
    assert board.questions_known() == board.questions()


def test_a_second_look_outlives_the_board(board: Board, case: Case, reconstruction: Reconstruction) -> None:
    board.start()
    try:
        page = max(board.pages(), key=len)
        board.say(Event("a1", "answer", (Statement("join", (page[0], page[-1])),), actor="ann"))
        wait_for_proof(board)
    finally:
        board.stop()
    again = Board(reconstruction, case.journal)
    assert again.protests["a1"].rise == pytest.approx(board.protests["a1"].rise, abs=1e-2)
    again.keep("k1", "ann", "a1")
    assert not Board(reconstruction, case.journal).protests


def test_the_price_of_a_join_is_what_a_solve_would_say(board: Board) -> None:
    board.start()
    try:
        page = max(board.pages(), key=len)
        assert board.price_of(page[2], page[3]) == Price(0.0, is_least=False)
        dear = board.price_of(page[3], page[2])
        assert dear is not None
        assert dear.rise > 0
        before = board.proof.cost
        if not dear.is_least:
            board.say(Event("1", "pin", (Statement("join", (page[3], page[2])),)))
            wait_for_proof(board)
            assert board.proof.cost - before == pytest.approx(dear.rise, abs=1e-3)
    finally:
        board.stop()


def test_what_a_newer_run_no_longer_has_counts_no_more(case: Case, reconstruction: Reconstruction) -> None:
    case.journal.append(
        EVENT, id="1", action="pin", say=[["join", ["gone", "too"]]], unsay=[], of="", actor="ann", cause={}
    )
    board = Board(reconstruction, case.journal)
    assert not board.standing.statements
    assert len(board.events) == 1


def test_who_said_something_is_known_with_its_line_at_once(board: Board) -> None:
    cut(board)
    assert board.standing.said[0].event.number == board.events[0].number > 0


def test_after_many_answers_one_is_asked_again_and_a_change_of_mind_gets_a_second_look(
    board: Board, case: Case, reconstruction: Reconstruction
) -> None:
    question = next(one for one in board.questions() if one.side != "page" and len(one.options) > 0)
    board.answer("a0", "ann", question.key, "0", 2000)
    first = board.events[0]
    for k in range(1, 20):
        note = Statement("note", (question.shred,), str(k))
        board.say(Event(f"a{k}", "answer", (note,), actor="ann"))
    control = board.questions_for("tab")[0]
    assert control.again == first.id
    assert [option.partner for option in control.options] == [
        option.partner for option in reversed(question.options)
    ]
    board.answer("c", "ann", control.key, "none", 2000)
    assert not any(one.again for one in board.questions_for("tab"))
    assert first.id in board.protests
    assert first.id in Board(reconstruction, case.journal).protests
    assert first.say[0] in board.standing.statements, "nothing changes until the person says so"
