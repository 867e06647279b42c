from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from deshred.cases import Case, open_case
from deshred.errors import MismatchError
from deshred.pipeline import Reconstruction
from deshred.review.board import Board
from deshred.review.merging import Agreement, MergeResult, compare, merge_review
from deshred.review.session import Event
from deshred.review.statements import Statement


def say(board: Board, id_: str, kind: str, *shreds: str, actor: str) -> None:
    board.say(Event(id_, kind, (Statement(kind, shreds),), actor=actor))


@pytest.fixture
def other(case: Case) -> Case:
    """The same case on Bob's desk."""
    folder = case.path.parent / "bob"
    shutil.copytree(case.path, folder)
    return open_case(folder)


def merged_into(case: Case, other: Case, done: Reconstruction) -> MergeResult:
    return merge_review(case, str(other.path), done.compatibility.ids, done.constraints)


def test_what_either_says_stands_and_disputes_are_settled_by_a_person(
    case: Case, other: Case, reconstruction: Reconstruction
) -> None:
    ann, bob = Board(reconstruction, case.journal), Board(reconstruction, other.journal)
    a, b, c, d, e, *_ = max(ann.pages(), key=len)
    say(ann, "1", "join", a, b, actor="ann")
    say(ann, "2", "no-join", c, d, actor="ann")
    say(bob, "3", "join", c, d, actor="bob")
    say(bob, "4", "last", e, actor="bob")
    found = merged_into(case, other, reconstruction)
    assert (found.events, found.disputes) == (1, 1)
    board = Board(reconstruction, case.journal)
    assert {one.statement.kind for one in board.standing.said} == {"join", "no-join", "last"}
    (dispute,) = board.disputes()
    assert (dispute.mine.kind, dispute.theirs.kind) == ("no-join", "join")
    assert (dispute.who_mine, dispute.who_theirs) == ("ann", "bob")
    board.settle("5", "cleo", dispute.number, "theirs")
    assert not board.disputes()
    assert (c, d) in board.standing.constraints.required
    board.undo("6", "cleo")
    assert board.disputes() == (dispute,)
    assert (c, d) in board.standing.constraints.forbidden
    board.settle("7", "cleo", dispute.number, "mine")
    again = Board(reconstruction, case.journal)
    assert not again.disputes()
    assert (c, d) in again.standing.constraints.forbidden
    with pytest.raises(MismatchError):
        again.settle("8", "cleo", dispute.number, "mine")


def test_a_second_merge_brings_nothing_twice(case: Case, other: Case, reconstruction: Reconstruction) -> None:
    bob = Board(reconstruction, other.journal)
    page = max(bob.pages(), key=len)
    say(bob, "1", "join", page[0], page[1], actor="bob")
    assert merged_into(case, other, reconstruction).events == 1
    assert merged_into(case, other, reconstruction).events == 0
    assert case.journal.check().is_sound


def test_what_only_an_order_shows_to_be_at_odds_becomes_a_dispute(
    case: Case, other: Case, reconstruction: Reconstruction
) -> None:
    ann, bob = Board(reconstruction, case.journal), Board(reconstruction, other.journal)
    a, b, c, *_ = reconstruction.shreds.ids
    say(ann, "1", "join", a, b, actor="ann")
    say(ann, "2", "join", b, c, actor="ann")
    say(bob, "3", "join", c, a, actor="bob")
    assert merged_into(case, other, reconstruction).disputes == 1
    board = Board(reconstruction, case.journal)
    assert (c, a) not in board.standing.constraints.required
    assert board.disputes()[0].theirs == Statement("join", (c, a))


def test_reviews_of_other_cases_are_refused(case: Case, other: Case, reconstruction: Reconstruction) -> None:
    marker = other.path / "case.json"
    content = json.loads(marker.read_text())
    content["results"]["arrangement.json"] = "0" * 64
    marker.write_text(json.dumps(content))
    before = Path(case.path / "journal.jsonl").read_bytes()
    with pytest.raises(MismatchError, match="copies of one case"):
        merged_into(case, open_case(other.path), reconstruction)
    assert Path(case.path / "journal.jsonl").read_bytes() == before


def test_agreement_counts_what_both_have_spoken_of() -> None:
    mine = [Event("1", "x", (Statement("join", ("a", "b")), Statement("no-join", ("c", "d"))))]
    theirs = [
        Event(
            "2",
            "x",
            (Statement("join", ("a", "b")), Statement("join", ("c", "d")), Statement("last", ("z",))),
        )
    ]
    assert compare(mine, theirs) == Agreement(2, 1, 0.0)
    assert compare(mine, mine) == Agreement(2, 2, 1.0)
    assert compare(mine, []).share == 1.0
