"""Requests to an application without a network: what the guard and the routes answer, message by message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from deshred.review.guard import App

PORT = 8765


@dataclass(frozen=True)
class Answer:
    """Status, headers by lower-case name, and body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def content(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        return str(self.content["error"]["message"])


def call(
    app: App,
    path: str,
    *,
    method: str = "GET",
    query: str = "",
    parts: Sequence[bytes] = (b"",),
    ends_early: bool = False,
    headers: Sequence[tuple[str, str]] = (),
) -> Answer:
    """Send one request, its body in parts; an error that the application lets out again is passed over."""
    given = [("host", f"127.0.0.1:{PORT}"), *headers]
    if method == "POST":
        given = [("content-type", "application/json"), *given]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "scheme": "http",
        "http_version": "1.1",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given],
    }
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": part, "more_body": ends_early or i < len(parts) - 1}
        for i, part in enumerate(parts)
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def act() -> None:
        with suppress(RuntimeError):
            await app(scope, receive, send)

    asyncio.run(act())
    start, *rest = sent
    headers_sent = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], headers_sent, b"".join(one.get("body", b"") for one in rest))
