"""The routes of the board. The only module that knows the web framework; it decides nothing."""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Callable
from functools import cached_property
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from deshred.cases import Case
from deshred.compatibility.contract import AnyScorer
from deshred.compatibility.tracing import trace_join
from deshred.errors import DeshredError, InputError, MismatchError
from deshred.review.board import Board, Clash
from deshred.review.evidence import explain
from deshred.review.guard import Guard, Keys
from deshred.review.outcome import save_review
from deshred.review.pictures import Picture, Pictures
from deshred.review.session import Event, read_event
from deshred.review.view import View

_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_WAIT_SECONDS = 1.5
_ACTIONS = 10_000_000

Handler = Callable[[Request], Awaitable[Response]]


def read_static() -> dict[str, tuple[bytes, str]]:
    """Every file of the front end, by name: nothing else is ever served."""
    found = {}
    for entry in (resources.files(__package__) / "static").iterdir():
        suffix = "." + entry.name.rpartition(".")[2]
        if suffix in _TYPES:
            found[entry.name] = (entry.read_bytes(), f"{_TYPES[suffix]}; charset=utf-8")
    return found


class Routes:
    """What the browser can ask for."""

    def __init__(self, board: Board, case: Case | None, keys: Keys, name: str) -> None:
        self._board, self._case, self._keys = board, case, keys
        opened = board.opened  # pictures show shreds as they were opened; the browser turns them
        self._pictures = Pictures(opened.shreds, opened.blank, opened.settings.composition)
        self._view = View(board, self._pictures, name)
        self._static = read_static()

    def routes(self) -> list[Route]:
        get: dict[str, Callable[[Request], Any]] = {
            "/api/case": lambda _: self._view.case(),
            "/api/state": lambda _: self._view.state(),
            "/api/changes": self._changes,
            "/api/questions": self._questions,
            "/api/edges/{index:int}/{side}": self._candidates,
            "/api/joins/{left:int}/{right:int}": self._step,
            "/api/joins/{left:int}/{right:int}/why": self._why,
            "/api/joins/{left:int}/{right:int}/price": self._price,
            "/api/history": lambda _: {"events": self._view.history()},
            "/api/verify": self._verify,
            "/api/pictures/{index:int}/{level:int}": self._strip,
            "/api/atlas/{number:int}": lambda r: _picture(self._pictures.atlas(r.path_params["number"])),
        }
        post: dict[str, Callable[[dict[str, Any]], Any]] = {
            "/api/login": self._login,
            "/api/events": self._say,
            "/api/answers": self._answer,
            "/api/undo": self._undo,
            "/api/redo": self._redo,
            "/api/keep": self._keep,
            "/api/settle": self._settle,
            "/api/take": self._take,
            "/api/export": self._export,
        }
        return [
            Route("/", self._page, methods=["GET"]),
            Route("/static/{name}", self._file, methods=["GET"]),
            *(Route(path, _getting(handler), methods=["GET"]) for path, handler in get.items()),
            *(Route(path, self._posting(handler), methods=["POST"]) for path, handler in post.items()),
        ]

    async def _page(self, request: Request) -> Response:
        del request
        content, kind = self._static["index.html"]
        return Response(content, headers={"content-type": kind})

    async def _file(self, request: Request) -> Response:
        found = self._static.get(request.path_params["name"])
        if found is None:
            return _tell(404, "NotFound", "there is no such file.")
        return Response(found[0], headers={"content-type": found[1]})

    # -- reading

    def _changes(self, request: Request) -> dict[str, Any]:
        version = _number(request.query_params.get("version", "0"))
        if not self._board.wait(version, _WAIT_SECONDS):
            return {"same": True, "events": len(self._board.events), "head": self._board.head}
        return self._view.state()

    def _questions(self, request: Request) -> dict[str, Any]:
        queue = self._board.questions_for(request.query_params.get("tab", "")[:64])
        return {"questions": [self._view.question(question) for question in queue[:4]], "left": len(queue)}

    def _candidates(self, request: Request) -> dict[str, Any]:
        index = self._inked(request.path_params["index"])
        return {"candidates": self._view.candidates(index, request.path_params["side"])}

    def _pair(self, request: Request) -> tuple[int, int]:
        left, right = (self._inked(request.path_params[name]) for name in ("left", "right"))
        if left == right:
            raise InputError("a join has two shreds.")
        return left, right

    def _step(self, request: Request) -> dict[str, Any]:
        left, right = self._pair(request)
        ids = self._board.reconstruction.shreds.ids
        x, y = self._board.step(ids[left], ids[right])
        return {"x": x, "y": y, "row": self._view.row_beside(left, "right")}

    def _why(self, request: Request) -> dict[str, Any]:
        left, right = self._pair(request)
        ours, theirs = (self._board.reconstruction.pile.edges[k] for k in (left, right))
        step = self._step(request)
        down = ours.right.top - theirs.left.top
        trace = trace_join(self._scorer, ours.right, theirs.left, step["y"] - down)
        shown = self._view.evidence(explain(ours, theirs, step["y"]), trace, down)
        return {**step, "productTop": ours.right.top, **shown}

    @cached_property
    def _scorer(self) -> AnyScorer:
        return self._board.opened.settings.load_scorer()

    def _price(self, request: Request) -> dict[str, Any]:
        left, right = self._pair(request)
        ids = self._board.reconstruction.shreds.ids
        found = self._board.price_of(ids[left], ids[right])
        if found is None or not math.isfinite(found.rise):
            return {"rise": None, "isLeast": True, "isKnown": found is not None}
        return {"rise": round(found.rise, 1), "isLeast": found.is_least, "isKnown": True}

    def _verify(self, request: Request) -> dict[str, Any]:
        del request
        if self._case is None:
            raise InputError("this board has no case folder.")
        check = self._case.journal.check(self._board.head)
        return {"entries": check.entries, "head": check.head, "problems": list(check.problems)}

    def _strip(self, request: Request) -> Response:
        return _picture(self._pictures.strip(request.path_params["index"], request.path_params["level"]))

    def _inked(self, index: int) -> int:
        if not 0 <= index < len(self._board.reconstruction.shreds):
            raise InputError(f"there is no shred {index}.")
        return index

    # -- writing

    def _posting(self, handler: Callable[[dict[str, Any]], Any]) -> Handler:
        async def respond(request: Request) -> Response:
            try:
                content = json.loads(await request.body() or b"{}")
            except (ValueError, RecursionError):
                return _tell(400, "InputError", "the request is not JSON.")
            if not isinstance(content, dict):
                return _tell(400, "InputError", "a request is a JSON object.")
            return await self._guarded(lambda: handler(content))

        return respond

    async def _guarded(self, act: Callable[[], Any]) -> Response:
        try:
            found = await run_in_threadpool(act)
        except Clash as error:
            clash = self._view.clash(error.clash)
            return _tell(422, "InfeasibleError", str(error), clash=clash)
        except MismatchError as error:
            return _tell(409, "MismatchError", str(error))
        except DeshredError as error:
            return _tell(400, type(error).__name__, str(error))
        return found if isinstance(found, Response) else JSONResponse(found)

    def _login(self, content: dict[str, Any]) -> Any:
        token = self._keys.swap(_text(content, "code"))
        if token is None:
            return _tell(401, "Refusal", "the link was used before or is too old. Open the board again.")
        return {"token": token}

    def _say(self, content: dict[str, Any]) -> dict[str, Any]:
        event = read_event(self._by_id(content))
        if event.is_reversal:
            raise InputError("undo and redo have addresses of their own.")
        return self._told(self._board.say(event))

    def _by_id(self, content: dict[str, Any]) -> dict[str, Any]:
        """The browser names shreds by index; statements name them by id."""
        ids = (*self._board.reconstruction.shreds.ids, *self._board.reconstruction.blank.ids)
        renamed = dict(content)
        for name in ("say", "unsay"):
            statements = content.get(name, [])
            if not isinstance(statements, list):
                raise InputError(f"{name} is a list of statements.")
            renamed[name] = [_rename(statement, ids) for statement in statements]
        return renamed

    def _answer(self, content: dict[str, Any]) -> dict[str, Any]:
        _only(content, "id", "actor", "key", "choice", "ms")
        ms = content.get("ms", 0)
        if not isinstance(ms, int) or isinstance(ms, bool) or not 0 <= ms < _ACTIONS:
            raise InputError("ms is a number of milliseconds.")
        id_, actor, key, choice = (_text(content, name) for name in ("id", "actor", "key", "choice"))
        return self._told(self._board.answer(id_, actor, key, choice, ms))

    def _undo(self, content: dict[str, Any]) -> dict[str, Any]:
        _only(content, "id", "actor", "of")
        return self._told(
            self._board.undo(_text(content, "id"), _text(content, "actor"), _text(content, "of", ""))
        )

    def _redo(self, content: dict[str, Any]) -> dict[str, Any]:
        _only(content, "id", "actor")
        return self._told(self._board.redo(_text(content, "id"), _text(content, "actor")))

    def _keep(self, content: dict[str, Any]) -> dict[str, Any]:
        _only(content, "id", "actor", "of")
        id_, actor, of = (_text(content, name) for name in ("id", "actor", "of"))
        return self._told(self._board.keep(id_, actor, of))

    def _settle(self, content: dict[str, Any]) -> dict[str, Any]:
        _only(content, "id", "actor", "number", "choice")
        number = content.get("number")
        if not isinstance(number, int) or isinstance(number, bool):
            raise InputError("number must be the number of a dispute.")
        id_, actor, choice = (_text(content, name) for name in ("id", "actor", "choice"))
        return self._told(self._board.settle(id_, actor, number, choice))

    def _take(self, content: dict[str, Any]) -> dict[str, Any]:
        _only(content, "id", "actor")
        self._board.take_offer()
        return self._view.state()

    def _export(self, content: dict[str, Any]) -> dict[str, Any]:
        _only(content)
        if self._case is None:
            raise InputError("this board has no case folder to write to.")
        return {"folder": save_review(self._case, self._board)}

    def _told(self, event: Event | None) -> dict[str, Any]:
        return {"event": None if event is None else event.id, "state": self._view.state()}


