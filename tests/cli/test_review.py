"""`deshred review`: a link to this computer until Ctrl-C, and then the head of the journal."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from deshred.cases import open_case
from tests.commands import run

pytest.importorskip("starlette", reason="the board needs deshred[review]")


def test_ctrl_c_ends_it_with_the_head_of_the_journal(own_case: Path) -> None:
    command = [sys.executable, "-m", "deshred", "review", str(own_case), "--no-browser", "-q"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as board:
        assert board.stdout is not None
        link = board.stdout.readline()
        with urllib.request.urlopen(link.partition("#")[0]) as page:  # it serves, so it listens to signals
            assert page.status == 200
        board.send_signal(signal.SIGINT)
        rest, complaints = board.communicate(timeout=60)
    assert link.startswith("http://127.0.0.1:")
    assert (board.returncode, complaints) == (0, "")
    head = open_case(own_case).journal.check().head
    assert rest == f"0 events in the journal; its head: {head}\n"


def test_a_port_in_use_has_exit_code_2(own_case: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = run("review", own_case, "--port", port, "--no-browser", "-q")
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"port {port} cannot be used" in done.stderr


def test_a_port_that_no_computer_has_is_exit_code_2(own_case: Path) -> None:
    done = run("review", own_case, "--port", 65536, "--no-browser")
    assert done.exit_code == 2
    assert "from 0 to 65535" in done.stderr


def test_a_folder_that_is_no_case_has_exit_code_3(tmp_path: Path) -> None:
    done = run("review", tmp_path, "--no-browser")
    assert (done.exit_code, done.stdout) == (3, "")
    assert str(tmp_path) in done.stderr


def test_without_its_extra_it_says_how_to_get_it(own_case: Path) -> None:
    script = "import sys; sys.modules['uvicorn'] = None; from deshred.cli import main; main()"
    command = [sys.executable, "-c", script, "review", str(own_case), "--no-browser"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 8
    assert "pip install 'deshred[review]'" in done.stderr
