"""A case folder in, the board in the browser out, on this computer only, until it is stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Protocol

from deshred.cases import ARRANGEMENT, COMPATIBILITY, Case, Journal, lock, open_case
from deshred.errors import MissingDependencyError, SettingsError
from deshred.executors import KeepingExecutor, Progress, default_executor
from deshred.export.results import reopen
from deshred.options import option
from deshred.review.board import Board
from deshred.review.guard import Guard, Keys
from deshred.review.merging import MergeResult, merge_review
from deshred.shelf import Shelf
from deshred.versions import installed_versions

HOST = "127.0.0.1"
OPENED = "review-opened"
_STOP_SECONDS = 2
_IDLE_SECONDS = 8 * 3600.0
_PIXELS_IN_MEMORY = 128 << 20
_FILE_SECONDS = 60.0


@dataclass(frozen=True)
class ReviewOptions:
    """How the board is reached; there is no other host than this computer."""

    port: int = option(0, "The port to use, on this computer only.", shown="one that is free")
    open_browser: bool = True
    stay: bool = option(False, "Stay open even if nobody uses it; otherwise it ends after 8 idle hours.")
    merge: str = option("", "Merge in the review of a copy of this case; name its folder.", shown="none")

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise SettingsError(f"port must be a number from 0 to 65535, got {self.port}.")


class Stoppable(Protocol):
    """A web server that looks at this now and then."""

    should_exit: bool


@dataclass(frozen=True)
class Served:
    """What is left when the board was stopped."""

    events: int
    merged: MergeResult | None
    head: str  # of the journal, to check it against later


def serve(
    case_folder: str | Path,
    *,
    options: ReviewOptions | None = None,
    announce: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> Served:
    """Open a finished case in the browser until Ctrl-C; `announce` is given the link, which works once."""
    options = options or ReviewOptions()
    require_web()
    case = open_case(case_folder)
    with only_one(case), bind(options.port, find_last_port(case.journal)) as listening:
        case.journal.mend()
        shelf = Shelf(room=_PIXELS_IN_MEMORY)  # a board shows few shreds at a time
        keeping = KeepingExecutor(default_executor(), shelf.keep)
        done = reopen(case_folder, executor=keeping, progress=progress)
        shelf.release()
        merged = None
        if options.merge:
            merged = merge_review(case, options.merge, done.compatibility.ids, done.constraints)
        _note_opening(case, listening)
        board = Board(done, case.journal, case.store)
        board.start()
        try:
            _run(board, case, listening, options, announce)
        finally:
            board.stop()
        return Served(len(board.events), merged, case.journal.check().head)


def _note_opening(case: Case, listening: socket.socket) -> None:
    """What was reviewed, and where: a tab that is still open finds a restarted board at its old address."""
    shown = {name: case.results.get(name) for name in (ARRANGEMENT, COMPATIBILITY)}
    case.journal.append(OPENED, results=shown, versions=installed_versions(), port=listening.getsockname()[1])


def find_last_port(journal: Journal) -> int:
    """Where a board of this case was served last; 0 where none was."""
    ports = [entry.fields.get("port", 0) for entry in journal.read() if entry.event == OPENED]
    return ports[-1] if ports and isinstance(ports[-1], int) and 0 < ports[-1] <= 65535 else 0


def require_web() -> None:
    """Refuse with a remedy where the optional part is not installed."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            f"the review board needs {error.name}, which is not installed. pip install 'deshred[review]'"
        ) from None


@contextmanager
def only_one(case: Case) -> Iterator[None]:
    """One board per case: a second would write into the same journal."""
    if sys.platform == "win32":  # folders cannot be opened
        yield
        return
    descriptor = os.open(case.path, os.O_RDONLY)
    refusal = f"{case.path}: a board is open on this case already. Use that one, or stop it first."
    try:
        with lock(descriptor, refusal):
            yield
    finally:
        os.close(descriptor)


@contextmanager
def bind(port: int, before: int = 0) -> Iterator[socket.socket]:
    """A socket on the loopback address and nowhere else; without a port the one before, if it is free."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            if not (port == 0 and before and _try_bind(listening, before)):
                listening.bind((HOST, port))
        except OSError as error:
            raise SettingsError(
                f"port {port} cannot be used ({error.strerror}). Leave out --port, or choose another."
            ) from None
        yield listening
    finally:
        listening.close()


def _try_bind(listening: socket.socket, port: int) -> bool:
    try:
        listening.bind((HOST, port))
    except OSError:
        return False
    return True


def _run(
    board: Board,
    case: Case,
    listening: socket.socket,
    options: ReviewOptions,
    announce: Callable[[str], None] | None,
) -> None:
    import uvicorn

    from deshred.review.app import make_app

    port = listening.getsockname()[1]
    keys = Keys()
    app = make_app(board, case, keys, port=port, name=case.path.resolve().name)
    config = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
        h11_max_incomplete_event_size=16 * 1024,
        ws="none",
        lifespan="off",
    )
    server = uvicorn.Server(config)
    listening.listen(64)  # before anybody knows the address
    link = f"http://{HOST}:{port}/#{keys.new_code()}"
    if announce is not None:
        announce(link)
    if options.open_browser:
        threading.Thread(target=open_private, args=(link,), daemon=True).start()
    if not options.stay:
        threading.Thread(target=_stop_when_idle, args=(server, app), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def _stop_when_idle(server: Stoppable, guard: Guard, idle: float = _IDLE_SECONDS, look: float = 30.0) -> None:
    """End a board that nobody has looked at for long: its key should not stay good for ever."""
    while guard.idle_seconds < idle:
        time.sleep(look)
    server.should_exit = True


def open_private(link: str, *, seconds: float = _FILE_SECONDS) -> None:
    """Open the browser on a file that only its owner can read: the code stays out of `ps` and histories."""
    handle, name = tempfile.mkstemp(prefix="deshred-", suffix=".html")  # mode 0600
    page = f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(link)}"><title>deshred</title>'
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(page)
    try:
        webbrowser.open(Path(name).as_uri())
        threading.Event().wait(seconds)
    finally:
        with contextlib.suppress(OSError):
            Path(name).unlink()


def main() -> None:  # pragma: no cover - for tests that need a process of its own
    """`python -m deshred.review.server CASE [PORT]`: print the link, no browser."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    options = ReviewOptions(port, open_browser=False)
    serve(sys.argv[1], options=options, announce=lambda link: print(link, flush=True))


if __name__ == "__main__":
    main()