def make_app(board: Board, case: Case | None, keys: Keys, *, port: int, name: str) -> Guard:
    """The whole application behind its guard."""
    routes = Routes(board, case, keys, name)

    async def unexpected(request: Request, error: Exception) -> Response:
        del request, error
        return _tell(500, "DeshredError", "something deshred did not expect; nothing was changed.")

    app = Starlette(routes=routes.routes(), exception_handlers={Exception: unexpected})
    return Guard(app, keys, port)


def _getting(handler: Callable[[Request], Any]) -> Handler:
    async def respond(request: Request) -> Response:
        try:
            found = await run_in_threadpool(handler, request)
        except DeshredError as error:
            return _tell(404, type(error).__name__, str(error))
        return found if isinstance(found, Response) else JSONResponse(found)

    return respond


def _picture(picture: Picture) -> Response:
    return Response(
        picture.content, headers={"content-type": "image/webp", "shred-indent": str(picture.indent)}
    )


def _rename(statement: Any, ids: tuple[str, ...]) -> Any:
    if not isinstance(statement, list) or len(statement) < 2 or not isinstance(statement[1], list):
        raise InputError("a statement is a list: its kind, its shreds and, for some kinds, a value.")
    indices = statement[1]
    for index in indices:
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(ids):
            raise MismatchError(f"there is no shred {str(index)[:40]!r} in this pile.")
    return [statement[0], [ids[index] for index in indices], *statement[2:]]


def _only(content: dict[str, Any], *names: str) -> None:
    unknown = sorted(set(content) - set(names))
    if unknown:
        raise InputError(f"unknown: {', '.join(unknown)[:80]}.")


def _text(content: dict[str, Any], name: str, default: str | None = None) -> str:
    value = content.get(name, default)
    if not isinstance(value, str) or len(value) > 200:
        raise InputError(f"{name} is missing, or is not text of up to 200 characters.")
    return value


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise InputError("version is a number.")
    return int(text)


def _tell(status: int, kind: str, message: str, **more: Any) -> JSONResponse:
    return JSONResponse({"error": {"kind": kind, "message": message, **more}}, status_code=status)
