"""What goes wrong becomes one line and a code; what is written cannot move a terminal's cursor."""

from __future__ import annotations

import json
import os
import sys
import warnings

import pytest

from deshred.cli.console import (
    INTERRUPTED,
    PIPE_CLOSED,
    UNEXPECTED,
    exit_codes,
    figure_reporter,
    make_printable,
    progress_reporter,
    say,
    say_json,
    warn,
)
from deshred.errors import InputError, OutputError, SettingsError


def code_of(error: BaseException, **flags: object) -> int:
    with pytest.raises(SystemExit) as stopped, exit_codes(**{"debug": False, **flags}):  # type: ignore[arg-type]
        raise error
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("bad"), InputError.exit_code),
        (SettingsError("bad"), SettingsError.exit_code),
        (OutputError("bad"), OutputError.exit_code),
        (OSError(28, "No space left on device"), OutputError.exit_code),
        (PermissionError(13, "Permission denied", "/x/y"), OutputError.exit_code),
        (MemoryError(), UNEXPECTED),
        (ZeroDivisionError("bad"), UNEXPECTED),
        (KeyboardInterrupt(), INTERRUPTED),
    ],
)
def test_every_failure_is_one_line_and_its_code(
    error: BaseException, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(error) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: ")
    assert told.err.count("\n") == 1


def test_a_reader_that_has_gone_is_no_failure_to_talk_about(capfd: pytest.CaptureFixture[str]) -> None:
    kept = os.dup(sys.stdout.fileno())
    try:
        assert code_of(BrokenPipeError()) == PIPE_CLOSED
    finally:
        os.dup2(kept, sys.stdout.fileno())
        os.close(kept)
    assert capfd.readouterr().err == ""


def test_after_an_interruption_it_is_told_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    code_of(KeyboardInterrupt(), interrupted="add --resume")
    assert "interrupted; add --resume." in capsys.readouterr().err


def test_the_traceback_is_shown_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    code_of(InputError("bad"), debug=True)
    assert "Traceback" in capsys.readouterr().err


def test_a_warning_of_a_library_is_a_line_like_ours(capsys: pytest.CaptureFixture[str]) -> None:
    with exit_codes(debug=False):
        warnings.simplefilter("always")
        warnings.warn("the scan is dark", stacklevel=1)
    assert capsys.readouterr().err == "warning: the scan is dark\n"


def test_names_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    assert make_printable("a\x1b[2Jb\r\tc\nd\u202ee") == "a\\x1b[2Jb\\r\\tc\nd\\u202ee"
    say("x\x1b[2J")
    warn("y\x07")
    told = capsys.readouterr()
    assert told.out == "x\\x1b[2J\n"
    assert told.err == "warning: y\\x07\n"


def test_json_is_all_there_is_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"pages": 2, "name": "ü"})
    assert json.loads(capsys.readouterr().out) == {"pages": 2, "name": "ü"}


def test_quiet_progress_is_none() -> None:
    with progress_reporter(quiet=True) as report:
        assert report is None
    assert figure_reporter(None) is None


def test_elsewhere_than_on_a_terminal_a_stage_is_told_when_it_is_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress_reporter(quiet=False) as report:
        assert report is not None
        for done in range(1, 4):
            report("scoring", done, 3)
    assert capsys.readouterr().err == "scoring: 3/3\n"


def test_the_figures_of_a_training_are_the_detail_of_its_stage() -> None:
    told: list[tuple[str, int, int]] = []
    report = figure_reporter(lambda *args: told.append(args))
    assert report is not None
    report(5, 10, {"loss": 0.12345678, "accuracy": 1.0})
    assert told == [("training: loss 0.1235, accuracy 1", 5, 10)]
