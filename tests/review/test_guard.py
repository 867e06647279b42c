"""The guard around any application: what is refused never gets in, what gets in is what was sent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from deshred.review.guard import MOST_BODY, Guard, Keys
from tests.review.calling import PORT, call


class Inside:
    """An application that remembers who came in, with which body."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, bytes]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        self.seen.append((scope["path"], message["body"]))
        assert message["more_body"] is False
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"in"})


@pytest.fixture
def inside() -> Inside:
    return Inside()


@pytest.fixture
def keys() -> Keys:
    return Keys()


@pytest.fixture
def guard(inside: Inside, keys: Keys) -> Guard:
    return Guard(inside, keys, PORT)


def bearer(keys: Keys) -> tuple[str, str]:
    token = keys.swap(keys.new_code())
    assert token is not None
    return "authorization", f"Bearer {token}"


def test_a_code_is_swapped_once_and_no_other_code_is() -> None:
    keys = Keys()
    first, second = keys.new_code(), keys.new_code()
    assert keys.swap("guess") is None
    token = keys.swap(first)
    assert token is not None
    assert keys.swap(first) is None
    assert keys.swap(second) == token  # another tab of the same board
    assert keys.opens(f"Bearer {token}")
    for wrong in (token, f"bearer {token}", f"Bearer {token} ", f"Bearer {first}", "Bearer \udce9", ""):
        assert not keys.opens(wrong)


def test_the_keys_of_two_boards_do_not_open_each_other() -> None:
    one, other = Keys(), Keys()
    assert not other.opens(bearer(one)[1])
    assert other.swap(one.new_code()) is None


def test_a_body_in_parts_comes_in_whole(guard: Guard, keys: Keys, inside: Inside) -> None:
    parts = [b"{", b"", b'"a"', b": 1}"]
    assert call(guard, "/api/events", method="POST", parts=parts, headers=[bearer(keys)]).status == 200
    assert inside.seen == [("/api/events", b'{"a": 1}')]


@pytest.mark.parametrize(("size", "status"), [(MOST_BODY, 200), (MOST_BODY + 1, 413)])
def test_the_largest_body_is_let_in_and_one_byte_more_is_not(
    size: int, status: int, guard: Guard, keys: Keys, inside: Inside
) -> None:
    half = size // 2
    answer = call(
        guard, "/api/events", method="POST", parts=[b"x" * half, b"x" * (size - half)], headers=[bearer(keys)]
    )
    assert answer.status == status
    assert len(inside.seen) == (status == 200)


def test_a_request_that_ends_early_does_not_get_in(guard: Guard, keys: Keys, inside: Inside) -> None:
    answer = call(guard, "/api/events", method="POST", parts=[b"{"], ends_early=True, headers=[bearer(keys)])
    assert (answer.status, answer.message) == (400, "the request ended early.")
    assert inside.seen == []


@pytest.mark.parametrize("name", ["Host", "origin", "AUTHORIZATION", "content-type", "sec-fetch-site"])
def test_a_header_that_decides_may_not_come_twice(
    name: str, guard: Guard, keys: Keys, inside: Inside
) -> None:
    both = [(name, "one"), (name, "other")]
    answer = call(guard, "/api/state", headers=[bearer(keys), *both])
    assert (answer.status, answer.message) == (400, f"the header {name.lower()} comes twice.")
    assert inside.seen == []


def test_other_headers_may_come_twice(guard: Guard, keys: Keys) -> None:
    assert call(guard, "/api/state", headers=[bearer(keys), ("accept", "a"), ("accept", "b")]).status == 200


@pytest.mark.parametrize(
    ("path", "kept"),
    [("/", False), ("/api/state", False), ("/api/pictures/0/3", True), ("/api/atlas/0", True)],
)
def test_only_pictures_may_be_kept_by_the_browser(path: str, kept: bool, guard: Guard, keys: Keys) -> None:
    answer = call(guard, path, headers=[bearer(keys)])
    assert answer.status == 200
    assert answer.headers["cache-control"] == ("private, max-age=86400, immutable" if kept else "no-store")


def test_refusals_wear_the_same_armor_as_answers(guard: Guard, keys: Keys) -> None:
    refused = call(guard, "/api/state").headers
    allowed = call(guard, "/api/state", headers=[bearer(keys)]).headers
    assert allowed.items() <= refused.items()


def test_the_page_and_its_files_need_no_key_and_everything_else_does(guard: Guard, inside: Inside) -> None:
    open_paths = ("/", "/static/main.js", "/nothing")
    assert [call(guard, path).status for path in open_paths] == [200, 200, 200]
    assert call(guard, "/api/login", method="POST").status == 200
    assert call(guard, "/api/login/", method="POST").status == 401
    assert call(guard, "/api/").status == 401
    assert len(inside.seen) == 4


def test_what_is_no_request_is_not_answered(guard: Guard, inside: Inside) -> None:
    async def never(*_: Any) -> Any:
        raise AssertionError("nothing is read and nothing is sent")

    asyncio.run(guard({"type": "websocket", "path": "/", "headers": []}, never, never))
    assert inside.seen == []
