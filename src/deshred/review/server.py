"""A case folder in, the board in the browser out, on this computer only, until it is stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path

from deshred.cases import Case, open_case
from deshred.errors import MissingDependencyError, OutputError, SettingsError
from deshred.executors import Progress
from deshred.export.results import reopen
from deshred.options import option
from deshred.review.board import Board
from deshred.review.guard import Keys

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

HOST = "127.0.0.1"
_STOP_SECONDS = 2
_FILE_SECONDS = 60.0


@dataclass(frozen=True)
class ReviewOptions:
    """How the board is reached; there is no other host than this computer."""

    port: int = option(0, "Where it is served, on this computer alone.", shown="one that is free")
    open_browser: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise SettingsError(f"port is a number from 0 to 65535, got {self.port}.")


@dataclass(frozen=True)
class Served:
    """What is left when the board was stopped."""

    events: int
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
    with only_one(case), bind(options.port) as listening:
        case.journal.mend()
        board = Board(reopen(case_folder, progress=progress), case.journal)
        board.start()
        try:
            _run(board, case, listening, options, announce)
        finally:
            board.stop()
        return Served(len(board.events), case.journal.check().head)


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
    if fcntl is None:
        yield
        return
    descriptor = os.open(case.path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputError(
                f"{case.path}: a board is open on this case already. Use that one, or stop it first."
            ) from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(descriptor)


@contextmanager
def bind(port: int) -> Iterator[socket.socket]:
    """A socket on the loopback address and nowhere else."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((HOST, port))
        except OSError as error:
            raise SettingsError(
                f"port {port} cannot be used ({error.strerror}). Leave out --port, or choose another."
            ) from None
        yield listening
    finally:
        listening.close()


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
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


def open_private(link: str) -> None:
    """Open the browser on a file that only its owner can read: the code stays out of `ps` and histories."""
    handle, name = tempfile.mkstemp(prefix="deshred-", suffix=".html")  # mode 0600
    page = f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(link)}"><title>deshred</title>'
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(page)
    try:
        webbrowser.open(Path(name).as_uri())
        threading.Event().wait(_FILE_SECONDS)
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
