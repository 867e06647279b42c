import csv
import io
import json
from pathlib import Path

import numpy as np
from PIL import Image

from deshred.cases import Case, load_constraints
from deshred.elements import Constraints
from deshred.pipeline import rearrange
from deshred.review.board import Board
from deshred.review.outcome import finish, list_chains, render_constraints, render_decisions, save_review
from deshred.review.session import Event
from deshred.review.statements import Statement


def decode(file: Path) -> np.ndarray:
    with Image.open(file) as image:
        return np.asarray(image)


def decide(board: Board) -> tuple[str, str]:
    page = max(board.pages(), key=len)
    said = (Statement("join", (page[0], page[1])), Statement("title", (page[0],), "Letter"))
    board.say(Event("1", "pin", said, actor="Ann"))
    board.say(Event("2", "forbid", (Statement("no-join", (page[3], page[4])),), actor="Ann"))
    return page[0], page[1]


def test_what_leaves_says_who_decided(board: Board, case: Case) -> None:
    left, right = decide(board)
    before = {name: case.read_bytes(name) for name in ("arrangement.json", "report.html")}
    folder = save_review(case, board)
    content = json.loads((case.path / folder / "arrangement.json").read_text())
    decided = {
        (join["left"], join["right"]): join["decided"] for page in content["pages"] for join in page["joins"]
    }
    assert decided[left, right]["by"] == "person"
    assert decided[left, right]["who"] == "Ann"
    assert {one["by"] for one in decided.values()} == {"person", "machine"}
    assert content["review"]["reviewers"] == ["Ann"]
    assert case.journal.check(content["review"]["journal"]).is_sound
    report = (case.path / folder / "report.html").read_text()
    assert f"join {left} → {right}, by Ann" in report
    assert {name: case.read_bytes(name) for name in before} == before, "the run stays as it was"


def test_every_export_has_a_folder_of_its_own(board: Board, case: Case) -> None:
    decide(board)
    assert [save_review(case, board), save_review(case, board)] == ["review/001", "review/002"]


def test_constraints_repeat_the_review_without_the_board(board: Board, case: Case) -> None:
    decide(board)
    folder = save_review(case, board)
    known = load_constraints(case.path / folder / "constraints.toml")
    assert known == board.standing.constraints
    repeated = rearrange(board.reconstruction, known)
    assert repeated.arrangement.order == finish(board).arrangement.order


def test_odd_names_survive_the_constraints_file(tmp_path: Path) -> None:
    odd = Constraints(
        required={('a "b"\\', "ü\x7f\n🙂")}, first={"#1"}, together={frozenset("xy")}, not_last={"z"}
    )
    file = tmp_path / "constraints.toml"
    file.write_text(render_constraints(odd), encoding="utf-8")
    assert load_constraints(file) == odd


def test_the_table_of_decisions_runs_in_no_spreadsheet(board: Board) -> None:
    shred = board.reconstruction.shreds.ids[0]
    board.say(Event("1", "note", (Statement("note", (shred,), "=HYPERLINK(1)"),), actor="@bob"))
    (_, row) = csv.reader(io.StringIO(render_decisions(board.standing)))
    assert row[2] == "'@bob"
    assert row[-1] == "'=HYPERLINK(1)"


def test_blank_flipped_and_moved_shreds_are_composed_as_people_said(board: Board) -> None:
    page = max(board.pages(), key=len)
    said = [Statement("flipped", (page[2],)), Statement("offset", (page[0], page[1]), "60")]
    if board.reconstruction.blank:
        said.append(Statement("blank", (board.reconstruction.blank.ids[0], page[-1])))
    board.say(Event("1", "correct", tuple(said), actor="Ann"))
    done = finish(board)
    sheet = next(one for one in done.pages if page[0] in [place.shred_id for place in one.placements])
    places = {place.shred_id: place for place in sheet.placements}
    assert places[page[1]].y - places[page[0]].y == 60
    if board.reconstruction.blank:
        assert board.reconstruction.blank.ids[0] in places


def test_parts_of_a_page_are_put_together_with_the_missing_paper_between_them(
    board: Board, case: Case
) -> None:
    page = max(board.pages(), key=len)
    board.say(Event("1", "gap", (Statement("gap", (page[3], page[4]), "12"),), actor="Ann"))
    folder = case.path / save_review(case, board)
    (picture,) = (folder / "parts").iterdir()
    names = [picture, *(folder / "pages" / f"page-{number}.png" for number in picture.stem.split("-"))]
    whole, *parts = [decode(name).shape[1] for name in names]
    missing = whole - sum(parts)
    assert 100 < missing < 190, "12 mm are 142 px; torn outlines reach into one another"


def test_chains_of_parts_are_found_and_pages_that_stand_alone_left_out() -> None:
    assert list_chains([2, None, 3, None]) == [[0, 2, 3]]
    assert list_chains([None, None]) == []
    assert list_chains([1, 0]) == [], "a circle has no first part"
