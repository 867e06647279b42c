"""What goes wrong becomes one line and a code; what is written cannot move a terminal's cursor."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from deshred.cases import working_on
from deshred.cli.console import (
    exit_codes,
    figure_reporter,
    make_printable,
    progress_reporter,
    say,
    say_json,
    warn,
)
from deshred.errors import InputError, OutputError, SettingsError
from deshred.imaging.decoding import encode_png


def code_of(error: BaseException, **flags: object) -> int:
    with pytest.raises(SystemExit) as stopped, exit_codes(**{"debug": False, **flags}):  # type: ignore[arg-type]
        raise error
    assert isinstance(stopped.value.code, int)
    return stopped.value.code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("bad"), 3),
        (SettingsError("bad"), 2),
        (OutputError("bad"), 4),
        (OSError(28, "No space left on device"), 4),
        (PermissionError(13, "Permission denied", "/x/y"), 4),
        (MemoryError(), 1),
        (ZeroDivisionError("bad"), 1),
        (KeyboardInterrupt(), 130),
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
        assert code_of(BrokenPipeError()) == 141
    finally:
        os.dup2(kept, sys.stdout.fileno())
        os.close(kept)
    assert capfd.readouterr().err == ""


def test_after_an_interruption_it_is_told_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    code_of(KeyboardInterrupt(), interrupted="add --resume")
    assert "interrupted; add --resume." in capsys.readouterr().err


def test_an_interruption_promises_nothing_where_nothing_was_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def work(keeps: bool) -> None:
        with (
            exit_codes(debug=False, interrupted="the same command continues where it stopped"),
            working_on(tmp_path / "case", command="reconstruct") as case,
        ):
            if keeps:
                case.store.save("ab12", {"a": np.arange(3)})
            raise KeyboardInterrupt

    def interrupt(keeps: bool) -> str:
        with pytest.raises(SystemExit):
            work(keeps)
        return capsys.readouterr().err

    assert "interrupted; run the same command again." in interrupt(keeps=False)
    assert not (tmp_path / "case").exists()
    assert "interrupted; the same command continues where it stopped." in interrupt(keeps=True)


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


def test_on_a_terminal_the_clock_of_a_stage_stands_still_when_the_next_begins(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("rich.console.monotonic", lambda: now[0])
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("COLUMNS", "120")):
        monkeypatch.setenv(name, value)
    with progress_reporter(quiet=False) as report:
        assert report is not None
        report("assignment", 0, 1000)
        now[0] = 3.0
        report("assignment", 999, 1000)
        report("relaxation", 1, 1000)
        now[0] = 60.0
        report("relaxation", 1000, 1000)
    *_, assignment, relaxation, _ = capsys.readouterr().err.split("\n")
    assert "999/1000" in assignment
    assert "0:00:03" in assignment
    assert "0:00:57" in relaxation


def test_the_figures_of_a_training_are_the_detail_of_its_stage() -> None:
    told: list[tuple[str, int, int]] = []
    report = figure_reporter(lambda *args: told.append(args))
    assert report is not None
    report(5, 10, {"loss": 0.12345678, "accuracy": 1.0})
    assert told == [("training: loss 0.1235, accuracy 1", 5, 10)]


@pytest.mark.parametrize("words", ["models", "--help", "arrange --help", "arrange nowhere 2>&1"])
def test_a_reader_that_goes_away_is_no_error_to_shout_about(words: str) -> None:
    script = f"{shlex.quote(sys.executable)} -m deshred {words} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.strip() == "141"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(closed: str) -> None:
    script = f"{shlex.quote(sys.executable)} -m deshred models {closed}"
    assert subprocess.run(["bash", "-c", script], capture_output=True, check=False).returncode == 0


def test_work_goes_on_when_its_log_is_full(tmp_path: Path) -> None:
    page = tmp_path / "page.png"
    page.write_bytes(encode_png(np.full((400, 600, 3), 255, np.uint8)))
    command = [sys.executable, "-m", "deshred", "shred", str(page), "--shreds", "3", "-o", f"{tmp_path}/out"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stderr=full, stdout=subprocess.DEVNULL, check=False)
    assert done.returncode == 0


def test_a_full_disk_anywhere_is_an_output_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught, exit_codes(debug=False):
        Path("/dev/full").write_text("x")
    assert caught.value.code == 4
    assert "Free some space" in capsys.readouterr().err
