"""The server as strangers meet it: raw sockets, wrong hosts, foreign pages, broken requests, kills."""

from __future__ import annotations

import json
import os
import random
import socket
import stat
import urllib.request
from pathlib import Path

import pytest

from deshred.cases import Case, open_case
from deshred.errors import OutputError, SettingsError
from deshred.review import server as server_module
from deshred.review.guard import Guard, Keys
from deshred.review.server import OPENED, ReviewOptions, bind, find_last_port, only_one
from deshred.review.session import read_events
from tests.review.conftest import FinishedCase, Serving, serving

FUZZED = int(os.environ.get("DESHRED_FUZZED", "2000"))


@pytest.fixture(scope="module")
def served(finished: FinishedCase, tmp_path_factory: pytest.TempPathFactory) -> object:
    import shutil

    folder = tmp_path_factory.mktemp("served")
    shutil.copytree(finished.folder, folder / "case")
    (folder / "shreds").symlink_to(finished.folder.parent / "shreds")
    with serving(folder / "case") as running:
        yield running


@pytest.fixture(scope="module")
def token(served: Serving) -> str:
    return log_in(served)


def send(port: int, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """One raw request; status, headers and body of the answer."""
    with socket.create_connection(("127.0.0.1", port), 20) as wire:
        wire.sendall(request)
        answer = b""
        while part := wire.recv(65536):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    status = int(lines[0].split()[1]) if lines[0] else 0
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    return status, headers, body


def ask(
    port: int,
    path: str = "/",
    *,
    method: str = "GET",
    body: bytes | None = None,
    host: str | None = None,
    **headers: str,
) -> tuple[int, dict[str, str], bytes]:
    given = {"Host": host or f"127.0.0.1:{port}", "Connection": "close"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        given.setdefault("Content-Type", "application/json")
        given["Content-Length"] = str(len(body))
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    return send(port, f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode("latin-1") + (body or b""))


def log_in(running: Serving) -> str:
    body = json.dumps({"code": running.code}).encode()
    status, _, answer = ask(running.port, "/api/login", method="POST", body=body)
    assert status == 200, answer
    return str(json.loads(answer)["token"])


def post(port: int, token: str, path: str, content: object) -> tuple[int, dict[str, object]]:
    status, _, answer = ask(
        port, path, method="POST", body=json.dumps(content).encode(), Authorization=f"Bearer {token}"
    )
    return status, json.loads(answer)


def test_the_page_comes_with_all_its_armor_and_no_cookie(served: Serving) -> None:
    status, headers, body = ask(served.port)
    assert status == 200
    assert b"<main" in body
    policy = headers["content-security-policy"]
    for rule in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"):
        assert rule in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert not {"set-cookie", "server", "access-control-allow-origin"} & set(headers)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.evil", "{port}", "[::1]:{port}", ""],
)
def test_another_host_is_refused(served: Serving, host: str) -> None:
    named = host.format(port=served.port) or " "
    assert ask(served.port, host=named)[0] == 421


def test_localhost_is_this_computer_too(served: Serving) -> None:
    assert ask(served.port, host=f"localhost:{served.port}")[0] == 200


def test_two_hosts_in_one_request_are_refused(served: Serving) -> None:
    request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nHost: evil\r\nConnection: close\r\n\r\n"
    assert send(served.port, request.encode())[0] == 400


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_other_pages_cannot_ask_for_anything(served: Serving, token: str, site: str) -> None:
    key = f"Bearer {token}"
    assert ask(served.port, "/api/state", Authorization=key, Sec_Fetch_Site=site)[0] == 403
    assert ask(served.port, "/static/main.js", Sec_Fetch_Site=site)[0] == 403


def test_a_link_may_lead_to_the_page_and_nowhere_else(served: Serving) -> None:
    assert ask(served.port, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate")[0] == 200
    assert ask(served.port, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors")[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])
def test_a_foreign_origin_is_refused(served: Serving, token: str, origin: str) -> None:
    assert ask(served.port, "/api/state", Authorization=f"Bearer {token}", Origin=origin)[0] == 403


def test_a_preflight_is_refused_without_any_permission(served: Serving) -> None:
    status, headers, _ = ask(
        served.port, "/api/events", method="OPTIONS", Access_Control_Request_Method="POST"
    )
    assert status == 405
    assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "HEAD"])
def test_other_methods_are_refused(served: Serving, method: str) -> None:
    assert ask(served.port, "/api/state", method=method)[0] == 405


@pytest.mark.parametrize("key", ["", "Bearer", "Bearer x", "Basic eDp5", "Bearer \xff\xfe"])
def test_nothing_is_told_without_the_key(served: Serving, key: str) -> None:
    for path in ("/api/case", "/api/state", "/api/pictures/0/3", "/api/atlas/0", "/api/history", "/api/no"):
        assert ask(served.port, path, Authorization=key)[0] == 401


def test_the_code_of_a_link_works_once(served: Serving, token: str) -> None:
    assert token
    assert (
        ask(served.port, "/api/login", method="POST", body=json.dumps({"code": served.code}).encode())[0]
        == 401
    )


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_a_write_is_json_and_nothing_else(served: Serving, token: str, kind: str) -> None:
    status, *_ = ask(
        served.port,
        "/api/events",
        method="POST",
        body=b"{}",
        Authorization=f"Bearer {token}",
        **{"Content_Type": kind},
    )
    assert status == 415


@pytest.mark.parametrize(
    "content",
    [
        {"id": "k1", "action": "x", "say": [], "path": "/etc/passwd"},
        {"id": "k2", "action": "x", "say": [["join", [0, 9999]]]},
        {"id": "k3", "action": "x", "say": [["join", [-1, 0]]]},
        {"id": "k4", "action": "x", "say": [["shout", [0]]]},
    ],
    ids=["a field", "a shred", "a place from the end", "a kind"],
)
def test_what_a_write_may_not_name_is_refused(
    served: Serving, token: str, content: dict[str, object]
) -> None:
    before = ask(served.port, "/api/history", Authorization=f"Bearer {token}")[2]
    status, told = post(served.port, token, "/api/events", content)
    assert status in (400, 409, 422)
    assert told["error"]
    assert ask(served.port, "/api/history", Authorization=f"Bearer {token}")[2] == before


def test_a_large_body_is_refused_before_it_is_read(served: Serving, token: str) -> None:
    head = (
        f"POST /api/events HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nContent-Length: 1000000000\r\nConnection: close\r\n\r\n"
    )
    assert send(served.port, head.encode())[0] == 413


def test_a_body_that_does_not_say_its_size_is_bounded_too(served: Serving, token: str) -> None:
    head = (
        f"POST /api/events HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
    assert send(served.port, head.encode() + 3 * chunk + b"0\r\n\r\n")[0] == 413


@pytest.mark.parametrize(
    "path",
    [
        "/static/../board.py",
        "/static/..%2f..%2fapp.py",
        "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/static//etc/passwd",
        "/static/index.html%00.js",
        "/api/pictures/../../case.json/1",
        "/api/pictures/0/../../../x",
        "/api/pictures/-1/0",
        "/api/pictures/0/9",
        "/api/pictures/99999999999999999999/0",
        "/api/atlas/77",
        "/api/atlas/0.webp",
        "/journal.jsonl",
        "/case.json",
    ],
)
def test_nothing_in_an_address_becomes_a_path(served: Serving, token: str, path: str) -> None:
    status, _, body = ask(served.port, path, Authorization=f"Bearer {token}")
    assert status == 404
    assert b"root:" not in body
    assert b"Traceback" not in body


def test_only_the_loopback_address_is_bound() -> None:
    with bind(0) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


def test_a_port_in_use_is_told_of() -> None:
    with bind(0) as listening:
        listening.listen()
        port = listening.getsockname()[1]
        with pytest.raises(SettingsError, match="cannot be used"), bind(port):
            pass


def test_a_port_must_be_a_port() -> None:
    with pytest.raises(SettingsError, match="from 0 to 65535"):
        ReviewOptions(port=70000)


def test_two_boards_on_one_case_are_refused(case: Case) -> None:
    with only_one(case), pytest.raises(OutputError, match="open on this case already"), only_one(case):
        pass


def test_the_file_that_opens_the_browser_is_private_and_goes_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: dict[str, object] = {}

    def look(address: str) -> bool:
        path = Path(urllib.request.url2pathname(address.removeprefix("file://")))
        seen["mode"], seen["text"], seen["path"] = stat.S_IMODE(path.stat().st_mode), path.read_text(), path
        return True

    monkeypatch.setattr(server_module.webbrowser, "open", look)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    server_module.open_private("http://127.0.0.1:1/#code", seconds=0.01)
    assert seen["mode"] == 0o600
    assert "#code" in str(seen["text"])
    assert not Path(str(seen["path"])).exists()


def test_a_tab_that_is_behind_and_one_that_is_ahead_see_the_same(served: Serving, token: str) -> None:
    event = {"id": "tabs-1", "action": "note", "say": [["note", [0], "one"]], "actor": "ann"}
    status, first = post(served.port, token, "/api/events", event)
    again_status, again = post(served.port, token, "/api/events", event)
    assert (status, again_status) == (200, 200)
    assert first["state"]["events"] == again["state"]["events"]  # type: ignore[index]


def test_a_contradiction_comes_back_with_its_shreds(served: Serving, token: str) -> None:
    pins = [["join", [0, 1]], ["join", [1, 2]]]
    assert post(served.port, token, "/api/events", {"id": "c1", "action": "pin", "say": pins})[0] == 200
    status, told = post(
        served.port, token, "/api/events", {"id": "c2", "action": "pin", "say": [["join", [2, 0]]]}
    )
    assert status == 422
    clash = told["error"]["clash"]  # type: ignore[index]
    assert [one["kind"] for one in clash] == ["required"] * 3
    assert sorted(one["event"] or "new" for one in clash) == ["c1", "c1", "new"]
    post(served.port, token, "/api/undo", {"id": "c3", "actor": "", "of": "c1"})


def test_fuzzed_requests_never_get_a_traceback(served: Serving, token: str) -> None:
    rng = random.Random(0)
    pieces: list[object] = [
        None, True, -1, 0, 1e9, 10**30, "", "x" * 500, "\u0000", [], [[]], {}, ["join"], ["join", [0, 1]],
        [["join", [0, 0]]], [["join", [0, "1"]]], [["offset", [0, 1], "9" * 50]], [["done", list(range(50))]],
        {"a": {"b": []}}, "undo", "../../etc/passwd", "=1+1", "right of x",
    ]  # fmt: skip
    names = ["id", "action", "say", "unsay", "of", "actor", "cause", "key", "choice", "number", "ms", "code"]
    paths = ["events", "answers", "undo", "redo", "keep", "settle", "take", "login", "nothing", "export/x"]
    for _ in range(FUZZED):
        content = {rng.choice(names): rng.choice(pieces) for _ in range(rng.randint(0, 6))}
        body = json.dumps(content).encode()
        if rng.random() < 0.2:
            body = bytes(rng.randrange(256) for _ in range(rng.randint(0, 200)))
        if rng.random() < 0.05:
            body = b"[" * 30_000
        status, _, answer = ask(
            served.port,
            f"/api/{rng.choice(paths)}",
            method="POST",
            body=body,
            Authorization=f"Bearer {token}",
        )
        assert status in (200, 400, 401, 404, 405, 409, 422), (content, answer)
        assert b"Traceback" not in answer
    assert ask(served.port, "/api/state", Authorization=f"Bearer {token}")[0] == 200
    assert served.process.poll() is None


def test_a_journal_cut_at_any_byte_opens_with_what_was_before(case: Case, board: object) -> None:
    del board
    for k in range(3):
        case.journal.append("review", id=str(k), action="note", say=[], unsay=[], of="", actor="", cause={})
    path = case.path / "journal.jsonl"
    whole = path.read_bytes()
    full = [event.id for event in read_events(case.journal.read())]
    for size in range(len(whole) - 400, len(whole), 7):
        path.write_bytes(whole[:size])
        found = [event.id for event in read_events(open_case(case.path).journal.read())]
        assert found == full[: len(found)]


def test_a_board_that_nobody_looks_at_ends(served: Serving) -> None:
    del served

    class Web:
        should_exit = False

    web, guard = Web(), Guard(lambda *_: None, Keys(), 1)  # type: ignore[arg-type, return-value]
    server_module._stop_when_idle(web, guard, idle=0.02, look=0.01)
    assert web.should_exit


def test_the_journal_can_be_checked_from_the_board(served: Serving, token: str) -> None:
    status, _, answer = ask(served.port, "/api/verify", Authorization=f"Bearer {token}")
    assert status == 200
    assert json.loads(answer)["problems"] == []


def test_a_restarted_board_takes_its_old_address_if_it_is_free(case: Case) -> None:
    with bind(0, find_last_port(case.journal)) as listening:
        port = listening.getsockname()[1]
        listening.listen()
        case.journal.append(OPENED, port=port)
        with bind(0, find_last_port(case.journal)) as other:
            assert other.getsockname()[1] != port
    with bind(0, find_last_port(case.journal)) as again:
        assert again.getsockname()[1] == port
