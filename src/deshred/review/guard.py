"""Every request passes here first: only this computer, only this page, only who holds the key.

Loopback is not private: any web page can send requests to it and any other user of the computer can connect.
So the host must be ours to the letter, requests must come from our own page, and everything but the page
itself needs a bearer token that no cookie carries to other ports.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 64 * 1024
_CODE_SECONDS = 60.0
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


class Keys:
    """The bearer token of one start, and the one-time code that is swapped for it."""

    def __init__(self) -> None:
        self._token = secrets.token_urlsafe(32)
        self._codes: dict[str, float] = {}

    def new_code(self) -> str:
        """A code for one login within a minute."""
        code = secrets.token_urlsafe(32)
        self._codes[code] = time.monotonic() + _CODE_SECONDS
        return code

    def swap(self, code: str) -> str | None:
        """The token for a code that was not used yet; None for any other."""
        now = time.monotonic()
        self._codes = {known: until for known, until in self._codes.items() if until > now}
        for known in tuple(self._codes):
            if hmac.compare_digest(known.encode(), code.encode("utf-8", "replace")):
                del self._codes[known]
                return self._token
        return None

    def opens(self, header: str) -> bool:
        """Whether an Authorization header carries the token."""
        return hmac.compare_digest(header.encode("latin-1", "replace"), f"Bearer {self._token}".encode())


class Refusal(Exception):
    """A request that is not served."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Guard:
    """ASGI middleware around the board's routes."""

    def __init__(self, app: App, keys: Keys, port: int) -> None:
        self._app, self._keys = app, keys
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._seen = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """Since a tab that holds the key was last heard of; tabs that nobody sees are silent."""
        return time.monotonic() - self._seen

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_extra_headers(scope["path"])]
            await send(message)

        try:
            self._check(scope)
            body = await _read_body(scope, receive)
        except Refusal as refusal:
            await _refuse(refusal, send_guarded)
            return
        await self._app(scope, _replay(body, receive), send_guarded)

    def _check(self, scope: Scope) -> None:
        headers = _read_headers(scope)
        host = headers.get("host", "")
        if host not in self._hosts:
            raise Refusal(421, "this server answers to its own address only.")
        if scope["method"] not in ("GET", "POST"):
            raise Refusal(405, "only GET and POST are served.")
        is_door = scope["method"] == "GET" and scope["path"] == "/"
        site = headers.get("sec-fetch-site")
        is_navigation = headers.get("sec-fetch-mode") == "navigate"
        if site is not None and site != "same-origin" and not (is_door and (is_navigation or site == "none")):
            raise Refusal(403, "requests come from the board's own page only.")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            raise Refusal(403, "requests come from the board's own page only.")
        if scope["method"] == "POST" and headers.get("content-type", "").lower() != "application/json":
            raise Refusal(415, "a request carries application/json.")
        is_open = not scope["path"].startswith("/api/") or scope["path"] == "/api/login"
        if not is_open and not self._keys.opens(headers.get("authorization", "")):
            raise Refusal(401, "the key is missing or old. Open the board again from the command line.")
        self._seen = time.monotonic()


def _read_headers(scope: Scope) -> dict[str, str]:
    """By lower-case name; one that must be unique and is not is refused."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        if key in headers and key in ("host", "origin", "authorization", "content-type", "sec-fetch-site"):
            raise Refusal(400, f"the header {key} comes twice.")
        headers[key] = value.decode("latin-1")
    return headers


async def _read_body(scope: Scope, receive: Receive) -> bytes:
    headers = dict(scope["headers"])
    length = headers.get(b"content-length", b"0")
    if length.isdigit() and int(length) > MOST_BODY:
        raise Refusal(413, f"a request has at most {MOST_BODY} bytes.")
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal(400, "the request ended early.")
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BODY:
            raise Refusal(413, f"a request has at most {MOST_BODY} bytes.")
        more = message.get("more_body", False)
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body once more, for the routes; then whatever the connection says."""
    sent = False

    async def receive_again() -> Message:
        nonlocal sent
        if not sent:
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return receive_again


def _extra_headers(path: str) -> list[tuple[bytes, bytes]]:
    is_picture = path.startswith(("/api/pictures/", "/api/atlas/"))
    cache = "private, max-age=86400, immutable" if is_picture else "no-store"
    named = {**_HEADERS, "cache-control": cache}
    return [(name.encode(), value.encode()) for name, value in named.items()]


async def _refuse(refusal: Refusal, send: Send) -> None:
    body = json.dumps({"error": {"kind": "Refusal", "message": str(refusal)}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
