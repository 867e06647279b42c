"""What the commands say: results on stdout, progress and errors on stderr, exit codes to the shell.

On a terminal progress is a bar per stage, elsewhere a plain line; with quiet it is nothing. A stage is
named by what stands before ": "; what follows is shown as detail.
"""

from __future__ import annotations

import io
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from deshred.cases import RUN_AGAIN, describe_write_failure, to_json
from deshred.errors import DeshredError, OutputError

if TYPE_CHECKING:
    from deshred.imaging.intakes import Sheet

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
PIPE_CLOSED = 141  # 128 + SIGPIPE
UNEXPECTED = 1

Report = Callable[[str, int, int], None]  # (stage, done, total)
FigureReport = Callable[[int, int, Mapping[str, float]], None]  # (step, steps, figures)


def prepare_streams() -> None:
    """Make stdout and stderr take whatever is written: closed ones, and names with bytes that are no text."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _open_nothing())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _open_nothing() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.FileIO(os.devnull, "w"))


def say(text: str) -> None:
    """Lines of the result, on stdout; names in them may hold what would move a terminal's cursor."""
    print(make_printable(text))


def make_printable(text: str) -> str:
    """The text with escapes for whatever would move a terminal's cursor."""
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


def say_json(content: Mapping[str, Any]) -> None:
    """The result as JSON, on stdout."""
    sys.stdout.write(to_json(content))


def warn(text: str) -> None:
    """A line that is not the result, on stderr."""
    _mention(f"warning: {text}")


def _mention(text: str) -> None:
    """A line on stderr. Work goes on where it cannot be written: a log is full, a terminal is gone."""
    try:
        print(make_printable(text), file=sys.stderr)
    except BrokenPipeError:
        raise
    except OSError:
        sys.stderr = _open_nothing()


def warn_of_sheets(sheets: Sequence[Sheet]) -> None:
    """Say what is doubtful on sheets."""
    from deshred.export.cutouts import list_warnings  # late, as it brings OpenCV along

    for sheet in sheets:
        for warning in list_warnings(sheet):
            warn(f"{sheet.name}: {warning}")


@contextmanager
def progress_reporter(*, quiet: bool) -> Iterator[Report | None]:
    """A callback for stages to say how far they are, or None when nobody wants to know."""
    if quiet:
        yield None
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _PlainProgress()
        return
    columns = (
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Progress(*columns, console=console) as bars:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            name, _, detail = stage.partition(": ")
            if name not in tasks:
                for earlier in tasks.values():
                    bars.stop_task(earlier)  # the clock of what is over stands still, finished or not
                tasks[name] = bars.add_task(name, total=total, detail=detail)
            bars.update(tasks[name], completed=done, total=total, detail=detail)

        yield report


def figure_reporter(report: Report | None) -> FigureReport | None:
    """A callback for trainings: steps as progress, figures as its detail."""
    if report is None:
        return None

    def told(step: int, steps: int, figures: Mapping[str, float]) -> None:
        shown = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
        report(f"training: {shown}", step, steps)

    return told


def show_training(train: Callable[..., Path], *, quiet: bool, as_json: bool) -> None:
    """Run a training whose every option is given but for who is told of it."""
    with progress_reporter(quiet=quiet) as progress:
        model = train(progress=progress, report=figure_reporter(progress))
    if as_json:
        say_json({"model": model})
        return
    say(f"model: {model}")


class _PlainProgress:
    """A line for each stage when it is done, and every ten seconds until then."""

    def __init__(self, interval: float = 10.0) -> None:
        self._interval = interval
        self._told: dict[str, float] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        name = stage.partition(": ")[0]
        if done >= total or now - self._told.setdefault(name, now) >= self._interval:
            self._told[name] = now
            _mention(f"{stage}: {done}/{total}")


@contextmanager
def exit_codes(*, debug: bool, interrupted: str = "") -> Iterator[None]:
    """Turn what goes wrong inside into one line on stderr and its exit code.

    `interrupted` says how to go on after Ctrl-C.
    """
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            yield
            sys.stdout.flush()  # here, where a reader that has gone can still be noticed
    except DeshredError as error:
        _fail(str(error), error.exit_code, debug)
    except KeyboardInterrupt as error:
        if RUN_AGAIN in getattr(error, "__notes__", ()):  # whoever worked on the folder knows better
            interrupted = RUN_AGAIN
        _fail(f"interrupted; {interrupted or 'run the command again'}.", INTERRUPTED, debug)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at exit
        raise SystemExit(PIPE_CLOSED) from None
    except OSError as error:
        if error.filename is None:  # most of all what goes to stdout
            told = f"a result cannot be written ({error.strerror or error})."
            _fail(f"{told} Free some space, or send it elsewhere.", OutputError.exit_code, debug)
        wrapped = describe_write_failure(error, Path(error.filename))
        _fail(str(wrapped), wrapped.exit_code, debug)
    except MemoryError:
        _fail("not enough memory. Try fewer shreds at once, or --jobs 1.", UNEXPECTED, debug)
    except Exception as error:
        message = f"{type(error).__name__}: {error}. This should not happen; --debug shows where."
        _fail(message, UNEXPECTED, debug)


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    warn(str(message))


def _fail(message: str, code: int, debug: bool) -> NoReturn:
    if debug:
        traceback.print_exc()
    _mention(f"error: {message}")
    raise SystemExit(code)
