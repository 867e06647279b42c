"""The routes alone, without a network: which answer has which status, and what an answer tells."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the board needs deshred[review]")

from deshred.cases import Case
from deshred.pipeline import Reconstruction
from deshred.review.app import make_app, read_static
from deshred.review.board import Board
from deshred.review.guard import Guard, Keys
from tests.review.calling import PORT, Answer, call


class Client:
    """Holds the key."""

    def __init__(self, board: Board, case: Case | None) -> None:
        keys = Keys()
        self.code = keys.new_code()
        self.app: Guard = make_app(board, case, keys, port=PORT, name="trial")
        token = keys.swap(keys.new_code())
        self._key = ("authorization", f"Bearer {token}")

    def get(self, path: str, query: str = "") -> Answer:
        return call(self.app, path, query=query, headers=[self._key])

    def post(self, path: str, content: Any) -> Answer:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return call(self.app, path, method="POST", parts=[body], headers=[self._key])


@pytest.fixture
def client(board: Board, case: Case) -> Client:
    return Client(board, case)


def test_every_file_of_the_front_end_is_served_as_it_is_and_nothing_else(client: Client) -> None:
    folder = resources.files("deshred.review") / "static"
    names = {entry.name for entry in folder.iterdir() if entry.is_file()}
    assert set(read_static()) == names
    for name in names:
        assert client.get(f"/static/{name}").body == (folder / name).read_bytes()
    assert client.get("/static/app.py").status == 404
    assert client.get("/").body == (folder / "index.html").read_bytes()


def test_a_code_is_swapped_for_the_key_once(client: Client) -> None:
    first = client.post("/api/login", {"code": client.code})
    assert first.status == 200
    state = call(client.app, "/api/state", headers=[("authorization", f"Bearer {first.content['token']}")])
    assert state.status == 200
    again = client.post("/api/login", {"code": client.code})
    assert (again.status, again.content["error"]["kind"]) == (401, "Refusal")


def test_a_tab_that_knows_all_is_told_so_and_one_that_is_behind_gets_the_state(client: Client) -> None:
    state = client.get("/api/state").content
    same = client.get("/api/changes", f"version={state['version']}").content
    assert same == {"same": True, "events": state["events"], "head": state["head"]}
    client.post("/api/events", {"id": "n", "action": "note", "say": [["note", [0], "one"]]})
    behind = client.get("/api/changes", f"version={state['version']}").content
    assert behind["events"] == 1
    assert behind["notes"] == [[[0], "one", ""]]


@pytest.mark.parametrize("version", ["-1", "1.5", "x", "9" * 12, "%D9%A3"])
def test_a_version_is_a_number(version: str, client: Client) -> None:
    answer = client.get("/api/changes", f"version={version}")
    assert (answer.status, answer.message) == (404, "version is a number.")


@pytest.mark.parametrize(
    ("path", "content", "status", "told"),
    [
        ("events", b"{", 400, "not JSON"),
        ("events", b"[" * 30_000, 400, "not JSON"),
        ("events", [], 400, "a JSON object"),
        ("events", {"id": "a", "action": "x", "say": "join"}, 400, "say is a list"),
        ("events", {"id": "a", "action": "x", "say": [["join"]]}, 400, "a statement is a list"),
        ("events", {"id": "a", "action": "x", "say": [["join", [0, 999]]]}, 409, "no shred '999'"),
        ("events", {"id": "a", "action": "x", "say": [["join", [0, True]]]}, 409, "no shred 'True'"),
        ("events", {"id": "a", "action": "undo", "of": "b"}, 400, "addresses of their own"),
        ("answers", {"id": "a", "actor": "", "key": "k", "choice": "c", "ms": -1}, 400, "milliseconds"),
        ("answers", {"id": "a", "actor": "", "key": "k", "choice": "c", "ms": True}, 400, "milliseconds"),
        ("answers", {"id": "a", "actor": "", "key": "k", "ms": 1}, 400, "choice is missing"),
        ("undo", {"id": "a", "actor": "", "more": 1}, 400, "unknown: more"),
        ("redo", {"id": "a", "actor": "x" * 201}, 400, "200 characters"),
        ("keep", {"id": "a", "actor": ""}, 400, "of is missing"),
        ("export", {"to": "/etc"}, 400, "unknown: to"),
    ],
)
def test_a_request_that_makes_no_sense_is_told_why_and_changes_nothing(
    path: str, content: Any, status: int, told: str, client: Client, board: Board
) -> None:
    answer = client.post(f"/api/{path}", content)
    assert answer.status == status
    assert told in answer.message
    assert list(board.events) == []


def test_shreds_that_are_not_there_have_no_candidates_and_no_evidence(client: Client, board: Board) -> None:
    beyond = len(board.reconstruction.shreds)
    for path in (f"/api/edges/{beyond}/right", f"/api/joins/0/{beyond}"):
        answer = client.get(path)
        assert (answer.status, answer.message) == (404, f"there is no shred {beyond}.")
    assert client.get("/api/edges/0/top").status == 404


def test_the_queue_shows_four_questions_and_says_how_many_are_left(client: Client, board: Board) -> None:
    told = client.get("/api/questions").content
    assert told["left"] == len(board.questions())
    assert [one["key"] for one in told["questions"]] == [one.key for one in board.questions()[:4]]


def test_a_board_without_a_case_has_nowhere_to_write(board: Board) -> None:
    answer = Client(board, None).post("/api/export", {})
    assert (answer.status, answer.message) == (400, "this board has no case folder to write to.")


def test_what_nobody_expected_tells_nothing_of_its_cause(reconstruction: Reconstruction, case: Case) -> None:
    class Broken(Board):
        def sheets(self) -> Any:
            raise RuntimeError("the secret of /home/ann")

    answer = Client(Broken(reconstruction, case.journal), case).get("/api/state")
    assert answer.status == 500
    assert b"secret" not in answer.body
    assert "nothing was changed" in answer.message
