"""What the browser is given: every shred once, states as people said them, numbers that JSON knows."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from deshred.arrangement import Atom
from deshred.cases import Case
from deshred.pipeline import Reconstruction
from deshred.review.board import Board
from deshred.review.pictures import Pictures
from deshred.review.protests import Protest
from deshred.review.session import Event
from deshred.review.statements import Statement
from deshred.review.view import View


def view_of(board: Board) -> View:
    done = board.reconstruction
    return View(board, Pictures(done.shreds, done.blank, done.settings.composition), "trial")


@pytest.fixture
def view(board: Board) -> View:
    return view_of(board)


def say(board: Board, id_: str, kind: str, shreds: tuple[str, ...], value: str = "") -> None:
    board.say(Event(id_, "trial", (Statement(kind, shreds, value),), actor="ann"))  # type: ignore[arg-type]


def test_the_case_lists_the_shreds_in_the_order_that_names_them(view: View, board: Board) -> None:
    told, done = view.case(), board.reconstruction
    assert [one["id"] for one in told["shreds"]] == [*done.shreds.ids, *done.blank.ids]
    assert told["inked"] == len(done.shreds)
    for one, shred in zip(told["shreds"], done.shreds, strict=False):
        assert (one["height"], one["width"]) == shred.mask.shape


def test_every_shred_lies_on_one_page_at_its_place(view: View, board: Board) -> None:
    pages, ids = view.state()["pages"], board.reconstruction.shreds.ids
    assert sorted(index for page in pages for index in page["shreds"]) == list(range(len(ids)))
    for page, sheet in zip(pages, board.sheets(), strict=True):
        assert tuple(ids[index] for index in page["shreds"]) == sheet.shreds
        assert list(zip(page["x"], page["y"], strict=True)) == [(at.x, at.y) for at in sheet.placements]
        assert len(page["joins"]) == len(page["shreds"]) - 1


def test_a_second_look_tells_what_was_said(view: View, board: Board) -> None:
    page = board.pages()[0]
    event = Event("a1", "answer", (Statement("no-join", tuple(page[:2])),), actor="ann")
    board.say(event)
    board.protests["a1"] = Protest(event, 5.0)
    (told,) = view.state()["protests"]
    ids = board.reconstruction.shreds.ids
    assert (told["said"], told["rise"]) == ("no-join", 5.0)
    assert told["pairs"] == [[ids.index(page[0]), ids.index(page[1])]]


def test_a_page_counts_the_questions_that_lie_on_it(view: View, board: Board) -> None:
    counts = [page["questions"] for page in view.state()["pages"]]
    assert counts == [sum(one.page == k for one in board.questions()) for k in range(len(counts))]


def test_a_page_is_open_until_it_was_looked_at_done_or_put_aside(view: View, board: Board) -> None:
    shreds = board.sheets()[0].shreds
    states = [view.state()["pages"][0]["state"]]
    for step, (kind, about) in enumerate([("looked", shreds), ("done", shreds), ("aside", shreds[:1])]):
        say(board, str(step), kind, about)
        states.append(view.state()["pages"][0]["state"])
    assert states == ["open", "looked", "done", "aside"]


def test_a_title_goes_with_its_shred(view: View, board: Board) -> None:
    titled = board.sheets()[-1].shreds[1]
    say(board, "t", "title", (titled,), "Letter to Ann")
    titles = {page["title"]: page["shreds"] for page in view.state()["pages"] if page["title"]}
    assert list(titles) == ["Letter to Ann"]
    assert board.reconstruction.shreds.ids.index(titled) in titles["Letter to Ann"]


def test_a_join_says_who_said_it(view: View, board: Board) -> None:
    left, right = board.sheets()[0].shreds[:2]
    assert view.state()["pages"][0]["joins"][0]["by"] is None
    say(board, "j", "join", (left, right))
    joins = {
        (page["shreds"][at], page["shreds"][at + 1]): join["by"]
        for page in view.state()["pages"]
        for at, join in enumerate(page["joins"])
    }
    ids = board.reconstruction.shreds.ids
    assert {pair for pair, by in joins.items() if by == "ann"} == {(ids.index(left), ids.index(right))}


def test_candidates_are_laid_where_the_board_would_lay_them(view: View, board: Board) -> None:
    ids = board.reconstruction.shreds.ids
    for side in ("left", "right"):
        for one in view.candidates(3, side):
            pair = (ids[3], ids[one["partner"]]) if side == "right" else (ids[one["partner"]], ids[3])
            assert (one["x"], one["y"]) == board.step(*pair)
            assert ids[one["partner"]] in board.pages()[one["page"]]


def test_a_question_looks_at_the_row_with_most_ink_around_it(view: View, board: Board) -> None:
    bell, half = np.hanning(400), 199
    done = board.reconstruction
    for question in board.questions()[:2]:
        pair = done.pile.edges[done.shreds.ids.index(question.shred)]
        edge = pair.left if question.side == "left" else pair.right
        written = edge.ink[:, :40].sum(axis=1, dtype=float)
        weights = []
        for row in range(len(written)):
            near = range(max(0, row - 200), min(len(written), row + half + 1))
            weights.append(sum(bell[row + half - other] * written[other] for other in near))
        assert weights[view.question(question)["row"] - edge.top] == pytest.approx(max(weights))


def test_history_comes_latest_first_and_knows_what_was_undone(view: View, board: Board) -> None:
    say(board, "a", "note", (board.reconstruction.shreds.ids[0],), "one")
    say(board, "b", "note", (board.reconstruction.shreds.ids[1],), "two")
    board.undo("u", "ann")
    told = view.history()
    assert [(one["id"], one["undone"]) for one in told] == [("u", False), ("b", True), ("a", False)]
    assert told[2]["say"] == [["note", [0], "one"]]
    assert told[0]["of"] == "b"


def test_numbers_that_json_does_not_know_become_nothing(case: Case, reconstruction: Reconstruction) -> None:
    arrangement = reconstruction.arrangement
    wild = [replace(join, price=float("inf"), probability=None) for join in arrangement.joins]
    changed = replace(reconstruction, arrangement=replace(arrangement, joins=tuple(wild)))
    told = view_of(Board(changed, case.journal)).state()
    assert {join["price"] for page in told["pages"] for join in page["joins"]} == {None}
    json.dumps(told, allow_nan=False)


def test_constraints_at_odds_are_shown_by_their_shreds(view: View, board: Board) -> None:
    ids = board.reconstruction.shreds.ids
    clash = (Atom("required", (ids[1], ids[0])), "something else")
    (told,) = view.clash(clash)
    assert (told["kind"], told["shreds"]) == ("required", [1, 0])
    assert told["event"] is None  # nobody said it
    assert not told["given"]
